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

/** Time after which the log names what a stop waits for. */
const silenceMsMax = 5_000;

type Stop = { readonly what: string; readonly stop: () => Promise<void> };

/** Starts Temporal and the worker in the background and returns at once. */
export function runWorkflows(options: RunWorkflowsOptions): RunningWorkflows {
  const { logger } = options.core;
  const stopping = new AbortController();
  const stops: Stop[] = [];
  const starting = start(options, stopping.signal, stops).catch((error: unknown) => {
    if (!stopping.signal.aborted) report(error, logger);
  });
  return {
    async stop(hurry) {
      stopping.abort(new Error("the service is stopping"));
      await starting;
      for (const { what, stop } of stops.toReversed()) {
        const timer = setTimeout(() => logger.warn(`still stopping: ${what}`), silenceMsMax);
        await Promise.race([stop(), hurry, delay(stopTimeoutMs, undefined, { ref: false })]);
        clearTimeout(timer);
      }
    },
  };
}

async function start(
  options: RunWorkflowsOptions,
  signal: AbortSignal,
  stops: Stop[],
): Promise<void> {
  const { core } = options;
  const { temporal } = core.config;
  const named = temporal.address !== undefined && { ...temporal, address: temporal.address };
  const target = named || (await startEmbedded(options, signal, stops));
  signal.throwIfAborted();
  // Imported only when the service runs, which does not need it.
  const { startWorkerApp } = await import("../compose/worker.ts");
  const worker = await startWorkerApp(core, target);
  stops.push({
    what: "the worker waits for its activities and Temporal",
    stop: () => worker.stop(),
  });
}

async function startEmbedded(
  { core: { config, logger, temporalPage }, folder }: RunWorkflowsOptions,
  signal: AbortSignal,
  stops: Stop[],
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
  stops.push({ what: "Temporal has not ended yet", stop: () => server.stop() });
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
