// Runs workflows and activities: waits until Temporal is available, resumes after failures, and
// stops in an orderly way.

import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { NativeConnection, Runtime, Worker } from "@temporalio/worker";
import type { Info } from "@temporalio/activity";
import type {
  ActivityInterceptors,
  LogLevel,
  Logger as TemporalLogger,
  WorkerOptions,
} from "@temporalio/worker";
import { inBackground } from "../base/background.ts";
import { chunkStepsMax } from "../base/limits.ts";
import type { Logger } from "../base/logger.ts";
import type { Activities } from "./activities.ts";
import { heartbeatMs } from "./activity.ts";
import { isHandedOver, withSpan } from "./activity-spans.ts";
import { readBundle } from "./bundle.ts";
import { readTls, type TemporalTarget, type WorkflowClient } from "./client.ts";
import { registerSearchAttributes } from "./namespace.ts";
import { searchAttributeNames } from "./search-attributes.ts";
import { evaluationTaskQueue, taskQueue } from "./task-queues.ts";

export type WorkflowWorker = {
  /** Returns whether Temporal is available and its workers take work. */
  isRunning(): boolean;
  /** Stops taking work and hands back long activities; resolves when all have ended. */
  stop(): Promise<void>;
};

export type StartWorkerOptions = {
  readonly target: TemporalTarget;
  readonly client: Pick<WorkflowClient, "connection" | "ensureSchedules" | "findFault">;
  readonly activities: Activities;
  readonly logger: Logger;
  /** Called at the end of each attempt of an activity that was not cancelled. */
  readonly onActivity: (activity: string, result: "completed" | "failed") => void;
  /** Whether activities make OpenTelemetry spans. */
  readonly isTracing: boolean;
};

/** Maximum concurrent activities; each uses a database connection at times, but mostly waits. */
const activitiesMax = 20;
/**
 * Maximum steps of chunks that are taken from Temporal: running steps of code and of judges, and as
 * many that wait here for their organization's turn, because Temporal hands them out in order of
 * arrival.
 */
const evaluationsMax = 4 * chunkStepsMax;
/** Maximum workflows that are cached between two of their events. */
const cachedWorkflowsMax = 200;
/**
 * Time in which activities may end at a step. After `stopForceMs` the others are abandoned, and
 * other workers retry them.
 */
const stopGraceMs = 2_000;
const stopForceMs = 10_000;
const awayLookMs = 1_000;
const lookMs = 5_000;

/** Starts work as soon as Temporal is available. Never fails: problems are logged. */
export function startWorker(options: StartWorkerOptions): WorkflowWorker {
  const { target, logger, isTracing } = options;
  const counted = countActivities(options.onActivity);
  installRuntime(logger);
  const stopping = new AbortController();
  const { signal } = stopping;
  const watch = watchTemporal(options, signal);
  const code = loadBundle();
  code.catch(() => {
    // The error is reported when `code` is awaited.
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
        connection,
        namespace,
        activities: options.activities,
        interceptors: { activity: [asBackgroundWork, counted] },
        identity: `${hostname()} pid ${process.pid}`,
        shutdownGraceTime: stopGraceMs,
        shutdownForceTime: stopForceMs,
      };
      await runTogether([
        {
          ...common,
          taskQueue,
          workflowBundle,
          // Steps of evaluations make no spans: they follow events, so that two Waggles that
          // export to each other would feed each other.
          interceptors: { activity: [asBackgroundWork, counted, ...(isTracing ? [withSpan] : [])] },
          maxConcurrentActivityTaskExecutions: activitiesMax,
          maxCachedWorkflows: cachedWorkflowsMax,
        },
        {
          ...common,
          taskQueue: evaluationTaskQueue,
          maxConcurrentActivityTaskExecutions: evaluationsMax,
          // Temporal announces a cancellation in the answer to a heartbeat.
          maxHeartbeatThrottleInterval: heartbeatMs,
        },
      ]);
    } finally {
      workers.clear();
      await connection.close();
    }
  }

  /** Runs workers until all have ended; the end of one shuts the others down. */
  async function runTogether(all: readonly WorkerOptions[]): Promise<void> {
    let isEnding = false;
    const running = all.map(async (one) => {
      try {
        const worker = await Worker.create(one);
        workers.add(worker);
        const run = worker.run();
        // stop() was called meanwhile. A worker that never runs would keep its connection open.
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
        // A worker whose end is forced fails, which a stop wants.
        if (message !== told && watch.isReachable() && !signal.aborted) {
          logger.error({ err: error }, "the worker ended; it is started again");
          told = message;
        }
      }
      await pause(awayLookMs, signal);
    }
  }

  const working = work();
  return {
    isRunning() {
      const states = Array.from(workers, (worker) => worker.getState());
      return watch.isReachable() && states.length > 0 && states.every((one) => one === "RUNNING");
    },
    async stop() {
      stopping.abort();
      shutDown();
      await working;
      await watch.ended;
    },
  };
}

