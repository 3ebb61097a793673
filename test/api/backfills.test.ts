// /v1/metrics/{id}/backfills over the whole service, without a worker: answers, refusals, audit
// rows and outbox rows. store/backfills.test.ts tests the steps of the workflow.
// Source: docs/decisions.md, 8.1, 24.6 and 24.7; docs/evaluators.md, "Backfills".

import { beforeAll, describe, expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import { givenStarted } from "../support/given.ts";
import { callRoute } from "../support/call-route.ts";
import { startService } from "../support/service.ts";
import { withSignIn } from "../support/tenants.ts";

const service = givenStarted(startService);

beforeAll(async () => {
  const events = [0, 1, 2, 3].map((n) => ({
    event_id: `e${n}`,
    event_type: "model",
    event_name: "chat",
    source: "test",
    start_time: at + n * 1000,
    inputs: {},
    metadata: { n },
  }));
  expect((await call("POST /events/batch", { events })).status).toBe(200);
});

type Json = Record<string, unknown>;
type Headers = Record<string, string>;

const at = 1_760_000_000_000;

function call(route: string, body?: unknown, headers = byKey(service.projectKey)) {
  return callRoute({ url: service.url, headers }, route, body);
}

const byKey = (key: string): Headers => ({ authorization: `Bearer ${key}` });

async function aMetric(fields: Json = {}): Promise<string> {
  const filters = { filterArray: [{ field: "event_type", operator: "is", value: "model" }] };
  const model = { model_provider: "openai", model_name: "gpt-4o-mini" };
  const judge = { type: "LLM", prompt: "Rate it: [[5]]", ...model, filters };
  const body = { name: `metric ${createUuid()}`, ...judge, ...fields };
  const { status, json, text } = await call("POST /v1/metrics", body);
  expect([status, text]).toEqual([200, expect.any(String)]);
  return json["metric_id"] as string;
}

const start = (id: string, body: unknown = {}, headers?: Headers) =>
  call(`POST /v1/metrics/${id}/backfills`, body, headers);

async function started(id: string, body?: unknown): Promise<Json> {
  const { status, json, text } = await start(id, body);
  expect([status, text]).toEqual([200, expect.any(String)]);
  return json["data"] as Json;
}

const change = (id: string, backfill: Json, action: string) =>
  call(`POST /v1/metrics/${id}/backfills/${backfill["id"] as string}/${action}`, {});

const outboxOf = (backfill: Json) => service.database.sql()<{ workflow_id: string }[]>`
  select workflow_id from outbox where input ->> 'backfillId' = ${backfill["id"] as string}`;

describe("POST /v1/metrics/{id}/backfills", () => {
  test("starts one, says how many events match, and hands it to Temporal", async () => {
    const id = await aMetric({ name: "Faithful? (very)" });
    const filter = { field: "metadata.n", operator: "greater than", value: 0, type: "number" };

    const got = await started(id, {
      filters: [filter],
      dateRange: { $gte: at, $lte: at + 2000 },
      include_failed: true,
    });

    expect(got).toEqual({
      id: expect.any(String) as string,
      metric_id: id,
      version: "v1",
      state: "running",
      filters: [filter],
      dateRange: { $gte: at, $lte: at + 2000 },
      include_failed: true,
      progress: { matched: 2, done: 0, scored: 0, failed: 0, skipped: 0 },
      error: null,
      created_at: expect.any(String) as string,
      created_by: expect.stringContaining("key project") as string,
      ended_at: null,
      workflow_id: `backfill-faithful-very-${got["id"] as string}-1`,
    });
    expect(await outboxOf(got)).toEqual([{ workflow_id: got["workflow_id"] }]);
  });

  test("takes dates as text, and under the names of search", async () => {
    const [id, other] = [await aMetric(), await aMetric()];
    const iso = (ms: number) => new Date(ms).toISOString();

    const first = await started(id, { dateRange: { $gte: iso(at + 1000) } });
    const range = { start_time: at + 1000, end_time: at + 2000 };
    const second = await started(other, { dateRange: range });

    expect(first).toMatchObject({ progress: { matched: 3 }, dateRange: { $gte: at + 1000 } });
    expect(second).toMatchObject({
      progress: { matched: 2 },
      dateRange: { $gte: at + 1000, $lte: at + 2000 },
    });
  });

  test("without a body is one of all events, shown without dates", async () => {
    const got = await started(await aMetric());

    expect(got).toMatchObject({ filters: [], include_failed: false, progress: { matched: 4 } });
    expect(got["dateRange"] ?? null).toBeNull();
  });

  test("with the same Idempotency-Key is one backfill, answered as it was", async () => {
    const id = await aMetric();
    const key = { ...byKey(service.projectKey), "idempotency-key": createUuid() };

    const first = await start(id, {}, key);
    const again = await start(id, {}, key);
    const other = await start(id, {});

    expect([first.status, again.text]).toEqual([200, first.text]);
    expect([other.status, other.json["errorCode"]]).toEqual([409, "BACKFILL_RUNNING"]);
    expect(other.json["message"]).toMatch(/wait for it or cancel it/);
  });

  test("at the same time is one backfill, and the other is refused", async () => {
    const id = await aMetric();

    const got = await Promise.all([start(id), start(id), start(id)]);

    expect(got.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
  });

  test.each([
    {
      name: "a field that no event has",
      body: { filters: [{ field: "metadata.nn", operator: "is", value: 1 }] },
      code: "INVALID_FILTER",
      says: /^metadata\.nn: /,
    },
    {
      name: "an unknown operator",
      body: { filters: [{ field: "metadata.n", operator: "equals", value: 1 }] },
      code: "INVALID_FILTER",
      says: /^metadata\.n: the operator/,
    },
    {
      name: "dates that end before they begin",
      body: { dateRange: { $gte: at + 1000, $lte: at } },
      code: "INVALID_ARGUMENT",
      says: /^dateRange: /,
    },
    {
      name: "a date that is none",
      body: { dateRange: { $gte: "yesterday" } },
      code: "INVALID_ARGUMENT",
      says: /^dateRange\.\$gte: /,
    },
    {
      name: "an unknown field",
      body: { filter: [] },
      code: "INVALID_ARGUMENT",
      says: /^filter: /,
    },
  ])("with $name is a 400 naming it, and starts nothing", async ({ body, code, says }) => {
    const id = await aMetric();

    const { status, json } = await start(id, body);

    expect([status, json["errorCode"]]).toEqual([400, code]);
    expect(json["message"]).toMatch(says);
    const { json: list } = await call(`GET /v1/metrics/${id}/backfills`);
    expect(list["data"]).toEqual([]);
  });

  test("of people's metric is a 400 that says so", async () => {
    const none = { model_provider: undefined, model_name: undefined };
    const { status, json } = await start(await aMetric({ type: "HUMAN", ...none }));
    expect([status, json["message"]]).toEqual([400, expect.stringMatching(/^id: people judge/)]);
  });
});

describe("pause, resume and cancel", () => {
  test("change the state, are audited once each, and change nothing again", async () => {
    const id = await aMetric();
    const backfill = await started(id);
    const states: unknown[] = [];

    for (const action of ["pause", "pause", "resume", "resume", "cancel", "cancel"]) {
      const { status, json } = await change(id, backfill, action);
      expect(status).toBe(200);
      states.push((json["data"] as Json)["state"]);
    }

    const stopping = ["pausing", "pausing", "running", "running", "cancelling", "cancelling"];
    expect(states).toEqual(stopping);
    const rows = await service.database.sql()<{ action: string; actor: string }[]>`
      select action, actor_type as actor from audit_log
      where target_id = ${backfill["id"] as string} order by sequence`;
    expect(rows.map(({ action }) => action)).toEqual([
      "backfill.create",
      "backfill.pause",
      "backfill.resume",
      "backfill.cancel",
    ]);
    const refused = await change(id, backfill, "resume");
    expect([refused.status, refused.json["errorCode"]]).toEqual([409, "BACKFILL_ENDED"]);
    expect(refused.json["message"]).toMatch(/being cancelled; start another/);
  });

  test("of a deleted metric are gone with it, and its backfill is being cancelled", async () => {
    const id = await aMetric();
    const backfill = await started(id);

    expect((await call(`DELETE /v1/metrics/${id}`)).status).toBe(200);

    expect((await change(id, backfill, "pause")).status).toBe(404);
    const [row] = await service.database.sql()<{ state: string }[]>`
      select state from evaluator_backfills where backfill_id = ${backfill["id"] as string}`;
    expect(row?.state).toBe("cancelling");
  });
});

describe("GET /v1/metrics/{id}/backfills", () => {
  test("lists the newest first and goes on by cursor", async () => {
    const id = await aMetric();
    const ids: unknown[] = [];
    for (let count = 0; count < 3; count += 1) {
      ids.unshift((await started(id))["id"]);
      // As its workflow would end it.
      await service.database.sql()`
        update evaluator_backfills set state = 'completed', ended_at = now()
        where evaluator_id = ${id} and ended_at is null`;
    }

    const first = await call(`GET /v1/metrics/${id}/backfills?limit=2`);
    const cursor = String(first.json["next_cursor"]);
    const second = await call(`GET /v1/metrics/${id}/backfills?limit=2&cursor=${cursor}`);
    const odd = await call(`GET /v1/metrics/${id}/backfills?cursor=odd`);

    const idsOf = ({ json }: typeof first) => (json["data"] as Json[]).map((one) => one["id"]);
    expect([...idsOf(first), ...idsOf(second)]).toEqual(ids);
    expect(second.json).not.toHaveProperty("next_cursor");
    expect([odd.status, odd.json["message"]]).toEqual([400, "cursor: it is not a next_cursor"]);
  });

  test("and one of them by id, for those who may read", async () => {
    const id = await aMetric();
    const backfill = await started(id);
    const { database, project, url } = service;
    const signIn = await withSignIn(database, project, {
      level: "project",
      role: "project_viewer",
      origin: url,
    });
    const path = `/v1/metrics/${id}/backfills/${backfill["id"] as string}`;

    const got = [
      await call(`GET ${path}`, undefined, byKey(service.readOnlyKey)),
      await call(`GET ${path}`, undefined, signIn),
    ];

    expect(got.map(({ status }) => status)).toEqual([200, 200]);
    expect(got[0]?.json["data"]).toEqual(backfill);
  });

  test("is the very answer of an unknown route for what is not there, or another's", async () => {
    const [id, other] = [await aMetric(), await aMetric()];
    const backfillId = (await started(id))["id"] as string;
    const unknown = await call("GET /nothing");
    const theirs = byKey(service.otherProject.projectKey);

    const got = await Promise.all([
      call(`GET /v1/metrics/${id}/backfills/${createUuid()}`),
      call(`GET /v1/metrics/${id}/backfills/none`),
      call(`GET /v1/metrics/${other}/backfills/${backfillId}`),
      call(`GET /v1/metrics/none/backfills/${backfillId}`),
      call(`GET /v1/metrics/${id}/backfills/${backfillId}`, undefined, theirs),
      call(`GET /v1/metrics/${id}/backfills`, undefined, theirs),
      call(`GET /v1/metrics/${createUuid()}/backfills`),
      call(`POST /v1/metrics/${other}/backfills/${backfillId}/pause`, {}),
      start(id, {}, theirs),
      start(id, {}, byKey(service.readOnlyKey)),
      start(id, {}, byKey(service.ingestionKey)),
      start("none"),
    ]);

    expect(got.map(({ text }) => text)).toEqual(got.map(() => unknown.text));
  });
});
