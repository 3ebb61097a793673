// Prometheus metrics of the service, served by server.ts on the operator port. They have nothing to
// do with `/metrics` of the API.

import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import { packageVersion } from "../base/package-version.ts";

/** Current size of the ingestion queue. */
export type QueueSize = {
  readonly events: number;
  readonly requests: number;
  readonly bytes: number;
};

/** Current queue of the evaluators and size of their sandbox. */
export type EvaluationStats = {
  /** Age of the event that has waited longest; 0 if none waits. */
  readonly oldestQueuedAgeSeconds: number;
  readonly queuedEvents: number;
  /** Processes of this process's sandbox, ready ones included. */
  readonly sandboxProcesses: number;
};

/** Runs of an evaluator that were committed together. */
export type CommittedScores = {
  /** `PYTHON` or `LLM`. */
  readonly type: string;
  readonly scored: number;
  /** Failures by reason. */
  readonly failed: Readonly<Record<string, number>>;
};

/** How an attempt of an activity ended; a failed one is tried again. */
export type ActivityResult = "completed" | "failed";

/** How an attempt of a notification ended; `gone`: its owner was deleted meanwhile. */
export type DeliveryResult = (typeof deliveryResults)[number];

export type Metrics = {
  readonly registry: Registry;
  /** Counts an answered request. `rpc` is `Service/Method`, `protocol` for example `rest`. */
  observeRequest(request: {
    readonly rpc: string;
    readonly protocol: string;
    /** Reason of the error, or `OK`. */
    readonly outcome: string;
    readonly durationMs: number;
  }): void;
  /** Counts events after their commit. */
  addStoredEvents(count: number): void;
  /** Sets the source of the queue's size, which is read at each scrape. */
  watchQueue(size: () => QueueSize): void;
  /**
   * Sets the source of the evaluation stats, which is read once at each scrape. Ignores a second
   * source: `waggle start` runs service and worker on one registry, and both have the same values.
   */
  watchEvaluation(stats: () => Promise<EvaluationStats>): void;
  /** Counts scores and failures after their commit. */
  addScores(scores: CommittedScores): void;
  /** Counts an attempt of an activity. */
  addActivity(activity: string, result: ActivityResult): void;
  /** Counts an attempt of a notification after its commit. */
  addDelivery(result: DeliveryResult): void;
  /** Sets whether this process takes work from Temporal; a process that never does has no gauge. */
  watchWorkflows(isRunning: () => boolean): void;
};

const deliveryResults = ["delivered", "again", "failed", "gone"] as const;

/** From one millisecond to ten seconds: a cached read up to a large batch. */
const durationBucketsSeconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

/** Role of a process; `start` is a server and a worker. */
export type Role = "serve" | "worker" | "start";

export function createMetrics(role: Role): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  new Gauge({
    name: "waggle_process_info",
    help: "1, with the version and what the process does: serve, worker or start, which is both.",
    labelNames: ["role", "version"],
    registers,
  }).set({ role, version: packageVersion() }, 1);
  const requests = new Counter({
    name: "waggle_requests_total",
    help: "Requests answered, by rpc, protocol and outcome.",
    labelNames: ["rpc", "protocol", "outcome"],
    registers,
  });
  const durations = new Histogram({
    name: "waggle_request_duration_seconds",
    help: "Time from a request's headers to its answer.",
    labelNames: ["rpc", "protocol"],
    buckets: durationBucketsSeconds,
    registers,
  });
  const stored = new Counter({
    name: "waggle_events_stored_total",
    help: "Events acknowledged after their commit.",
    registers,
  });
  return {
    registry,
    ...createEvaluationMetrics(registry),
    ...createWorkMetrics(registry),
    observeRequest({ rpc, protocol, outcome, durationMs }) {
      requests.inc({ rpc, protocol, outcome });
      durations.observe({ rpc, protocol }, durationMs / 1_000);
    },
    addStoredEvents: (count) => stored.inc(count),
    watchWorkflows: (isRunning) =>
      addGauge(
        registry,
        "waggle_workflows_running",
        "1 while this process takes work from Temporal, else 0.",
        () => Number(isRunning()),
      ),
    watchQueue(size) {
      addGauge(
        registry,
        "waggle_ingest_queue_events",
        "Events waiting to be stored.",
        () => size().events,
      );
      addGauge(
        registry,
        "waggle_ingest_queue_requests",
        "Requests that sent those events.",
        () => size().requests,
      );
      addGauge(
        registry,
        "waggle_ingest_queue_bytes",
        "Bytes of those events, limited by commitWaitingBytesMax and of each project by " +
          "commitWaitingBytesOfProjectMax.",
        () => size().bytes,
      );
    },
  };
}

