// What the service counts about itself. Made by app.ts, which hands each part to whoever measures;
// served by server.ts on the operator port (`/metrics` of the API is another thing).

import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";

/** Sizes of the ingestion queue at this moment. */
export type QueueSize = { readonly events: number; readonly requests: number };

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
