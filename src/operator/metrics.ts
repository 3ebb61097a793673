// What the service counts about itself. Made by app.ts, which hands each part to whoever measures;
// served by server.ts on the operator port (`/metrics` of the API is another thing).

import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";

/** Sizes of the ingestion queue at this moment. */
export type QueueSize = { readonly events: number; readonly requests: number };

/** What waits for evaluators, and what runs them, at this moment. */
export type EvaluationStats = {
  /** Of the event that waits longest; 0 when none waits. */
  readonly oldestQueuedAgeSeconds: number;
  readonly queuedEvents: number;
  /** Processes of this process's sandbox, those that are ready among them. */
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

export type Metrics = {
  readonly registry: Registry;
  /** Counts an answered request. `rpc` is `Service/Method`, `protocol` for example `rest`. */
  observeRequest(request: {
    readonly rpc: string;
    readonly protocol: string;
    /** The outcome's reason, or `OK`. */
    readonly outcome: string;
    readonly durationMs: number;
  }): void;
  /** Counts events after their commit. */
  addStoredEvents(count: number): void;
  /** Takes the source of the queue's size; asked at each scrape. */
  watchQueue(size: () => QueueSize): void;
  /**
   * Takes the source of what waits for evaluators; asked once at each scrape. A second one is left:
   * `waggle start` runs service and worker on one registry, and they would say the same.
   */
  watchEvaluation(stats: () => Promise<EvaluationStats>): void;
  /** Counts scores and failures after their commit. */
  addScores(scores: CommittedScores): void;
};

/** From one millisecond to ten seconds: a cached read up to a large batch. */
const durationBucketsSeconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
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
    observeRequest({ rpc, protocol, outcome, durationMs }) {
      requests.inc({ rpc, protocol, outcome });
      durations.observe({ rpc, protocol }, durationMs / 1_000);
    },
    addStoredEvents: (count) => stored.inc(count),
    watchQueue(size) {
      addQueueGauge(
        registry,
        "waggle_ingest_queue_events",
        "Events waiting to be stored.",
        () => size().events,
      );
      addQueueGauge(
        registry,
        "waggle_ingest_queue_requests",
        "Requests that sent those events.",
        () => size().requests,
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

const queueAgeName = "waggle_evaluation_queue_age_seconds";

function addEvaluationGauges(registry: Registry, stats: () => Promise<EvaluationStats>): void {
  let asked: Promise<EvaluationStats | undefined> | undefined;
  // The gauges of a scrape are asked together; a database that is away fails none of the others.
  const ask = () =>
    (asked ??= stats()
      .catch(() => undefined)
      .finally(() => {
        asked = undefined;
      }));
  const add = (name: string, help: string, pick: (now: EvaluationStats) => number) => {
    const gauge: Gauge = new Gauge({
      ...{ name, help, registers: [registry] },
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

function addQueueGauge(registry: Registry, name: string, help: string, value: () => number): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    registers: [registry],
    collect(): void {
      gauge.set(value());
    },
  });
}
