// Prometheus metrics of evaluators and of work in the background.

import { describe, expect, test } from "vitest";
import { createMetrics } from "../../../src/observability/metrics.ts";

const waiting = { oldestQueuedAgeSeconds: 1.5, queuedEvents: 12, sandboxProcesses: 3 };

describe("metrics of evaluators", () => {
  test("are asked for once at each scrape", async () => {
    const metrics = createMetrics("serve");
    let asked = 0;
    metrics.watchEvaluation(() => {
      asked += 1;
      return Promise.resolve({ ...waiting, queuedEvents: 12 * asked });
    });

    const first = await metrics.registry.metrics();
    const second = await metrics.registry.metrics();

    expect(first).toMatch(/^waggle_evaluation_queue_age_seconds 1\.5$/m);
    expect(first).toMatch(/^waggle_evaluation_queued_events 12$/m);
    expect(first).toMatch(/^waggle_sandbox_processes 3$/m);
    expect(second).toMatch(/^waggle_evaluation_queued_events 24$/m);
    expect(asked).toBe(2);
  });

  test("are unknown while the database is away, and the others are still served", async () => {
    const metrics = createMetrics("serve");
    metrics.watchEvaluation(() => Promise.reject(new Error("away")));
    metrics.addStoredEvents(7);

    const text = await metrics.registry.metrics();

    expect(text).toMatch(/^waggle_evaluation_queued_events Nan$/im);
    expect(text).toMatch(/^waggle_events_stored_total 7$/m);
  });

  test("count scores by type and failures by reason", async () => {
    const metrics = createMetrics("serve");

    metrics.addScores({ type: "PYTHON", scored: 3, failed: { EXCEPTION: 2, TIME_LIMIT: 1 } });
    metrics.addScores({ type: "PYTHON", scored: 4, failed: { EXCEPTION: 1 } });

    const text = await metrics.registry.metrics();
    expect(text).toMatch(/^waggle_scores_total\{type="PYTHON"\} 7$/m);
    expect(text).toMatch(/^waggle_evaluation_failures_total\{reason="EXCEPTION"\} 3$/m);
    expect(text).toMatch(/^waggle_evaluation_failures_total\{reason="TIME_LIMIT"\} 1$/m);
  });
});

describe("metrics of work in the background", () => {
  test("count the ends of activities and of notifications, whose results begin at 0", async () => {
    const metrics = createMetrics("worker");

    metrics.addActivity("deleteRetentionBatch", "failed");
    metrics.addActivity("deleteRetentionBatch", "completed");
    metrics.addActivity("deleteRetentionBatch", "failed");
    metrics.addDelivery("delivered");

    const text = await metrics.registry.metrics();
    const activity = 'activity="deleteRetentionBatch"';
    expect(text).toContain(`waggle_activities_total{${activity},result="failed"} 2\n`);
    expect(text).toContain(`waggle_activities_total{${activity},result="completed"} 1\n`);
    expect(text).toContain('waggle_notification_attempts_total{result="delivered"} 1\n');
    expect(text).toContain('waggle_notification_attempts_total{result="failed"} 0\n');
  });
});
