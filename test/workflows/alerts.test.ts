// Alerts checked by the schedule of a real Temporal, over generated events, and a budget, with
// notifications to real sockets.

import { ScheduleOverlapPolicy } from "@temporalio/client";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { givenStarted } from "../support/given.ts";
import { anAlert, encryptionKeyFlag, startMailReceiver, startReceiver } from "../support/alerts.ts";
import { providersOf } from "../support/chats.ts";
import { openTestClusters } from "../support/database.ts";
import { givenWorker } from "../support/given-worker.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { patience } from "../support/patience.ts";
import { startService, type TestService } from "../support/service.ts";
import { withKey } from "../support/tenants.ts";
import { startWorker } from "../support/worker.ts";
import { targetOf } from "../support/workflows.ts";
import { isRecording, recordHistory } from "./histories.ts";

let service: TestService;
const receiver = givenStarted(startReceiver);
const mail = givenStarted(startMailReceiver);
const standIn = givenStarted(startOpenAiStandIn);
let flags: Readonly<Record<string, string>>;

beforeAll(async () => {
  flags = {
    "encryption-keys": encryptionKeyFlag,
    "webhook-private-hosts": receiver.host,
    "smtp-url": mail.url,
    providers: providersOf(standIn),
  };
  service = await startService(flags);
});

afterAll(() => service.stop());

const workflows = givenWorker(
  "alerts",
  () => service.database,
  () => flags,
);
beforeEach(() => {
  receiver.received.length = 0;
  mail.mails.length = 0;
});

const hourMs = 3_600_000;
/** End of the last hour that may be checked, a minute after its end. */
const nowHourMs = Math.floor((Date.now() - 60_000) / hourMs) * hourMs;

/** Stores a model event of each duration in the hour that ended some hours ago. */
async function give(project: MetricProject, hoursAgo: number, durations: readonly number[]) {
  const start = nowHourMs - (hoursAgo + 1) * hourMs;
  const events = durations.map((duration, at) => ({
    // Postgres stores U+E000 escaped.
    event_id: `h${hoursAgo}-${at}\uE000`,
    event_type: "model",
    event_name: "call",
    source: "sdk",
    inputs: {},
    session_id: `s${hoursAgo}`,
    start_time: start + at * 1_000,
    duration,
  }));
  await project.ok("POST /v1/events/batch", { events });
}

type Check = {
  readonly window_end: string;
  readonly outcome: string;
  readonly condition: string;
  readonly values: JsonObject[];
};

/** Has the last `hours` hours of an alert checked by the schedule; returns the checks in order. */
async function check(project: MetricProject, id: string, hours: number): Promise<readonly Check[]> {
  await service.database.sql()`
    update alerts set due_at = ${new Date(nowHourMs - (hours - 1) * hourMs)}
    where project_id = ${project.projectId} and alert_id = ${id}`;
  const schedule = workflows.operator.client.schedule.getHandle("waggle-alerts");
  await vi.waitUntil(() => schedule.describe().catch(() => undefined), patience);
  // Also while the run of this minute is going on.
  await schedule.trigger(ScheduleOverlapPolicy.ALLOW_ALL);
  const path = `GET /v1/alerts/${id}/evaluations`;
  return vi.waitUntil(
    async () => {
      const { data } = await project.ok(path);
      // Another hour may have ended since the tests began.
      const checks = (data as Check[]).filter((one) => Date.parse(one.window_end) <= nowHourMs);
      return checks.length >= hours && checks.toReversed();
    },
    { ...patience, interval: 100 },
  );
}

/** Waits until every notification of an alert has ended; returns them in order. */
function notificationsOf(project: MetricProject, id: string) {
  return vi.waitUntil(
    async () => {
      const { data } = await project.ok(`GET /v1/alerts/${id}/notifications`);
      const all = data as { id: string; type: string; state: string; attempts: JsonObject[] }[];
      return all.every(({ state }) => state !== "pending") && all.toReversed();
    },
    { ...patience, interval: 100 },
  );
}

async function make(project: MetricProject, more: JsonObject) {
  const { data, signing_secret: secret } = await project.ok(
    "POST /v1/alerts",
    anAlert(receiver.url, more),
  );
  return { id: (data as { id: string }).id, secret: secret as string };
}

/** Keeps the history of a workflow that a query finds, when histories are recorded. */
async function record(name: string, query: string, id = ""): Promise<void> {
  if (!isRecording) return;
  for await (const { workflowId } of workflows.operator.client.workflow.list({ query })) {
    if (workflowId.endsWith(id)) await recordHistory(workflows.operator.client, workflowId, name);
  }
}

