// Workflows next to the service on one machine: the worker and, unless an address is configured, an
// embedded Temporal. They start in the background: the service does not need them.

import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../base/operator-error.ts";
import type { Logger } from "../base/logger.ts";
import type { Core } from "../compose/core.ts";
import { print } from "./command.ts";

export type RunWorkflowsOptions = {
  /** Services of the process, which the worker shares with the transport. */
  readonly core: Core;
  /** Data folder; the caller holds its lock. */
  readonly folder: string;
};

export type RunningWorkflows = {
  /** Stops the worker, then the embedded Temporal; running work continues after the next start. */
  stop(hurry: Promise<void>): Promise<void>;
};

/**
 * Maximum time for the end of a worker. Longer than its activities have, which are retried
 * elsewhere; one that hangs must not keep Postgres running.
 */
export const stopTimeoutMs = 15_000;

/** Starts Temporal and the worker in the background and returns at once. */
export function runWorkflows(options: RunWorkflowsOptions): RunningWorkflows {
  const stopping = new AbortController();
  const stops: (() => Promise<void>)[] = [];
  const starting = start(options, stopping.signal, stops).catch((error: unknown) => {
    if (!stopping.signal.aborted) report(error, options.core.logger);
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
  options: RunWorkflowsOptions,
  signal: AbortSignal,
  stops: (() => Promise<void>)[],
): Promise<void> {
  const { core } = options;
  const { temporal } = core.config;
  const named = temporal.address !== undefined && { ...temporal, address: temporal.address };
  const target = named || (await startEmbedded(options, signal, stops));
  signal.throwIfAborted();
  // Imported only when the service runs, which does not need it.
  const { startWorkerApp } = await import("../compose/worker.ts");
  const worker = await startWorkerApp(core, target);
  stops.push(() => worker.stop());
}

async function startEmbedded(
  { core: { config, logger, temporalPage }, folder }: RunWorkflowsOptions,
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
  temporalPage.follow(server);
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
