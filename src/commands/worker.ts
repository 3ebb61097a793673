// `waggle worker`: runs workflows and starts those in the outbox; serves no requests. Any number of
// processes on DATABASE_URL and TEMPORAL_ADDRESS.

import { OperatorError } from "../base/operator-error.ts";
import type { CommandContext } from "./command.ts";
import { createMetrics } from "../observability/metrics.ts";
import { runDeployed } from "./deployed.ts";
import { createSandbox } from "./sandbox.ts";
import { startOperator } from "./service.ts";

export async function runWorker({ config }: CommandContext): Promise<number> {
  const { databaseUrl, temporal } = config;
  const { address } = temporal;
  if (databaseUrl === undefined || address === undefined) {
    throw new OperatorError(
      "worker needs DATABASE_URL and TEMPORAL_ADDRESS; for everything on one machine: waggle start",
    );
  }
  return runDeployed(config, databaseUrl, async (parts) => {
    // Imported here, because Temporal's part is large and other commands do not need it.
    const { startWorkerApp } = await import("../compose/worker.ts");
    const metrics = createMetrics();
    const sandbox = createSandbox(config, parts.logger);
    const target = { ...temporal, address };
    const worker = await startWorkerApp({ ...parts, config, target, sandbox, metrics });
    const operator = await startOperator(config, metrics, parts.logger);
    return {
      readyLine: `waggle works on the workflows of ${address}, namespace ${temporal.namespace}`,
      async stop(hurry) {
        await Promise.race([worker.stop(), hurry]);
        await sandbox.close();
        await operator?.close();
      },
    };
  });
}
