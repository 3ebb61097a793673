// `waggle worker`: runs workflows and starts those in the outbox; serves no requests. Any number of
// processes on DATABASE_URL and TEMPORAL_ADDRESS.

import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../base/operator-error.ts";
import type { CommandContext } from "./command.ts";
import { createCore } from "../compose/core.ts";
import { createMetrics } from "../observability/metrics.ts";
import { runDeployed } from "./deployed.ts";
import { createSandbox } from "./sandbox.ts";
import { orClose, startOperator, startOwnTraces } from "./service.ts";
import { tellUnknownKeys } from "./stored-secrets.ts";
import { stopTimeoutMs } from "./workflows.ts";

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
        // A Temporal that does not answer keeps a worker for half a minute. An orchestrator kills
        // it by then: its server would stay registered, and revocations wait for it.
        const limit = delay(stopTimeoutMs, undefined, { ref: false });
        await Promise.race([worker.stop(), hurry, limit]);
        await Promise.race([core.close(), hurry]);
        await sandbox.close();
        await operator?.close();
        await traces?.stop();
      },
    };
  });
}
