// Checks of alerts on a real database: slow charts, and alerts that change before their check.
// Source: docs/alerts.md; docs/decisions.md, 48.1.

import { expect, test } from "vitest";
import type { ProjectScope } from "../../src/access/scope.ts";
import { createOutbox } from "../../src/outbox/outbox.ts";
import { createAlertChecks } from "../../src/tracing/alerts/evaluate.ts";
import { createTracing } from "../../src/tracing/tracing.ts";
import { givenStarted } from "../support/given.ts";
import { anAlert, encryptionKeyFlag } from "../support/alerts.ts";
import { openTestClusters } from "../support/database.ts";
import { scopeOfProject } from "../support/keys.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";
import { nowhere } from "../api/access-rows.ts";

const service = givenStarted(() =>
  startService({
    "encryption-keys": encryptionKeyFlag,
    "webhook-private-hosts": new URL(nowhere).host,
  }),
);

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const signal = new AbortController().signal;

async function givenAnAlert(project: MetricProject, more = {}) {
  const { data } = await project.ok("POST /v1/alerts", anAlert(nowhere, more));
  const { id } = data as { id: string };
  const local = { ...service.project, projectId: project.projectId };
  const scope: ProjectScope = { ...scopeOfProject(local), ...local, clusterId: "default" };
  const { database } = service;
  const checks = createAlertChecks({
    database,
    outbox: createOutbox(database),
    notifications: { append: () => Promise.reject(new Error("nothing is to be told")) },
    tracingOf: createTracing({ clusters: openTestClusters(database) }).of,
    findProject: () => Promise.resolve(scope),
  });
  const input = {
    projectId: scope.projectId,
    orgId: scope.orgId,
    alertId: id,
    alertName: "a",
    firstEndMs: 0,
    lastEndMs: 0,
    actor: "test",
  };
  return {
    change: (fields: object) => project.ok(`PATCH /v1/alerts/${id}`, fields),
    check: (endMs: number, isLastTry = false) =>
      checks.evaluate(input, endMs, { signal, isLastTry }),
    evaluations: async () => (await project.ok(`GET /v1/alerts/${id}/evaluations`))["data"],
  };
}

const midnightMs = Math.floor(Date.now() / dayMs) * dayMs - dayMs;

test("an alert is not checked for a period of a frequency that it had before", async () => {
  const project = await givenAMetricProject(service);
  const { change, check, evaluations } = await givenAnAlert(project);
  await change({ frequency: "DAILY" });

  const odd = await check(midnightMs + 3 * hourMs);
  const even = await check(midnightMs);

  expect(odd.outcome).toBeNull();
  expect(even).toEqual({ outcome: "insufficient", nextEndMs: midnightMs + dayMs });
  expect(await evaluations()).toMatchObject([
    { window_start: new Date(midnightMs - dayMs).toISOString().replace(".000", "") },
  ]);
});

test("a paused alert is not checked", async () => {
  const project = await givenAMetricProject(service);
  const { change, check, evaluations } = await givenAnAlert(project);
  await change({ is_active: false });

  expect((await check(midnightMs)).outcome).toBeNull();
  expect(await evaluations()).toEqual([]);
});

test("a chart that takes too long is tried again, and the last try fails the check", async () => {
  const project = await givenAMetricProject(service);
  const first = await givenAnAlert(project);
  const last = await givenAnAlert(project);
  const locked = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const holding = service.database.transaction(async (sql) => {
    await sql`lock table events in access exclusive mode`;
    locked.resolve();
    await asked.promise;
  });
  await locked.promise;

  const [again, given] = await Promise.allSettled([
    first.check(midnightMs),
    last.check(midnightMs, true),
  ]);
  asked.resolve();
  await holding;

  expect(again).toMatchObject({ reason: { reason: "DEADLINE_EXCEEDED" } });
  expect(given).toMatchObject({ value: { outcome: "failed" } });
  expect(await last.evaluations()).toMatchObject([
    { outcome: "failed", error: expect.stringContaining("date range") as string },
  ]);
  expect((await first.check(midnightMs)).outcome).toBe("insufficient");
});

test.each([
  { name: "below the mean of equal numbers", numbers: [0.7, 0.7, 0.7], sign: "<", bound: 0.7 },
  { name: "above the sum 0.3", numbers: [0.1, 0.2], sign: ">", bound: 0.3, aggregation: "SUM" },
])("the rounding of a sum triggers no alert $name", async (row) => {
  const { numbers, sign, bound, aggregation = "AVERAGE" } = row;
  const project = await givenAMetricProject(service);
  const events = numbers.map((quality, at) => ({
    event_type: "model",
    event_name: "call",
    source: "sdk",
    inputs: {},
    session_id: "s",
    start_time: midnightMs - hourMs / 2 + at,
    metadata: { quality },
  }));
  await project.ok("POST /v1/events/batch", { events });
  const thresholds = { critical: { operator: sign, value: bound } };
  const more = { projections: ["metadata.quality"], aggregation, thresholds };
  const { check } = await givenAnAlert(project, more);

  expect((await check(midnightMs)).outcome).toBe("resolved");
});

test("the rounding of a mean is no drift", async () => {
  const project = await givenAMetricProject(service);
  // The mean of three times 0.1 is rounded.
  const times = [midnightMs - 2 * hourMs, ...[1, 2, 3].map((at) => midnightMs - hourMs + at)];
  const events = times.map((start_time) => ({
    event_type: "model",
    event_name: "call",
    source: "sdk",
    inputs: {},
    session_id: "s",
    start_time,
    metadata: { quality: 0.1 },
  }));
  await project.ok("POST /v1/events/batch", { events });
  const thresholds = { critical: { operator: ">", value: 0 } };
  const more = { alert_type: "DRIFT", projections: ["metadata.quality"], thresholds };
  const { check, evaluations } = await givenAnAlert(project, more);

  expect((await check(midnightMs)).outcome).toBe("resolved");
  expect(await evaluations()).toMatchObject([{ values: [{ value: 0 }] }]);
});