const both = (url: string): JsonObject => {
  const target = { channel: "WEBHOOK", metadata: { url } };
  return { critical: target, resolved: target };
};

test("an alert over flapping events triggers once and is resolved once", async () => {
  const project = await givenAMetricProject(service);
  const averages = [100, 1500, 900, 2000, 700, 400, 450, 900];
  for (const [at, average] of averages.entries()) {
    await give(project, averages.length - 1 - at, [average - 50, average + 50]);
  }
  const { id, secret } = await make(project, {
    thresholds: {
      critical: { operator: "greater_than", value: 1000 },
      resolved: { operator: "less_than_or_equal", value: 500 },
    },
    notification_details: both(receiver.url),
  });

  const checks = await check(project, id, averages.length);
  const notifications = await notificationsOf(project, id);

  expect(checks.map(({ values }) => values[0]?.["value"])).toEqual(averages);
  expect(checks.map(({ outcome }) => outcome)).toEqual([
    "resolved",
    "critical",
    "between",
    "critical",
    "between",
    "resolved",
    "resolved",
    "between",
  ]);
  expect(notifications.map(({ type }) => type)).toEqual(["alert.triggered", "alert.resolved"]);
  const payloads = receiver.received.map(({ headers, body }) =>
    new Webhook(secret).verify(body, headers as Record<string, string>),
  );
  const sent = payloads as { type: string; data: { values: JsonObject[]; window_end: string } }[];
  expect(new Set(sent.map(({ type }) => type))).toEqual(
    new Set(["alert.triggered", "alert.resolved"]),
  );
  const triggered = sent.find(({ type }) => type === "alert.triggered");
  expect(triggered?.data.values).toEqual([{ projection: "duration", value: 1500 }]);
  expect(Date.parse(triggered?.data.window_end ?? "")).toBe(nowHourMs - 6 * hourMs);
  const { data } = await project.ok(`GET /v1/alerts/${id}`);
  expect(data).toMatchObject({ state: "resolved" });
  await record("alert", `WorkflowType = 'evaluateAlert'`);
  await record("notification", `WorkflowType = 'deliverNotification'`);
  await record("check-alerts", `WorkflowType = 'checkAlerts' and ExecutionStatus = 'Completed'`);
}, 300_000);

test("a refused webhook is tried again under the same id", async () => {
  const project = await givenAMetricProject(service);
  await give(project, 0, [5_000]);
  const { id } = await make(project, {});
  receiver.answer(503);

  await check(project, id, 1);
  const notifications = await notificationsOf(project, id);

  expect(notifications).toMatchObject([
    { type: "alert.triggered", state: "delivered", attempts: [{ error: "status 503" }, {}] },
  ]);
  expect(receiver.received).toHaveLength(2);
  const [first, second] = receiver.received;
  expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
  expect(second?.body).toBe(first?.body);
  await record("notification-again", `WorkflowType = 'deliverNotification'`, notifications[0]?.id);
}, 300_000);

test("a webhook that is gone is given up", async () => {
  const project = await givenAMetricProject(service);
  await give(project, 0, [5_000]);
  const { id } = await make(project, {});
  receiver.answer(410);

  await check(project, id, 1);

  expect(await notificationsOf(project, id)).toMatchObject([
    { state: "failed", attempts: [{ error: "status 410" }] },
  ]);
  const counts = await workflows.metrics.registry.metrics();
  expect(counts).toMatch(/^waggle_notification_attempts_total\{result="failed"\} [1-9]/m);
}, 300_000);

test("a muted alert is checked and sends nothing; a small sample says nothing", async () => {
  const project = await givenAMetricProject(service);
  await give(project, 1, [5_000]);
  await give(project, 0, [5_000, 5_000]);
  const { id } = await make(project, { is_muted: true, minimum_sample_size: 2 });

  const checks = await check(project, id, 2);

  expect(checks).toMatchObject([
    { outcome: "insufficient", condition: "active", error: "1 events, and at least 2 are needed" },
    { outcome: "critical", condition: "triggered", sample_size: 2 },
  ]);
  expect(await notificationsOf(project, id)).toEqual([]);
  const { data } = await project.ok(`GET /v1/alerts/${id}`);
  expect(data).toMatchObject({ state: "muted", last_trigger: expect.any(String) as string });
}, 300_000);

