// Masking over the whole service: what a project's rules mean is in no column of any table,
// whichever way it came. Source: docs/masking.md; docs/decisions.md, 51.1.

import { expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import { callRoute } from "../support/call-route.ts";
import { providersOf } from "../support/chats.ts";
import { everyTable, findIn, formsOf } from "../support/every-table.ts";
import { givenStarted } from "../support/given.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { startService } from "../support/service.ts";
import { withKey } from "../support/tenants.ts";

const standIn = givenStarted(startOpenAiStandIn);
const service = givenStarted(() => startService({ providers: providersOf(standIn) }));

/** A project, and calls of its masking by a data plane key. */
async function givenAMaskedProject(rules: readonly object[] = []) {
  const project = await givenAMetricProject(service);
  const options = { kind: "data_plane", root: "project" } as const;
  const headers = await withKey(service.database, project, options);
  const path = `/v1/projects/${project.projectId}/masking`;
  const masking = (method: string, body?: object, more = "") =>
    callRoute({ url: service.url, headers }, `${method} ${path}${more}`, body);
  if (rules.length > 0) expect((await masking("PUT", { rules })).status).toBe(200);
  return { project, masking };
}

const model = "openai/echo";

type Send = (route: string, body: unknown) => Promise<Record<string, unknown>>;

/** Sends a text by every call that stores what a program sends. */
async function sendEverywhere(project: MetricProject, text: string): Promise<string> {
  const ok: Send = (route, body) => project.ok(route, body);
  const { projectName } = project;
  const event = { event_type: "tool", event_name: text, source: "test", inputs: { text } };
  const messages = [{ role: "user", content: text }];
  const { event_id } = await ok("POST /events", { event: { ...event, error: text } });
  await ok("PUT /events", { event_id, outputs: { text }, metadata: { list: [[text]] } });
  await ok("PUT /events", { event_id: createUuid(), outputs: { text } });
  await ok("POST /events/batch", { events: [{ ...event, user_properties: { text } }] });
  await ok("POST /events/model", {
    model_event: { model, provider: "openai", messages, response: messages[0], duration: 1 },
  });
  const { session_id } = await ok("POST /session/start", {
    session: { session_name: text, source: "test", inputs: { text } },
  });
  await ok(`PUT /session/${String(session_id)}`, {
    error: text,
    output: { text },
    feedback: { text },
  });
  await sendTelemetry(ok, text);
  await ok("POST /chat", { project: projectName, model, messages });
  await ok("POST /v1/chat/completions", { model, messages });
  const generation = await ok("POST /events", { event: { ...event, event_type: "model" } });
  await ok("POST /feedback", {
    generation_id: generation["event_id"],
    task: text,
    ground_truth: text,
    feedback_json: { text },
  });
  return String(event_id);
}

async function sendTelemetry(ok: Send, text: string): Promise<void> {
  const ids = { traceId: createUuid().replaceAll("-", ""), spanId: "b7ad6b7169203331" };
  const attributes = [
    { key: "gen_ai.operation.name", value: { stringValue: "chat" } },
    { key: "gen_ai.prompt.0.content", value: { stringValue: text } },
    { key: "note", value: { stringValue: text } },
  ];
  const times = {
    startTimeUnixNano: "1760000000000000000",
    endTimeUnixNano: "1760000001000000000",
  };
  const events = [{ name: text, timeUnixNano: times.endTimeUnixNano, attributes }];
  const span = { ...ids, ...times, name: text, attributes, events };
  await ok("POST /v1/traces", { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
  const body = {
    kvlistValue: { values: [{ key: "content", value: { stringValue: text } }] },
  };
  const record = { ...ids, timeUnixNano: times.endTimeUnixNano, eventName: "gen_ai.user.message" };
  await ok("POST /v1/logs", {
    resourceLogs: [{ scopeLogs: [{ logRecords: [{ ...record, body }] }] }],
  });
}

const needle = "jane.doe@secret.example";
const text = `write to ${needle} at once`;

test("what the rules mean is in no column of any table, whichever way it came", async () => {
  const { project } = await givenAMaskedProject([{ detector: "email" }]);

  const eventId = await sendEverywhere(project, text);

  expect(findIn(await everyTable(service.database), formsOf(needle))).toEqual([]);
  const { event } = await project.ok(`GET /v1/events/${eventId}`);
  expect(event).toMatchObject({
    event_name: "write to [email] at once",
    error: "write to [email] at once",
    inputs: { text: "write to [email] at once" },
    outputs: { text: "write to [email] at once" },
    metadata: { list: [["write to [email] at once"]] },
  });
});

test("without rules everything is stored as it came, so the test above can fail", async () => {
  const { project } = await givenAMaskedProject();
  const other = "jane.doe@other.example";

  await sendEverywhere(project, other);

  const found = findIn(await everyTable(service.database), formsOf(other));
  expect(found.some((table) => table.startsWith("events"))).toBe(true);
  expect(found).toContain("feedback");
});

test("keys have their values replaced, and the model gets what the caller wrote", async () => {
  const rules = [{ key: "ssn", replacement: "***" }, { pattern: "EMP-[0-9]+" }];
  const { project } = await givenAMaskedProject(rules);
  standIn.clear();

  const { event_id } = await project.ok("POST /v1/chat/completions", {
    model,
    messages: [{ role: "user", content: "EMP-1" }],
  });
  const { events } = await project.ok("POST /v1/events/search", { filters: [] });

  expect(event_id).toBeUndefined();
  expect(standIn.requests.at(-1)?.text).toContain("EMP-1");
  expect(JSON.stringify(events)).not.toContain("EMP-1");
  expect(JSON.stringify(events)).toContain("[masked]");
  const event = { event_type: "tool", event_name: "a", source: "test" };
  const inputs = { user: { SSN: 5 }, arguments: '{"ssn":"x","n":1}' };
  const created = await project.ok("POST /events", { event: { ...event, inputs } });
  const read = await project.ok(`GET /v1/events/${String(created["event_id"])}`);
  expect(read["event"]).toMatchObject({
    inputs: { user: { SSN: "***" }, arguments: '{"ssn":"***","n":1}' },
  });
});

test("rules are read, replaced as a whole and ended, with an audit row each", async () => {
  const { project, masking } = await givenAMaskedProject();
  expect((await masking("GET")).json).toEqual({
    success: true,
    data: { rules: [], updated_at: null },
  });
  await masking("PUT", { rules: [{ detector: "email" }, { key: "a" }] });

  const put = await masking("PUT", { rules: [{ pattern: "b+", replacement: "" }] });
  const same = await masking("PUT", { rules: [{ replacement: "", pattern: "b+" }] });
  const got = await masking("GET");
  const ended = await masking("DELETE");
  const again = await masking("DELETE");

  expect(put.json["data"]).toMatchObject({ rules: [{ pattern: "b+", replacement: "" }] });
  expect(got.json).toEqual(put.json);
  expect([same.status, ended.status, again.status]).toEqual([200, 200, 200]);
  expect(ended.json["data"]).toMatchObject({ rules: [] });
  const rows = await service.database.sql()<{ action: string }[]>`
    select action from audit_log where target_id = ${project.projectId} order by sequence`;
  expect(rows.map(({ action }) => action)).toEqual([
    "masking.put",
    "masking.put",
    "masking.delete",
  ]);
});

test("a preview masks any JSON by given or stored rules, and stores nothing", async () => {
  const { masking } = await givenAMaskedProject([{ detector: "email" }]);
  const sample = { a: [needle, 1, null, true], b: `${needle} EMP-7` };

  const stored = await masking("POST", { sample }, "/preview");
  const given = await masking("POST", { sample, rules: [{ pattern: "EMP-7" }] }, "/preview");

  expect(stored.json["data"]).toEqual({
    sample: { a: ["[email]", 1, null, true], b: "[email] EMP-7" },
    replaced: 2,
  });
  expect(given.json["data"]).toEqual({
    sample: { ...sample, b: `${needle} [masked]` },
    replaced: 1,
  });
});

test.each([
  ["PUT", "", {}, "rules: is empty; DELETE ends the masking"],
  ["PUT", "", { rules: [] }, "rules: is empty; DELETE ends the masking"],
  ["PUT", "", { rules: [{ detector: "name" }] }, "rules[0].detector: must be one of email"],
  [
    "PUT",
    "",
    { rules: [{ pattern: "(" }] },
    "rules[0].pattern: must be a regular expression of RE2",
  ],
  ["POST", "/preview", { rules: [{ key: "a" }] }, "sample: is required"],
])("%s%s of %j is a 400 that says what is wrong", async (method, more, body, fault) => {
  const { masking } = await givenAMaskedProject();

  const { status, text } = await masking(method, body, more);

  expect(status).toBe(400);
  expect(text).toContain(fault);
});