function asBackgroundWork(): ActivityInterceptors {
  return { inbound: { execute: (input, next) => inBackground(() => next(input)) } };
}

function countActivities(
  onActivity: StartWorkerOptions["onActivity"],
): (context: { readonly info: Info }) => ActivityInterceptors {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        try {
          const result: unknown = await next(input);
          onActivity(info.activityType, "completed");
          return result;
        } catch (error) {
          if (!isHandedOver(error)) onActivity(info.activityType, "failed");
          throw error;
        }
      },
    },
  });
}

type Watch = {
  isReachable(): boolean;
  /** Resolves when Temporal is available or the watch has ended. */
  reachable(): Promise<void>;
  readonly ended: Promise<void>;
};

/** Checks regularly whether Temporal is available, and logs each change once. */
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
      await addSchedules(client, logger);
      logger.info({ address, namespace }, "Temporal is reached; workflows run");
      change.resolve(undefined);
    }
    if (fault !== undefined && (isReachable || !wasAsked)) {
      logger.warn(
        { address, namespace, cause: fault },
        "Temporal cannot be reached; archives, revocations and evaluations go on when it can",
      );
    }
    // Only after a success: the worker waits for the promise before.
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
    // Temporal Cloud does not allow it over this connection.
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

/** A failure does not stop the worker: the next one that reaches Temporal tries again. */
async function addSchedules(
  client: Pick<WorkflowClient, "ensureSchedules">,
  logger: Logger,
): Promise<void> {
  try {
    await client.ensureSchedules();
  } catch (error) {
    logger.error(
      { err: error },
      "the schedules cannot be made; alerts are not checked, and nothing is deleted",
    );
  }
}

let bundle: Promise<string> | undefined;

/** Returns the code of the workflows, which is read once: it serves all workers of a process. */
function loadBundle(): Promise<string> {
  bundle ??= readBundle().catch((error: unknown) => {
    bundle = undefined;
    throw error;
  });
  return bundle;
}

let isRuntimeInstalled = false;

/** Installs the runtime once: it serves all workers of a process. */
function installRuntime(logger: Logger): void {
  if (isRuntimeInstalled) return;
  isRuntimeInstalled = true;
  Runtime.install({
    logger: toTemporalLogger(logger),
    // `watchTemporal` already reports once that Temporal is unavailable; each poll would report
    // its retries for as long as that lasts.
    telemetryOptions: { logging: { filter: "ERROR,temporalio_client::retry=off", forward: {} } },
    // The commands handle signals.
    shutdownSignals: [],
  });
}

/** Beginning of an expected message of the evaluation worker, which runs only activities. */
const asMeant = "No workflows registered";

/** Logs Temporal's own messages, such as each state of a worker, one level lower. */
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
  // An abort only ends the pause early; the loops check the signal.
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
