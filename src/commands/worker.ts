// `waggle worker`: runs workflows and starts those in the outbox; serves no requests. Any number of
// processes on DATABASE_URL and TEMPORAL_ADDRESS.

import { OperatorError } from "../base/operator-error.ts";
import type { CommandContext } from "./command.ts";
import { createCore } from "../compose/core.ts";
import { createMetrics } from "../observability/metrics.ts";
import { runDeployed } from "./deployed.ts";
import { createSandbox } from "./sandbox.ts";
import { orClose, startOperator, startOwnTraces } from "./service.ts";
import { tellUnknownKeys } from "./stored-secrets.ts";

export async function run({ config }: CommandContext): Promise<number> {
  const { databaseUrl, temporal } = config;
  const { address } = temporal;
  if (databaseUrl === undefined || address === undefined) {
    throw new OperatorError(
      "worker needs DATABASE_URL and TEMPORAL_ADDRESS; for everything on one machine: waggle start",
    );
  }
  const deployed = { config, databaseUrl, workload: "background" } as const;
  return runDeployed(deployed, async (parts) => {
    // Imported here, because Temporal's part is large and other commands do not need it.
    const { startWorkerApp } = await import("../compose/worker.ts");
    const metrics = createMetrics("worker");
    const sandbox = createSandbox(config, parts.logger);
    const core = await createCore({ ...parts, sandbox, metrics });
    const traces = await startOwnTraces(core);
    await tellUnknownKeys(core);
    const worker = await orClose(core, startWorkerApp(core, { ...temporal, address }));
    const operator = await startOperator(config, metrics, parts.logger, worker.readiness);
    return {
      readyLine: `waggle works on the workflows of ${address}, namespace ${temporal.namespace}`,
      async stop(hurry) {
        await Promise.race([worker.stop().then(() => core.close()), hurry]);
        await sandbox.close();
        await operator?.close();
        await traces?.stop();
      },
    };
  });
}
