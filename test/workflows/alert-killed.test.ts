// A worker that is killed after it sent a notification and before it recorded that: the target gets
// the notification again, under the same id. The worker is a process of its own, as in production.

import { ScheduleOverlapPolicy } from "@temporalio/client";
import { expect, test, vi } from "vitest";
import type { EmbeddedTemporal } from "../../src/embedded/temporal.ts";
import { givenOwnTemporal } from "../support/given-temporal.ts";
import { givenStarted } from "../support/given.ts";
import { anAlert, encryptionKeyFlag, startReceiver } from "../support/alerts.ts";
import { givenAMetricProject } from "../support/metrics.ts";
import { patience } from "../support/patience.ts";
import { type Process, runWorker } from "../support/process.ts";
import { startService } from "../support/service.ts";
import { openClient } from "../support/workflows.ts";

const receiver = givenStarted(startReceiver);
const service = givenStarted(() =>
  startService({
    "encryption-keys": encryptionKeyFlag,
    "webhook-private-hosts": receiver.host,
  }),
);
const own = givenOwnTemporal("alerts");

const startWorker = (temporal: EmbeddedTemporal): Promise<Process> =>
  runWorker(service.database, temporal, {
    "encryption-keys": encryptionKeyFlag,
    "webhook-private-hosts": receiver.host,
  });

/** Has the schedule look for due alerts, which it does each minute by itself. */
async function checkNow(server: EmbeddedTemporal): Promise<void> {
  const operator = openClient(server);
  const schedule = operator.client.schedule.getHandle("waggle-alerts");
  await vi.waitUntil(() => schedule.describe().catch(() => undefined), patience);
  // Also while the run of this minute is going on.
  await schedule.trigger(ScheduleOverlapPolicy.ALLOW_ALL);
  await operator.close();
}

test("a notification that was sent but not recorded is sent again", async () => {
  const temporal = own.server;
  const project = await givenAMetricProject(service);
  const { data } = await project.ok(
    "POST /v1/alerts",
    anAlert(receiver.url, {
      projections: ["event_count"],
      aggregation: "COUNT",
      thresholds: { critical: { operator: "<", value: 1 } },
    }),
  );
  const { id } = data as { id: string };
  await service.database.sql()`
    update alerts set due_at = date_trunc('hour', now()) - interval '1 hour'
    where project_id = ${project.projectId} and alert_id = ${id}`;
  // No answer to the first request, so that the worker cannot record it.
  receiver.answer(0);

  const first = await startWorker(temporal);
  await checkNow(temporal);
  await vi.waitUntil(() => receiver.received.length === 1, patience);
  first.kill("SIGKILL");
  await first.ended();
  const before = await project.ok(`GET /v1/alerts/${id}/notifications`);
  const second = await startWorker(temporal);
  const after = await vi.waitUntil(
    async () => {
      const { data: all } = await project.ok(`GET /v1/alerts/${id}/notifications`);
      const [one] = all as { id: string; state: string; attempts: unknown[] }[];
      return one?.state === "delivered" && one;
    },
    { ...patience, interval: 200 },
  );
  second.kill("SIGTERM");
  await second.ended();

  expect(before["data"]).toMatchObject([{ state: "pending", attempts: [] }]);
  expect(after.attempts).toMatchObject([{ error: null }]);
  const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
  expect(ids).toEqual([after.id, after.id]);
  const { data: checks } = await project.ok(`GET /v1/alerts/${id}/evaluations`);
  expect(new Set((checks as { outcome: string }[]).map(({ outcome }) => outcome))).toEqual(
    new Set(["critical"]),
  );
}, 300_000);