function createEvaluationMetrics(
  registry: Registry,
): Pick<Metrics, "watchEvaluation" | "addScores"> {
  const registers = [registry];
  const scores = new Counter({
    name: "waggle_scores_total",
    help: "Scores of evaluators that were committed, by type of evaluator.",
    labelNames: ["type"],
    registers,
  });
  const failures = new Counter({
    name: "waggle_evaluation_failures_total",
    help: "Runs of evaluators that failed and were committed, by reason.",
    labelNames: ["reason"],
    registers,
  });
  return {
    watchEvaluation(stats) {
      if (registry.getSingleMetric(queueAgeName) === undefined)
        addEvaluationGauges(registry, stats);
    },
    addScores({ type, scored, failed }) {
      scores.inc({ type }, scored);
      for (const [reason, count] of Object.entries(failed)) failures.inc({ reason }, count);
    },
  };
}

function createWorkMetrics(registry: Registry): Pick<Metrics, "addActivity" | "addDelivery"> {
  const registers = [registry];
  const activities = new Counter({
    name: "waggle_activities_total",
    help: "Attempts of activities that ended, by activity and result: completed or failed.",
    labelNames: ["activity", "result"],
    registers,
  });
  const deliveries = new Counter({
    name: "waggle_notification_attempts_total",
    help:
      "Attempts of notifications, by result: delivered, again, failed (given up) or gone (its " +
      "owner was deleted).",
    labelNames: ["result"],
    registers,
  });
  // Present from the start, so that Prometheus sees the first failure as an increase.
  for (const result of deliveryResults) deliveries.inc({ result }, 0);
  return {
    addActivity: (activity, result) => activities.inc({ activity, result }),
    addDelivery: (result) => deliveries.inc({ result }),
  };
}

const queueAgeName = "waggle_evaluation_queue_age_seconds";

function addEvaluationGauges(registry: Registry, stats: () => Promise<EvaluationStats>): void {
  let asked: Promise<EvaluationStats | undefined> | undefined;
  // The gauges of one scrape share one read. If the database is away, only these gauges are
  // affected.
  const ask = () =>
    (asked ??= stats()
      .catch(() => undefined)
      .finally(() => {
        asked = undefined;
      }));
  const add = (name: string, help: string, pick: (now: EvaluationStats) => number) => {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [registry],
      async collect(): Promise<void> {
        const now = await ask();
        gauge.set(now === undefined ? Number.NaN : pick(now));
      },
    });
  };
  add(
    queueAgeName,
    "Age of the event that waits longest for an evaluator; NaN while nobody can say.",
    ({ oldestQueuedAgeSeconds }) => oldestQueuedAgeSeconds,
  );
  add(
    "waggle_evaluation_queued_events",
    "Events that wait to be looked at and runs that wait; NaN while nobody can say.",
    ({ queuedEvents }) => queuedEvents,
  );
  add(
    "waggle_sandbox_processes",
    "Processes of the sandbox for evaluators' code.",
    ({ sandboxProcesses }) => sandboxProcesses,
  );
}

function addGauge(registry: Registry, name: string, help: string, value: () => number): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    registers: [registry],
    collect(): void {
      gauge.set(value());
    },
  });
}
