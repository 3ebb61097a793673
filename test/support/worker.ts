// The worker of workflows in this process, with a separate sandbox.

import { createLogger } from "../../src/base/logger.ts";
import { createSandbox } from "../../src/commands/sandbox.ts";
import { readConfig } from "../../src/config.ts";
import { createMetrics, type Metrics } from "../../src/observability/metrics.ts";
import { startWorkerApp, type WorkerAppOptions } from "../../src/compose/worker.ts";

export type TestWorker = { readonly metrics: Metrics; stop(): Promise<void> };

/** Starts the worker; `flags` are command-line flags. */
export async function startWorker(
  parts: Pick<WorkerAppOptions, "target" | "database" | "clusters">,
  flags: Readonly<Record<string, string>> = {},
): Promise<TestWorker> {
  const logger = createLogger(flags["log-level"] ?? "fatal");
  const config = readConfig(flags, {});
  const metrics = createMetrics();
  const sandbox = createSandbox(config, logger);
  const app = await startWorkerApp({ ...parts, config, logger, metrics, sandbox });
  return {
    metrics,
    async stop() {
      await app.stop();
      await sandbox.close();
    },
  };
}
