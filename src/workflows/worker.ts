// Runs workflows and activities for as long as the process does: waits for Temporal to come up,
// goes on when it was away, and ends in an orderly way. Called by worker-app.ts.

import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { bundleWorkflowCode, NativeConnection, Runtime, Worker } from "@temporalio/worker";
import type { LogLevel, Logger as TemporalLogger, WorkerOptions } from "@temporalio/worker";
import { chunkStepsMax } from "../base/limits.ts";
import type { Logger } from "../base/logger.ts";
import type { Activities } from "./activities.ts";
import { heartbeatMs } from "./activity.ts";
import { evaluationTaskQueue } from "./activity-options.ts";
import { readTls, taskQueue } from "./client.ts";
import type { TemporalTarget, WorkflowClient } from "./client.ts";
import { registerSearchAttributes } from "./namespace.ts";
import { searchAttributeNames } from "./search-attributes.ts";

export type WorkflowWorker = {
  /** Takes no new work and hands back what takes long; settles when all has ended. */
  stop(): Promise<void>;
};

export type StartWorkerOptions = {
  readonly target: TemporalTarget;
  readonly client: Pick<WorkflowClient, "connection" | "findFault">;
  readonly activities: Activities;
  readonly logger: Logger;
};

const workflowsPath = new URL("./workflows.ts", import.meta.url).pathname;
/** Each holds a connection of the worker's pools at times, most of them wait. */
const activitiesMax = 20;
/**
 * Steps of chunks that are taken from Temporal: those of code and of judges that run, and as many
 * that wait here for their organization's turn, since Temporal hands them out in the order in which
 * they came.
 */
const evaluationsMax = 4 * chunkStepsMax;
/** Workflows kept in memory between two events of theirs. */
const cachedWorkflowsMax = 200;
/** Activities that notice it end at a step; the others are given up and tried again elsewhere. */
const stopGraceMs = 2_000;
const stopForceMs = 10_000;
const awayLookMs = 1_000;
const lookMs = 5_000;

/** Begins to work as soon as Temporal can be reached. Never fails: what is wrong is logged. */
export function startWorker(options: StartWorkerOptions): WorkflowWorker {
  const { target, logger } = options;
  installRuntime(logger);
  const stopping = new AbortController();
  const { signal } = stopping;
  const watch = watchTemporal(options, signal);
  const code = bundleWorkflows(logger);
  code.catch(() => {
    // Told where it is used.
  });
  const workers = new Set<Worker>();

  function shutDown(): void {
    for (const worker of workers) if (worker.getState() === "RUNNING") worker.shutdown();
  }

  async function workOnce(): Promise<void> {
    const tls = await readTls(target);
    const { address, namespace, apiKey } = target;
    const connection = await NativeConnection.connect({
      address,
      tls,
      ...(apiKey !== undefined && { apiKey }),
    });
    try {
      const workflowBundle = { code: await code };
      if (signal.aborted) return;
      const common = {
        ...{ connection, namespace, activities: options.activities },
        identity: `${hostname()} pid ${process.pid}`,
        shutdownGraceTime: stopGraceMs,
        shutdownForceTime: stopForceMs,
      };
      await runTogether([
        {
          ...{ ...common, taskQueue, workflowBundle },
          maxConcurrentActivityTaskExecutions: activitiesMax,
          maxCachedWorkflows: cachedWorkflowsMax,
        },
        {
          ...{ ...common, taskQueue: evaluationTaskQueue },
          maxConcurrentActivityTaskExecutions: evaluationsMax,
          // Cancelling is told in answer to a sign of life.
          maxHeartbeatThrottleInterval: heartbeatMs,
        },
      ]);
    } finally {
      workers.clear();
      await connection.close();
    }
  }

  /** Runs workers until all have ended; where one does, the others have to as well. */
  async function runTogether(all: readonly WorkerOptions[]): Promise<void> {
    let isEnding = false;
    const running = all.map(async (one) => {
      try {
        const worker = await Worker.create(one);
        workers.add(worker);
        const run = worker.run();
        // stop() came while it was being made. One that never ran would keep its connection open.
        if (isEnding || signal.aborted) worker.shutdown();
        await run;
      } finally {
        isEnding = true;
        shutDown();
      }
    });
    const ended = await Promise.allSettled(running);
    const failed = ended.find((end) => end.status === "rejected");
    if (failed) throw failed.reason;
  }

  async function work(): Promise<void> {
    let told: string | undefined;
    while (!signal.aborted) {
      await watch.reachable();
      if (signal.aborted) return;
      try {
        await workOnce();
        told = undefined;
      } catch (error) {
        const { message } = error as Error;
        if (message !== told && watch.isReachable()) {
          logger.error({ err: error }, "the worker ended; it is started again");
          told = message;
        }
      }
      await pause(awayLookMs, signal);
    }
  }

  const working = work();
  return {
    async stop() {
      stopping.abort();
      shutDown();
      await working;
      await watch.ended;
    },
  };
}