test("an alert by event counts and names the events, and mails them", async () => {
  const project = await givenAMetricProject(service);
  await give(project, 1, [100, 2_000, 3_000]);
  await give(project, 0, [100]);
  const target = { channel: "EMAIL", metadata: { emails: ["ops@a.example"] } };
  const { id } = await make(project, {
    alert_type: "PER_EVENT",
    notification_details: { critical: target, resolved: target },
  });

  const checks = await check(project, id, 2);
  await notificationsOf(project, id);

  expect(checks).toMatchObject([
    { outcome: "critical", values: [{ value: 2, event_ids: ["h1-2\uE000", "h1-1\uE000"] }] },
    { outcome: "resolved", values: [{ value: 0, event_ids: [] }] },
  ]);
  expect(mail.mails.map(({ to }) => to)).toEqual([["ops@a.example"], ["ops@a.example"]]);
  expect(mail.mails[0]?.text).toContain("2 events with duration > 1000");
}, 300_000);

test("a drift is the change from the period before in percent", async () => {
  const project = await givenAMetricProject(service);
  for (const [hoursAgo, durations] of [
    [3, [100]],
    [2, [110]],
    [1, [220]],
  ] as const) {
    await give(project, hoursAgo, durations);
  }
  const { id } = await make(project, {
    alert_type: "DRIFT",
    thresholds: { critical: { operator: ">=", value: 50 } },
  });

  const checks = await check(project, id, 4);

  expect(checks.map(({ outcome }) => outcome)).toEqual([
    "insufficient",
    "resolved",
    "critical",
    "insufficient",
  ]);
  expect(checks[2]?.values[0]).toMatchObject({ value: 100, current: 220, baseline: 110 });
}, 300_000);

test("the count of nothing is 0, so that silence may be bad news", async () => {
  const project = await givenAMetricProject(service);
  const { id } = await make(project, {
    projections: ["event_count"],
    aggregation: "COUNT",
    filters: [],
    thresholds: { critical: { operator: "<", value: 1 } },
  });

  expect(await check(project, id, 1)).toMatchObject([
    { outcome: "critical", sample_size: 0, values: [{ value: 0 }] },
  ]);
}, 300_000);

test("a measure that cannot be had is a failed check that says why", async () => {
  const project = await givenAMetricProject(service);
  await give(project, 0, [5_000]);
  const { id } = await make(project, {});
  await service.database.sql()`
    update alerts set projections = '["metrics.absent"]'
    where project_id = ${project.projectId} and alert_id = ${id}`;

  expect(await check(project, id, 1)).toMatchObject([
    {
      outcome: "failed",
      condition: "active",
      error: expect.stringContaining("no event has a number in") as string,
    },
  ]);
}, 300_000);

test("a worker tells of a spent budget whose notification was not written", async () => {
  const project = await givenAMetricProject(service);
  const { database, url } = service;
  const headers = await withKey(database, project, { kind: "data_plane", root: "project" });
  const budgets = `${url}/v1/projects/${project.projectId}/budgets`;
  const critical = { channel: "WEBHOOK", metadata: { url: `${receiver.url}/budget` } };
  const budget = { amount: 1e-9, period: "MONTH", notification_details: { critical } };
  const body = JSON.stringify(budget);
  await fetch(budgets, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body,
  });
  // As if the process of the call had ended right after its commit. A sequence counts refused rows.
  await database.sql()`create sequence refusals`;
  await database.sql()`
    alter table notifications
    add constraint refused check (nextval('refusals') < 0) not valid`;
  await project.ok("POST /chat", {
    project: project.projectName,
    model: "openai/gpt-4o-mini",
    messages: [{ role: "user", content: "hi" }],
  });
  await vi.waitUntil(async () => {
    const [refusals] = await database.sql()`select from refusals where is_called`;
    return refusals !== undefined;
  }, patience);
  await database.sql()`alter table notifications drop constraint refused`;
  const listed = (await (await fetch(budgets, { headers })).json()) as { data: JsonObject[] };

  const clusters = openTestClusters(database);
  const other = await startWorker(
    { target: targetOf(workflows.temporal), database, clusters },
    flags,
  );
  await vi.waitUntil(() => receiver.received.length > 0, patience);
  await other.stop();

  expect(listed.data).toMatchObject([{ state: "exhausted", calls: 1 }]);
  expect(receiver.received).toMatchObject([{ path: "/budget" }]);
  expect(JSON.parse(receiver.received[0]?.body ?? "")).toMatchObject({
    type: "budget.exhausted",
    data: { spent: listed.data[0]?.["spent"], calls: 1 },
  });
});
