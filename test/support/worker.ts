// The worker of workflows in this process, with a separate sandbox.

import { createLogger } from "../../src/base/logger.ts";
import { createSandbox } from "../../src/commands/sandbox.ts";
import { readConfig } from "../../src/config.ts";
import { createMetrics, type Metrics } from "../../src/observability/metrics.ts";
import { type CoreOptions, createCore } from "../../src/compose/core.ts";
import { startWorkerApp } from "../../src/compose/worker.ts";
import type { TemporalTarget } from "../../src/workflows/client.ts";

export type TestWorker = { readonly metrics: Metrics; stop(): Promise<void> };

/** Starts the worker; `flags` are command-line flags. */
export async function startWorker(
  {
    target,
    ...databases
  }: Pick<CoreOptions, "database" | "clusters"> & { readonly target: TemporalTarget },
  flags: Readonly<Record<string, string>> = {},
): Promise<TestWorker> {
  const logger = createLogger(flags["log-level"] ?? "fatal");
  const config = readConfig(flags, {});
  const metrics = createMetrics("worker");
  const sandbox = createSandbox(config, logger);
  const core = await createCore({ ...databases, config, logger, metrics, sandbox });
  const app = await startWorkerApp(core, target);
  return {
    metrics,
    async stop() {
      await app.stop();
      await core.close();
      await sandbox.close();
    },
  };
}
