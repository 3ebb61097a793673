// Workflows next to the service on one machine: the worker and, unless an address is configured, an
// embedded Temporal. They start in the background: the service does not need them.

import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../base/operator-error.ts";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config.ts";
import type { PythonSandbox } from "../evaluation/runner/python/sandbox.ts";
import type { Metrics } from "../observability/metrics.ts";
import { openClusters } from "../postgres/clusters.ts";
import { openDatabase } from "../postgres/database.ts";
import { assertMigrated } from "../postgres/migrate.ts";
import { print } from "./command.ts";

export type RunWorkflowsOptions = {
  readonly config: Config;
  /** Data folder; the caller holds its lock. */
  readonly folder: string;
  /** URL of the control database. */
  readonly databaseUrl: string;
  readonly logger: Logger;
  readonly sandbox: PythonSandbox;
  readonly metrics: Metrics;
};

export type RunningWorkflows = {
  /** Stops the worker, then the embedded Temporal; running work continues after the next start. */
  stop(hurry: Promise<void>): Promise<void>;
};

/** Few, so that moving events does not keep requests waiting for the database. */
export const workerConnectionsMax = 6;
/** A worker that hangs must not keep Postgres running. */
const stopTimeoutMs = 15_000;

/** Starts Temporal and the worker in the background and returns at once. */
export function runWorkflows(options: RunWorkflowsOptions): RunningWorkflows {
  const stopping = new AbortController();
  const stops: (() => Promise<void>)[] = [];
  const starting = start(options, stopping.signal, stops).catch((error: unknown) => {
    if (!stopping.signal.aborted) report(error, options.logger);
  });
  return {
    async stop(hurry) {
      stopping.abort(new Error("the service is stopping"));
      await starting;
      for (const stop of stops.toReversed()) {
        await Promise.race([stop(), hurry, delay(stopTimeoutMs, undefined, { ref: false })]);
      }
    },
  };
}

async function start(
  { config, folder, databaseUrl, logger, sandbox, metrics }: RunWorkflowsOptions,
  signal: AbortSignal,
  stops: (() => Promise<void>)[],
): Promise<void> {
  const { temporal } = config;
  const named = temporal.address !== undefined && { ...temporal, address: temporal.address };
  const target = named || (await startEmbedded({ config, folder, logger }, signal, stops));
  signal.throwIfAborted();
  // Imported only when the service runs, which does not need it.
  const { startWorkerApp } = await import("../compose/worker.ts");
  const database = openDatabase({ url: databaseUrl, connectionsMax: workerConnectionsMax });
  stops.push(() => database.close());
  const clusters = openClusters({
    control: database,
    urls: config.clusters,
    connectionsMax: workerConnectionsMax,
    // The service migrates them.
    prepare: assertMigrated,
    logger,
  });
  stops.push(() => clusters.close());
  const databases = { database, clusters };
  const worker = await startWorkerApp({ config, target, ...databases, logger, sandbox, metrics });
  stops.push(() => worker.stop());
}

async function startEmbedded(
  { config, folder, logger }: Pick<RunWorkflowsOptions, "config" | "folder" | "logger">,
  signal: AbortSignal,
  stops: (() => Promise<void>)[],
) {
  const { startTemporal } = await import("../embedded/temporal.ts");
  const server = await startTemporal({
    cliPath: config.temporal.cliPath,
    path: config.path,
    folder,
    signal,
    onProgress: (step) => logger.info(step),
    onRestart: (cause) => logger.error({ cause }, "Temporal ended by itself; starting it again"),
  });
  stops.push(() => server.stop());
  print(`Temporal's web page, to watch evaluators, archives and revocations: ${server.uiUrl}`);
  const { address, namespace } = server;
  return { ...config.temporal, address, namespace, apiKey: undefined, tls: false };
}

function report(error: unknown, logger: Logger): void {
  const consequence =
    "everything else works; evaluators, archives and revocations wait for a start that has one";
  if (error instanceof OperatorError) print(`no Temporal: ${error.message}\n${consequence}`);
  else logger.error({ err: error }, `no workflows run: ${consequence}`);
}
