// Alerts over the whole service: their fields, faults, test notifications, and what stays secret.
// Source: docs/alerts.md; docs/decisions.md, 48.1 to 48.3.

import { Webhook } from "standardwebhooks";
import { expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { givenStarted } from "../support/given.ts";
import { anAlert, encryptionKeyFlag, startMailReceiver, startReceiver } from "../support/alerts.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { patience } from "../support/patience.ts";
import { startService } from "../support/service.ts";
import { withKey } from "../support/tenants.ts";
import { nowhere } from "./access-rows.ts";

const receiver = givenStarted(startReceiver);
const mail = givenStarted(startMailReceiver);
const service = givenStarted(() =>
  startService({
    "encryption-keys": encryptionKeyFlag,
    "webhook-private-hosts": receiver.host,
    "smtp-url": mail.url,
    "smtp-from": "Waggle <alerts@waggle.example>",
  }),
);

type Alert = Readonly<Record<string, unknown>> & { readonly id: string };

async function create(project: MetricProject, body: JsonObject) {
  const { data, signing_secret: secret } = await project.ok("POST /v1/alerts", body);
  return { alert: data as Alert, secret: secret as string | null };
}

test("an alert has every field, under both kinds of keys and on both paths", async () => {
  const project = await givenAMetricProject(service);
  const dataPlane = await withKey(service.database, project, {
    kind: "data_plane",
    root: "project",
  });
  const { alert, secret } = await create(project, anAlert(`${receiver.url}/hook`));

  const response = await fetch(`${service.url}/v1/projects/${project.projectId}/alerts`, {
    headers: dataPlane,
  });

  const filters = [{ field: "event_type", operator: "is", value: "model", type: "string" }];
  const critical = { channel: "WEBHOOK", metadata: { url: `${receiver.url}/…` }, user_ids: [] };
  const want = {
    id: alert.id,
    name: "slow models",
    description: null,
    alert_type: "AGGREGATE",
    aggregation: "AVERAGE",
    filters,
    event_filters: filters,
    projections: ["duration"],
    event_metrics: ["duration"],
    frequency: "HOURLY",
    minimum_sample_size: 0,
    thresholds: { critical: { operator: "greater_than", value: 1000 } },
    notification_details: { critical },
    is_active: true,
    is_muted: false,
    state: "active",
    last_result: null,
    last_run_at: null,
    last_trigger: null,
    updated_at: null,
  };
  expect(alert).toMatchObject(want);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  expect((await response.json()) as JsonObject).toMatchObject({ success: true, data: [want] });
  const next = Date.parse(alert["next_window_end"] as string);
  expect(next % 3_600_000).toBe(0);
  expect(next).toBeGreaterThan(Date.now());
});

test("a change keeps what it does not name, and says which of both switches is off", async () => {
  const project = await givenAMetricProject(service);
  const { alert } = await create(project, anAlert(receiver.url));
  const patch = (body: JsonObject) => project.ok(`PATCH /v1/alerts/${alert.id}`, body);

  const muted = await patch({ is_muted: true, description: "of the gateway" });
  const paused = await patch({ is_active: false });
  const renewed = await patch({ is_active: true, is_muted: false, rotate_signing_secret: true });

  expect(muted["data"]).toMatchObject({ state: "muted", name: "slow models" });
  expect(muted["signing_secret"]).toBeNull();
  expect(paused["data"]).toMatchObject({ state: "paused", is_muted: true });
  expect(renewed["data"]).toMatchObject({ state: "active", description: "of the gateway" });
  expect(renewed["signing_secret"]).toMatch(/^whsec_/);
  const rows = await service.database.sql()`
    select action from audit_log where target_id = ${alert.id} order by sequence`;
  expect(rows.map(({ action }) => action as string)).toEqual([
    "alert.create",
    ...Array.from({ length: 3 }, () => "alert.update"),
  ]);
});

test("no new signing secret is made where nothing is signed", async () => {
  const project = await givenAMetricProject(service);
  const critical = { channel: "SLACK", metadata: { url: `${receiver.url}/slack` } };
  const body = anAlert(receiver.url, { notification_details: { critical } });
  const { alert } = await create(project, body);

  const change = { rotate_signing_secret: true };
  const { status, json } = await project.call(`PATCH /v1/alerts/${alert.id}`, change);

  const message = "rotate_signing_secret: no target is a signed webhook";
  expect({ status, message: json["message"] }).toEqual({ status: 400, message });
});

test.each(["WEBHOOK", "SLACK"])("only another path of a %s has an audit row", async (channel) => {
  const project = await givenAMetricProject(service);
  const to = (name: string) => ({
    critical: { channel, metadata: { url: `${receiver.url}/${name}` } },
  });
  const body = anAlert(receiver.url, { notification_details: to("one") });
  const { alert } = await create(project, body);
  const path = `PATCH /v1/alerts/${alert.id}`;
  const countRows = async () =>
    (await service.database.sql()`select from audit_log where target_id = ${alert.id}`).length;

  await project.ok(path, { name: alert["name"] });
  await project.ok(path, { notification_details: to("one") });
  const same = await countRows();
  await project.ok(path, { notification_details: to("two") });

  expect([same, await countRows()]).toEqual([1, 2]);
});

test("an empty list ends the filters of an alert, and its measures cannot be ended", async () => {
  const project = await givenAMetricProject(service);
  const { alert } = await create(project, anAlert(receiver.url));
  const path = `PATCH /v1/alerts/${alert.id}`;

  const kept = await project.ok(path, { description: "x" });
  const ended = await project.ok(path, { filters: [] });
  const refused = await project.call(path, { projections: [] });

  expect(kept["data"]).toMatchObject({ filters: [{ field: "event_type" }] });
  expect(ended["data"]).toMatchObject({ filters: [], projections: ["duration"] });
  expect([refused.status, refused.json["message"]]).toEqual([
    400,
    "projections: must name a measure",
  ]);
});

test.each<{ name: string; change: JsonObject; field: string }>([
  { name: "no name", change: { name: " " }, field: "name" },
  { name: "an unknown key", change: { frequncy: "DAILY" }, field: "frequncy" },
  {
    name: "an unknown key of a threshold",
    change: { thresholds: { critical: { operator: ">", value: 1, percent: true } } },
    field: "thresholds.critical.percent",
  },
  {
    name: "an unknown key of a target",
    change: { notification_details: { critical: { channel: "WEBHOOK", url: nowhere } } },
    field: "notification_details.critical.url",
  },
  { name: "another type", change: { alert_type: "SUDDEN" }, field: "alert_type" },
  { name: "another aggregation", change: { aggregation: "P42" }, field: "aggregation" },
  { name: "another frequency", change: { frequency: "YEARLY" }, field: "frequency" },
  { name: "no measure", change: { projections: [] }, field: "projections" },
  { name: "a measure twice", change: { projections: ["cost", "cost"] }, field: "projections" },
  {
    name: "a measure that no event has",
    change: { projections: ["cost", "metrics.absent"] },
    field: "projections[1]",
  },
  {
    name: "a filter on a field that no event has",
    change: { filters: [{ field: "metadata.absent", operator: "is", value: 1 }] },
    field: "metadata.absent",
  },
  {
    name: "the average of the number of events",
    change: { projections: ["event_count"] },
    field: "aggregation",
  },
  { name: "no threshold", change: { thresholds: {} }, field: "thresholds.critical" },
  {
    name: "another operator",
    change: { thresholds: { critical: { operator: "!=", value: 1 } } },
    field: "thresholds.critical.operator",
  },
  {
    name: "no value",
    change: { thresholds: { critical: { operator: ">" } } },
    field: "thresholds.critical.value",
  },
  ...[
    { critical: { operator: ">", value: 5 }, resolved: { operator: ">", value: 10 } },
    { critical: { operator: "<=", value: 5 }, resolved: { operator: "<", value: 5 } },
  ].map((thresholds) => ({
    name: `an end that only critical values meet, ${JSON.stringify(thresholds.resolved)},`,
    change: { thresholds },
    field: "thresholds.resolved",
  })),
  {
    name: "a sample below nothing",
    change: { minimum_sample_size: -1 },
    field: "minimum_sample_size",
  },
  {
    name: "no target",
    change: { notification_details: {} },
    field: "notification_details.critical",
  },
  ...[
    { channel: "PIGEON", metadata: {}, field: "channel" },
    { channel: "WEBHOOK", metadata: {}, field: "metadata.url" },
    { channel: "WEBHOOK", metadata: { url: "ftp://a.example" }, field: "metadata.url" },
    { channel: "SLACK", metadata: { url: "https://a.example/…" }, field: "metadata.url" },
    { channel: "WEBHOOK", metadata: { url: "https://u:p@a.example" }, field: "metadata.url" },
    { channel: "WEBHOOK", metadata: { url: "http://127.0.0.1:1/" }, field: "metadata.url" },
    { channel: "SLACK", metadata: { url: "http://169.254.169.254/" }, field: "metadata.url" },
    {
      channel: "EMAIL",
      metadata: { emails: ["a@b.example, c@d.example"] },
      field: "metadata.emails[0]",
    },
    { channel: "EMAIL", metadata: { emails: [] }, field: "metadata.emails" },
    {
      channel: "EMAIL",
      metadata: {},
      field: "user_ids[0]",
      user_ids: ["00000000-0000-4000-8000-000000000000"],
    },
  ].map(({ field, ...critical }) => ({
    name: `${critical.channel} to ${JSON.stringify(critical.metadata)}`,
    change: { notification_details: { critical } },
    field: `notification_details.critical.${field}`,
  })),
])("$name is a 400 that names $field", async ({ change, field }) => {
  const project = await givenAMetricProject(service);

  const { status, json } = await project.call("POST /v1/alerts", anAlert(receiver.url, change));

  expect({ status, json }).toMatchObject({ status: 400 });
  expect(JSON.stringify(json)).toContain(`${field}: `);
});

test("an alert of another project is a 404, and no UUID too", async () => {
  const project = await givenAMetricProject(service);
  const other = await givenAMetricProject(service);
  const { alert } = await create(other, anAlert(receiver.url));

  expect((await project.call(`GET /v1/alerts/${alert.id}`)).status).toBe(404);
  expect((await project.call(`POST /v1/alerts/${alert.id}/test`, {})).status).toBe(404);
  expect((await project.call(`GET /v1/alerts/${alert.id}/evaluations`)).status).toBe(404);
  expect((await project.call("GET /v1/alerts/x/notifications")).status).toBe(404);
});

test("checks are listed before any time that a cursor says", async () => {
  const project = await givenAMetricProject(service);
  const { alert } = await create(project, anAlert(receiver.url));

  for (const timeMs of [1, 8.64e15 + 1, Number.MAX_SAFE_INTEGER]) {
    const cursor = Buffer.from(`alert-evaluations:${timeMs}`).toString("base64url");
    const list = await project.call(`GET /v1/alerts/${alert.id}/evaluations?cursor=${cursor}`);
    expect(list).toMatchObject({ status: 200, json: { data: [] } });
  }
});

test("a test call sends a webhook that the published library verifies", async () => {
  const project = await givenAMetricProject(service);
  const { alert, secret } = await create(project, anAlert(`${receiver.url}/of-${Date.now()}?a=b`));
  receiver.received.length = 0;

  const answer = await project.ok(`POST /v1/alerts/${alert.id}/test`, {});

  const [{ headers, body, path } = { headers: {}, body: "", path: "" }] = receiver.received;
  const signed = headers as Record<string, string>;
  expect(new Webhook(secret ?? "").verify(body, signed)).toMatchObject({
    type: "alert.test",
    data: { alert: { id: alert.id }, project: { id: project.projectId } },
  });
  expect(path).toMatch(/^\/of-\d+\?a=b$/);
  expect(answer).toMatchObject({
    success: true,
    data: { id: signed["webhook-id"], type: "alert.test", state: "delivered", channel: "WEBHOOK" },
  });
  const { data } = await project.ok(`GET /v1/alerts/${alert.id}/notifications`);
  expect(data).toMatchObject([{ state: "delivered", attempts: [{ error: null }] }]);
});

test.each([
  { statuses: [500], error: "status 500" },
  { statuses: [302], error: "status 302; redirects are not followed" },
])("a test call that fails says $error, and is not repeated", async ({ statuses, error }) => {
  const project = await givenAMetricProject(service);
  const { alert } = await create(project, anAlert(receiver.url));
  receiver.received.length = 0;
  receiver.answer(...statuses);

  const answer = await project.ok(`POST /v1/alerts/${alert.id}/test`, { kind: "critical" });

  expect(answer).toMatchObject({
    success: false,
    data: { state: "failed", attempts: [{ error }], delivered_at: null },
  });
  expect(receiver.received).toHaveLength(1);
});

test("only so many tests an hour, also of alerts that are made anew", async () => {
  const project = await givenAMetricProject(service);
  const { alert } = await create(project, anAlert(receiver.url));
  const test = () => project.call(`POST /v1/alerts/${alert.id}/test`, {});

  const missing = await project.call(`POST /v1/alerts/${alert.id}/test`, { kind: "resolved" });
  const answers = await Promise.all(Array.from({ length: 20 }, test));
  const last = await test();
  await project.ok(`DELETE /v1/alerts/${alert.id}`);
  const { alert: another } = await create(project, anAlert(receiver.url));
  const anew = await project.call(`POST /v1/alerts/${another.id}/test`, {});

  expect(missing).toMatchObject({ status: 400 });
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(last).toMatchObject({
    status: 429,
    text: expect.stringContaining("wait a while") as string,
  });
  expect(anew).toMatchObject({ status: 429 });
});

test("a test that finds no place is a 503, and no notification waits for ever", async () => {
  const project = await givenAMetricProject(service);
  const { alert } = await create(project, anAlert(receiver.url));
  const test = () => project.call(`POST /v1/alerts/${alert.id}/test`, {});
  receiver.answer(0, 0, 0, 0);
  const before = receiver.received.length;

  const hanging = [test(), test(), test(), test()];
  await vi.waitUntil(() => receiver.received.length === before + 4, patience);
  const refused = await test();

  expect(refused).toMatchObject({ status: 503 });
  const tested = await Promise.all(hanging);
  expect(tested.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const { data } = await project.ok(`GET /v1/alerts/${alert.id}/notifications`);
  expect((data as JsonObject[]).map(({ state }) => state)).toEqual(tested.map(() => "failed"));
});

test("an address is sealed and shown by its origin only", async () => {
  const project = await givenAMetricProject(service);
  const target = (path: string) => ({ channel: "SLACK", metadata: { url: receiver.url + path } });
  const webhook = { channel: "WEBHOOK", metadata: { url: `${receiver.url}/secret-three` } };
  const details = { critical: target("/T0/secret-one"), resolved: target("/T0/secret-two") };
  const { alert, secret } = await create(project, {
    ...anAlert(receiver.url, { notification_details: details }),
  });
  receiver.received.length = 0;

  await project.ok(`POST /v1/alerts/${alert.id}/test`, { kind: "resolved" });

  expect(secret).toBeNull();
  expect(alert).toMatchObject({
    notification_details: { critical: { metadata: { url: `${receiver.url}/…` } } },
  });
  expect(receiver.received).toMatchObject([{ path: "/T0/secret-two" }]);
  expect(JSON.parse(receiver.received[0]?.body ?? "")).toEqual({
    text: expect.stringMatching(/^\*Test: slow models/) as string,
  });
  await project.ok(`PUT /v1/alerts/${alert.id}`, { notification_details: { critical: webhook } });
  const { data } = await project.ok(`GET /v1/alerts/${alert.id}`);
  const stored = await service.database.sql()`
    select (select json_agg(t) from notification_targets as t)::text
      || (select json_agg(t) from audit_log as t)::text as text`;
  expect(JSON.stringify([data, stored])).not.toContain("secret-");
});

test("a mail goes to addresses and to members, through the operator's server", async () => {
  const project = await givenAMetricProject(service);
  const sql = service.database.sql();
  const [user] = await sql<{ id: string }[]>`
    insert into users (user_id, email) values (gen_random_uuid(), ${`m-${Date.now()}@a.example`})
    returning user_id as id`;
  const { id } = user ?? { id: "" };
  await sql`
    insert into memberships (user_id, level, scope_id, role, created_by)
    values (${id}, 'project', ${project.projectId}, 'project_viewer', 'test')`;
  const toMail = (emails: string[]) => ({
    critical: { channel: "EMAIL", metadata: { emails }, user_ids: [id] },
  });
  const { alert } = await create(
    project,
    anAlert(receiver.url, { notification_details: toMail(["ops@a.example"]) }),
  );
  mail.mails.length = 0;

  const sent = await project.ok(`POST /v1/alerts/${alert.id}/test`, {});
  await project.ok(`PUT /v1/alerts/${alert.id}`, {
    notification_details: toMail(["x@refused.example"]),
  });
  await sql`delete from memberships where user_id = ${id}`;
  const refused = await project.ok(`POST /v1/alerts/${alert.id}/test`, {});

  expect(sent).toMatchObject({ success: true });
  expect(mail.mails).toHaveLength(1);
  expect(mail.mails[0]?.to[0]).toBe("ops@a.example");
  expect(mail.mails[0]?.to[1]).toMatch(/^m-\d+@a.example$/);
  expect(mail.mails[0]?.text).toMatch(/^From: Waggle <alerts@waggle.example>/m);
  expect(mail.mails[0]?.text).toMatch(/^Subject: Test: slow models/m);
  expect(refused).toMatchObject({
    success: false,
    data: { attempts: [{ error: expect.stringContaining("status 550") as string }] },
  });
  expect(JSON.stringify(refused)).not.toContain("secret");
});