type Watch = {
  isReachable(): boolean;
  /** Resolves when Temporal answers, or when the watch has ended. */
  reachable(): Promise<void>;
  readonly ended: Promise<void>;
};

/** Asks Temporal over and over whether it is there; logs one line when that changes. */
function watchTemporal({ target, client, logger }: StartWorkerOptions, signal: AbortSignal): Watch {
  const { address, namespace } = target;
  let isReachable = false;
  let wasAsked = false;
  let change = Promise.withResolvers<undefined>();

  async function look(): Promise<void> {
    const fault = await client.findFault();
    if (signal.aborted) return;
    if (fault === undefined && !isReachable) {
      await addSearchAttributes(client.connection, namespace, logger);
      logger.info({ address, namespace }, "Temporal is reached; workflows run");
      change.resolve(undefined);
    }
    if (fault !== undefined && (isReachable || !wasAsked)) {
      logger.warn(
        { address, namespace, cause: fault },
        "Temporal cannot be reached; archives, revocations and evaluations go on when it can",
      );
    }
    // Not earlier: the worker waits for the first one.
    if (fault !== undefined && isReachable) change = Promise.withResolvers();
    isReachable = fault === undefined;
    wasAsked = true;
  }

  async function watch(): Promise<void> {
    while (!signal.aborted) {
      await look();
      await pause(isReachable ? lookMs : awayLookMs, signal);
    }
    change.resolve(undefined);
  }

  return {
    isReachable: () => isReachable,
    reachable: () => change.promise,
    ended: watch(),
  };
}

async function addSearchAttributes(
  connection: WorkflowClient["connection"],
  namespace: string,
  logger: Logger,
): Promise<void> {
  try {
    await registerSearchAttributes(connection, namespace);
  } catch (error) {
    const { details = (error as Error).message } = error as { details?: string };
    // Temporal Cloud lets nobody do it over this connection.
    logger.warn(
      { cause: details },
      `the search attributes cannot be added to namespace ${namespace}; unless they are there, ` +
        "workflows cannot be found by organization, scope and actor, nor stopped with their " +
        `project. Add ${searchAttributeNames.join(", ")}, each of type Keyword, on ` +
        "the namespace's page of Temporal Cloud, or with: temporal operator search-attribute " +
        `create --namespace ${namespace} --type Keyword --name …`,
    );
  }
}

async function bundleWorkflows(logger: Logger): Promise<string> {
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: toTemporalLogger(logger) });
  return code;
}

let isRuntimeInstalled = false;

/** One runtime serves every worker of a process. */
function installRuntime(logger: Logger): void {
  if (isRuntimeInstalled) return;
  isRuntimeInstalled = true;
  Runtime.install({
    logger: toTemporalLogger(logger),
    // What it says of a Temporal that is away, `watchTemporal` says once.
    telemetryOptions: { logging: { filter: { core: "ERROR", other: "ERROR" }, forward: {} } },
    // The commands decide what a signal means.
    shutdownSignals: [],
  });
}

/** What the worker of evaluations is told at each start: it runs activities only. */
const asMeant = "No workflows registered";

/** Temporal's own news, such as each state of a worker, are details to an operator. */
function toTemporalLogger(logger: Logger): TemporalLogger {
  const methods = {
    ERROR: "error",
    WARN: "warn",
    INFO: "debug",
    DEBUG: "debug",
    TRACE: "trace",
  } as const satisfies Record<LogLevel, keyof Logger>;
  const log = (level: LogLevel, message: string, meta?: object) => {
    logger[message.startsWith(asMeant) ? "debug" : methods[level]]({ ...meta }, message);
  };
  return {
    log,
    trace: (message, meta) => log("TRACE", message, meta),
    debug: (message, meta) => log("DEBUG", message, meta),
    info: (message, meta) => log("INFO", message, meta),
    warn: (message, meta) => log("WARN", message, meta),
    error: (message, meta) => log("ERROR", message, meta),
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // Cut short by stop, which the loops' conditions see.
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
