// Budgets over the whole service: calls of models under a budget of the project and of a key.
// Source: docs/budgets.md; docs/decisions.md, 49.1.

import OpenAI from "openai";
import { expect, test, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { givenStarted } from "../support/given.ts";
import { encryptionKeyFlag } from "../support/alerts.ts";
import { providersOf } from "../support/chats.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { startService } from "../support/service.ts";
import { addKey, withKey } from "../support/tenants.ts";
import { nowhere } from "./access-rows.ts";
import { patience } from "../support/patience.ts";

const standIn = givenStarted(startOpenAiStandIn);
const service = givenStarted(() =>
  startService({
    providers: providersOf(standIn),
    "encryption-keys": encryptionKeyFlag,
    "webhook-private-hosts": new URL(nowhere).host,
  }),
);

type Answer = { readonly status: number; readonly json: JsonObject; readonly retryAfter: string };

/** A project, with calls of its budgets by a data plane key and of a model by any key. */
async function givenAProject() {
  const project = await givenAMetricProject(service);
  const options = { kind: "data_plane", root: "project" } as const;
  const credential = await withKey(service.database, project, options);
  const path = `${service.url}/v1/projects/${project.projectId}/budgets`;

  async function send(
    url: string,
    method: string,
    headers: object,
    body?: object,
  ): Promise<Answer> {
    const response = await fetch(url, {
      method,
      headers: { ...headers, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const json = (await response.json()) as JsonObject;
    return { status: response.status, json, retryAfter: response.headers.get("retry-after") ?? "" };
  }

  return {
    project,
    budgets: (method: string, id = "", body?: object) => send(path + id, method, credential, body),
    create: async (body: object): Promise<string> => {
      const { status, json } = await send(path, "POST", credential, body);
      expect({ status, json }).toMatchObject({ status: 200 });
      return (json["data"] as { id: string }).id;
    },
    get: async (id: string): Promise<JsonObject> =>
      (await send(`${path}/${id}`, "GET", credential)).json["data"] as JsonObject,
    chat: (model = "openai/gpt-4o-mini", key = project.key, headers: object = {}) =>
      send(
        `${service.url}/chat`,
        "POST",
        { authorization: `Bearer ${key}`, ...headers },
        { project: project.projectName, model, messages: [{ role: "user", content: "hi" }] },
      ),
  };
}

async function costOfOneCall(): Promise<number> {
  const { chat } = await givenAProject();
  const { json } = await chat();
  return json["cost"] as number;
}

/** Returns the types of the notifications of a project that were asked for. */
async function toldOf({ projectId }: MetricProject): Promise<readonly string[]> {
  const rows = await service.database.sql()<{ type: string }[]>`
    select type from notifications
    join outbox on outbox.workflow_id like '%' || notification_id
    where project_id = ${projectId} order by notifications.created_at`;
  return rows.map(({ type }) => type);
}

test("a budget counts calls, tells of 80 % and of 100 %, and refuses the next call", async () => {
  const cost = await costOfOneCall();
  const { project, create, get, chat } = await givenAProject();
  const critical = { channel: "WEBHOOK", metadata: { url: nowhere } };
  const amount = cost * 2.2;
  const id = await create({ amount, period: "DAY", notification_details: { critical } });

  const statuses = [(await chat()).status];
  const first = await get(id);
  statuses.push((await chat()).status);
  const second = await get(id);
  statuses.push((await chat()).status);
  const third = await get(id);
  const refused = await chat();

  expect(cost).toBeGreaterThan(0);
  expect(statuses).toEqual([200, 200, 200]);
  expect([first, second, third]).toMatchObject([
    { spent: expect.closeTo(cost, 12) as number, calls: 1, state: "ok", unpriced_calls: 0 },
    { spent: expect.closeTo(2 * cost, 12) as number, calls: 2, state: "warning" },
    { spent: expect.closeTo(3 * cost, 12) as number, calls: 3, state: "exhausted" },
  ]);
  expect(refused).toMatchObject({ status: 429, json: { errorCode: "BUDGET_EXHAUSTED" } });
  expect(refused.json["message"]).toMatch(
    /^the budget of the project of \$[\d.e-]+ a day is spent/,
  );
  expect(Number(refused.retryAfter)).toBeGreaterThan(0);
  expect(Number(refused.retryAfter)).toBeLessThanOrEqual(86_400);
  await vi.waitUntil(async () => (await toldOf(project)).length === 2, patience);
  expect(await toldOf(project)).toEqual(["budget.warning", "budget.exhausted"]);
  const { totalEvents } = await project.ok("POST /v1/events/export", {
    filters: [{ field: "event_type", operator: "is", value: "model" }],
  });
  expect(totalEvents).toBe(3);
});

test("a call that spends all at once is told of once; the log has each notification", async () => {
  const { project, budgets, create, chat } = await givenAProject();
  const critical = { channel: "WEBHOOK", metadata: { url: nowhere } };
  const body = { amount: 1e-9, period: "DAY", notification_details: { critical } };
  const id = await create(body);
  const log = async (query = "") => (await budgets("GET", `/${id}/notifications${query}`)).json;
  expect(await log()).toEqual({ success: true, data: [] });

  const tested = await budgets("POST", `/${id}/test`, {});
  await chat();
  await vi.waitUntil(async () => (await toldOf(project)).length === 1, patience);
  const first = await log("?limit=1");
  const second = await log(`?limit=1&cursor=${first["next_cursor"] as string}`);

  expect(await toldOf(project)).toEqual(["budget.exhausted"]);
  expect(tested).toMatchObject({ status: 200, json: { success: false } });
  const refused = { at: expect.any(String) as string, error: expect.any(String) as string };
  expect(first["data"]).toMatchObject([{ type: "budget.exhausted", channel: "WEBHOOK" }]);
  expect(second).toMatchObject({
    data: [{ type: "budget.test", state: "failed", attempts: [refused], delivered_at: null }],
  });
  expect(second["data"]).toEqual([tested.json["data"]]);
  expect(second).not.toHaveProperty("next_cursor");
});

test("a budget whose targets are taken away keeps its log, and takes others", async () => {
  const { budgets, create, get } = await givenAProject();
  const critical = { channel: "WEBHOOK", metadata: { url: nowhere } };
  const id = await create({ amount: 1, period: "DAY", notification_details: { critical } });
  await budgets("POST", `/${id}/test`, {});

  const emptied = await budgets("PATCH", `/${id}`, { notification_details: {} });

  expect(emptied).toMatchObject({ status: 200 });
  expect((await get(id))["notification_details"]).toBeNull();
  expect(await budgets("POST", `/${id}/test`, {})).toMatchObject({ status: 400 });
  const { json } = await budgets("GET", `/${id}/notifications`);
  expect(json["data"]).toMatchObject([{ type: "budget.test", state: "failed" }]);
  const rotated = await budgets("PATCH", `/${id}`, { rotate_signing_secret: true });
  expect(rotated).toMatchObject({ status: 400 });
  const given = await budgets("PATCH", `/${id}`, { notification_details: { critical } });
  expect(given).toMatchObject({
    status: 200,
    json: {
      data: { notification_details: { critical: { channel: "WEBHOOK" } } },
      signing_secret: expect.stringMatching(/^whsec_/) as string,
    },
  });
});

test("the audit log says whom a budget tells before and after each change", async () => {
  const { budgets, create } = await givenAProject();
  const to = (channel: string) => ({ critical: { channel, metadata: { url: nowhere } } });
  const id = await create({ amount: 1, period: "DAY", notification_details: to("SLACK") });

  await budgets("PATCH", `/${id}`, { notification_details: to("WEBHOOK") });
  await budgets("PATCH", `/${id}`, { rotate_signing_secret: true });
  await budgets("PATCH", `/${id}`, { notification_details: {} });
  await budgets("DELETE", `/${id}`);

  const rows = await service.database.sql()<{ before: JsonObject; after: JsonObject }[]>`
    select before, after from audit_log where target_id = ${id} order by sequence`;
  const by = (channel: string) => ({ amount: 1, targets: { critical: { channel } } });
  expect(rows).toMatchObject([
    { before: null, after: by("SLACK") },
    { before: by("SLACK"), after: { ...by("WEBHOOK"), signing_secret: "new" } },
    { before: by("WEBHOOK"), after: { ...by("WEBHOOK"), signing_secret: "new" } },
    { before: by("WEBHOOK"), after: { amount: 1, targets: null } },
    { before: { amount: 1, period: "DAY", targets: null }, after: null },
  ]);
});

test("a test without a target is a 400, and the log of an absent budget a 404", async () => {
  const { budgets, create } = await givenAProject();
  const id = await create({ amount: 1, period: "DAY" });
  const absent = "/00000000-0000-4000-8000-000000000000";

  const tested = await budgets("POST", `/${id}/test`, {});
  const statuses = await Promise.all(
    [`${absent}/notifications`, "/x/notifications", `/${id}/notifications?limit=0`].map(
      async (path) => (await budgets("GET", path)).status,
    ),
  );

  expect(tested).toMatchObject({ status: 400, json: { errorCode: "INVALID_ARGUMENT" } });
  expect(statuses).toEqual([404, 404, 400]);
});

test("a raised budget admits calls again; an inactive one neither counts nor refuses", async () => {
  const { budgets, create, get, chat } = await givenAProject();
  const id = await create({ amount: 1e-9, period: "MONTH" });
  const before = [(await chat()).status, (await chat()).status];

  await budgets("PATCH", `/${id}`, { amount: 1 });
  const raised = await chat();
  await budgets("PATCH", `/${id}`, { amount: 1e-9, is_active: false });
  const inactive = await chat();

  expect(before).toEqual([200, 429]);
  expect([raised.status, inactive.status]).toEqual([200, 200]);
  expect(await get(id)).toMatchObject({ calls: 2, state: "exhausted", is_active: false });
  await budgets("DELETE", `/${id}`);
  expect((await budgets("GET", `/${id}`)).status).toBe(404);
  expect((await chat()).status).toBe(200);
});

test("the budget of a key refuses that key alone, as OpenAI's errors too", async () => {
  const { project, create, chat } = await givenAProject();
  const options = { kind: "project", root: "project" } as const;
  const { keyId, secret } = await addKey(service.database, project, options);
  await create({ amount: 1e-9, period: "MONTH", key_id: keyId });
  let requests = 0;
  // With the client's own retries, which the answer forbids.
  const client = new OpenAI({
    apiKey: secret,
    baseURL: `${service.url}/v1`,
    fetch(url, init) {
      requests += 1;
      return fetch(url, init);
    },
  });

  const first = await chat("openai/gpt-4o-mini", secret);
  const proxied = client.chat.completions.create({
    model: "openai/gpt-4o-mini",
    messages: [{ role: "user", content: "hi" }],
  });

  expect(first.status).toBe(200);
  await expect(proxied).rejects.toMatchObject({
    status: 429,
    // As OpenAI's API answers when a quota is spent.
    type: "insufficient_quota",
    code: "insufficient_quota",
    message: expect.stringMatching(
      /^429 the budget of this key of \$\S+ a month is spent .* renews at \d{4}-\d\d-01T00:00:00/,
    ) as string,
  });
  await expect(proxied).rejects.toThrow(/PATCH \/v1\/projects\/\S{36}\/budgets\/\S{36}, or /);
  expect(requests).toBe(1);
  expect((await chat()).status).toBe(200);
});

test("a call counts once by its Idempotency-Key, and as 0 without a price", async () => {
  const { create, get, chat } = await givenAProject();
  const id = await create({ amount: 10, period: "DAY" });
  const headers = { "idempotency-key": "once" };

  await chat("openai/gpt-4o-mini", undefined, headers);
  await chat("openai/gpt-4o-mini", undefined, headers);
  await chat("local/never-priced");

  expect(await get(id)).toMatchObject({ calls: 2, unpriced_calls: 1, state: "ok" });
});

test("a call that a spent budget refused may be tried again with its Idempotency-Key", async () => {
  const { budgets, create, get, chat } = await givenAProject();
  const id = await create({ amount: 1e-9, period: "DAY" });
  const headers = { "idempotency-key": "again" };
  await chat();

  const refused = [
    await chat(undefined, undefined, headers),
    await chat(undefined, undefined, headers),
  ];
  await budgets("PATCH", `/${id}`, { amount: 1 });
  const admitted = await chat(undefined, undefined, headers);

  expect(refused.map(({ status }) => status)).toEqual([429, 429]);
  expect(refused.map(({ retryAfter }) => Number(retryAfter) > 0)).toEqual([true, true]);
  expect(admitted.status).toBe(200);
  expect(await get(id)).toMatchObject({ calls: 2 });
});

test("a budget of which exactly 80 % is spent is in the state that is told of", async () => {
  const { project, create, get, chat } = await givenAProject();
  const critical = { channel: "WEBHOOK", metadata: { url: nowhere } };
  const body = { amount: 0.1, period: "DAY", notification_details: { critical } };
  const id = await create(body);
  await chat();
  // Less than 0.1 * 0.8 in floating point.
  await service.database.sql()`update budget_spend set cost = 0.08 where budget_id = ${id}`;

  const { state } = await get(id);
  await chat("local/never-priced");

  expect(state).toBe("warning");
  await vi.waitUntil(async () => (await toldOf(project)).length === 1, patience);
  expect(await toldOf(project)).toEqual(["budget.warning"]);
});

test("calls at once are all counted", async () => {
  const { create, get, chat } = await givenAProject();
  const id = await create({ amount: 10, period: "DAY" });

  const answers = await Promise.all(Array.from({ length: 40 }, () => chat()));

  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(await get(id)).toMatchObject({ calls: 40 });
});

test.each<{ name: string; body: object; field: string }>([
  { name: "no amount", body: { period: "DAY" }, field: "amount" },
  { name: "an amount of nothing", body: { amount: 0, period: "DAY" }, field: "amount" },
  { name: "an unknown key", body: { amount: 1, period: "DAY", limit: 2 }, field: "limit" },
  { name: "another period", body: { amount: 1, period: "WEEK" }, field: "period" },
  { name: "no key", body: { amount: 1, period: "DAY", key_id: "x" }, field: "key_id" },
  {
    name: "a target of resolved",
    body: {
      amount: 1,
      period: "DAY",
      notification_details: { resolved: { channel: "WEBHOOK", metadata: { url: nowhere } } },
    },
    field: "notification_details.resolved",
  },
])("$name is a 400 that names $field", async ({ body, field }) => {
  const { budgets } = await givenAProject();

  const { status, json } = await budgets("POST", "", body);

  expect(status).toBe(400);
  expect(json["message"]).toMatch(new RegExp(`^${field}: `));
});

test("a key is the same key in the other case", async () => {
  const { project, budgets } = await givenAProject();
  const options = { kind: "project", root: "project" } as const;
  const { keyId } = await addKey(service.database, project, options);
  const body = { amount: 1, period: "DAY", key_id: keyId.toUpperCase() };

  const made = await budgets("POST", "", body);
  const again = await budgets("POST", "", { ...body, key_id: keyId });
  const twice = await budgets("POST", "", body);
  const { id, key_id: stored } = made.json["data"] as { id: string; key_id: string };
  const changed = await budgets("PATCH", `/${id}`, { ...body, amount: 2 });

  expect([made, again, twice, changed].map(({ status }) => status)).toEqual([200, 409, 409, 200]);
  expect(stored).toBe(keyId);
});

test("a key of another organization is refused, and a second budget is a 409", async () => {
  const { budgets, create } = await givenAProject();
  const other = await givenAMetricProject(service);
  const options = { kind: "project", root: "project" } as const;
  const { keyId } = await addKey(service.database, other, options);

  expect((await budgets("POST", "", { amount: 1, period: "DAY", key_id: keyId })).status).toBe(400);
  const id = await create({ amount: 1, period: "DAY" });
  const again = await budgets("POST", "", { amount: 2, period: "DAY" });

  expect(again).toMatchObject({ status: 409, json: { errorCode: "BUDGET_EXISTS" } });
  expect(again.json["message"]).toContain(id);
});

test.each([
  { name: "says nothing of its options", options: undefined },
  { name: "asks for no tokens", options: { include_usage: false, include_obfuscation: false } },
  { name: "asks for its tokens", options: { include_usage: true } },
])("a proxied stream that $name is counted", async ({ options }) => {
  const { create, get, project } = await givenAProject();
  const id = await create({ amount: 100, period: "DAY" });
  const big = "12345678901234567890";
  const body = JSON.stringify({
    model: "openai/gpt-4o-mini",
    messages: [{ role: "user", content: "hi" }],
    stream: true,
    stream_options: options,
    seed: 0,
  }).replace('"seed":0', `"seed":${big}`);
  const before = standIn.requests.length;

  const response = await fetch(`${service.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${project.key}`, "content-type": "application/json" },
    body,
  });
  const text = await response.text();

  expect(response.status, text).toBe(200);
  expect(await get(id)).toMatchObject({ spent: expect.any(Number) as number, unpriced_calls: 0 });
  expect((await get(id))["spent"]).toBeGreaterThan(0);
  expect(text.includes('"choices":[]')).toBe(options?.include_usage === true);
  expect(text).toMatch(/data: \[DONE\]\n\n$/);
  const [sent] = standIn.requests.slice(before);
  const { stream_options: asked } = sent?.body as JsonObject;
  expect(asked).toEqual({ ...options, include_usage: true });
  // The other bytes pass as they are, unless the client's own options are changed.
  if (options?.include_usage !== false) expect(sent?.text).toContain(`"seed":${big}`);
});

test("a budget counts an unusable answer, and no refused call as one without a price", async () => {
  const { create, get, chat } = await givenAProject();
  const id = await create({ amount: 1, period: "DAY" });

  const statuses = [
    await chat("anthropic/claude-sonnet-4-5-no-finish"),
    await chat("openai/gpt-4o-mini+fail-400"),
    await chat("openai/gpt-4o-mini+fail-401"),
    await chat("openai/gpt-4o-mini+limited-60"),
    await chat("openai/gpt-4o-mini+fail-500"),
  ].map(({ status }) => status);

  expect(statuses).toEqual([502, 400, 502, 503, 502]);
  expect(await get(id)).toMatchObject({ calls: 5, unpriced_calls: 1 });
  expect((await get(id))["spent"]).toBeGreaterThan(0);
});

test.each(["/chat", "/v1/chat/completions"])(
  "a budget counts a stream of %s whose model fails at its end",
  async (path) => {
    const { create, get, project } = await givenAProject();
    const id = await create({ amount: 1, period: "DAY" });

    const response = await fetch(service.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${project.key}`, "content-type": "application/json" },
      body: JSON.stringify({
        ...(path === "/chat" && { project: project.projectName }),
        model: "google/gemini-2.5-pro-failed-end",
        stream: true,
        messages: [{ role: "user", content: "hi" }],
      }),
    });
    await response.text().catch(() => "the connection broke, as after every failed stream");

    expect(response.status).toBe(200);
    expect(await get(id)).toMatchObject({ calls: 1, unpriced_calls: 0 });
    expect((await get(id))["spent"]).toBeGreaterThan(0);
  },
);

test("a budget counts an unusable answer where the next provider of an alias answers", async () => {
  const { project, create, get, chat } = await givenAProject();
  const options = { kind: "control_plane", root: "org" } as const;
  const headers = await withKey(service.database, project, options);
  const targets = ["anthropic/claude-sonnet-4-5-no-finish", "openai/gpt-4o-mini"];
  const path = `/v1/projects/${project.projectId}/model_aliases/both`;
  const put = await fetch(service.url + path, {
    method: "PUT",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ targets }),
  });
  const id = await create({ amount: 1, period: "DAY" });

  const { status, json } = await chat("both");

  expect([put.status, status]).toEqual([200, 200]);
  const { spent, calls } = await get(id);
  expect(calls).toBe(1);
  expect(spent).toBeGreaterThan(2 * (json["cost"] as number));
});
