// POST /feedback and GET /v1/feedback over the whole service: the generation as its readers see it,
// and the answer where there is no generation.
// Source: docs/spec.md, "Feedback"; docs/decisions.md, 10, 20.2.

import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { callRoute } from "../support/call-route.ts";
import { startService } from "../support/service.ts";
import { withSignIn } from "../support/tenants.ts";

const service = givenStarted(startService);

type Json = Record<string, unknown>;

function call(
  route: string,
  body?: unknown,
  headers: Record<string, string> = byKey(service.projectKey),
) {
  return callRoute({ url: service.url, headers }, route, body);
}

const byKey = (key: string) => ({ authorization: `Bearer ${key}` });

/** Stores the event of a generation and returns its id. */
async function aGeneration(): Promise<string> {
  const event = { event_type: "model", event_name: "chat", source: "test", inputs: { a: 1 } };
  const { status, json } = await call("POST /events", { event });
  expect(status).toBe(200);
  return json["event_id"] as string;
}

const give = (id: string, more: Json = {}, headers?: Record<string, string>) =>
  call("POST /feedback", { task: "answer", generation_id: id, ...more }, headers);

const list = (id: string, headers?: Record<string, string>) =>
  call(`GET /v1/feedback?generation_id=${id}`, undefined, headers);

const feedbackOn = async (id: string): Promise<unknown> => {
  const { json } = await call(`GET /v1/events/${id}`);
  return (json["event"] as Json)["feedback"];
};

describe("POST /feedback", () => {
  test("is on the generation at once, for readers, for filters and for its session", async () => {
    const id = await aGeneration();

    const { status, json } = await give(id, {
      feedback_json: { rating: 5 },
      ground_truth: `Paris ${id}`,
    });

    expect(status).toBe(200);
    expect(Date.parse(json["created_at"] as string)).not.toBeNaN();
    expect(await feedbackOn(id)).toEqual({ rating: 5, ground_truth: `Paris ${id}` });
    const isTrue = { field: "feedback.ground_truth", operator: "is", value: `Paris ${id}` };
    const found = await call("POST /v1/events/search", { filters: [isTrue] });
    expect(found.json["events"]).toMatchObject([{ event_id: id }]);
    const [event] = found.json["events"] as [Json];
    const session = await call(`GET /session/${event["session_id"] as string}`);
    expect(session.json["metadata"]).toMatchObject({ has_feedback: true });
  });

  test("with the same Idempotency-Key is one record, answered as it was", async () => {
    const id = await aGeneration();
    const headers = { ...byKey(service.projectKey), "idempotency-key": "feedback" };

    const first = await give(id, { feedback_json: { rating: 1 } }, headers);
    const second = await give(id, { feedback_json: { rating: 1 } }, headers);

    expect([first.status, second.text]).toEqual([200, first.text]);
    expect((await list(id)).json["data"]).toMatchObject([{ feedback: { rating: 1 } }]);
  });

  test("on no generation is the very answer of an unknown route", async () => {
    const unknown = await call("POST /nothing", {});
    const id = await aGeneration();
    const other = byKey(service.otherProject.projectKey);

    const got = [
      await give("none"),
      await give("\u0000"),
      await give(id, {}, other),
      await give(id, {}, byKey(service.ingestionKey)),
      await give(id, {}, byKey(service.readOnlyKey)),
      await list("none"),
      await list(id, other),
      await list(id, byKey(service.ingestionKey)),
    ];

    expect(unknown.status).toBe(404);
    expect(new Set(got.map(({ text }) => text))).toEqual(new Set([unknown.text]));
  });

  test.each([
    { name: "no task", body: { task: undefined }, field: "task" },
    { name: "an empty task", body: { task: "" }, field: "task" },
    { name: "a task that is no text", body: { task: 5 }, field: "task" },
    { name: "a long task", body: { task: "x".repeat(10_001) }, field: "task" },
    { name: "no generation", body: { generation_id: undefined }, field: "generation_id" },
    { name: "items in a list", body: { feedback_json: [1] }, field: "feedback_json" },
    { name: "a number as ground truth", body: { ground_truth: 5 }, field: "ground_truth" },
    {
      name: "items nested too deep",
      body: { feedback_json: JSON.parse(`${'{"a":'.repeat(200)}1${"}".repeat(200)}`) as Json },
      field: "feedback_json",
    },
  ])("with $name is a 400 naming the field, and changes nothing", async ({ body, field }) => {
    const id = await aGeneration();

    const { status, json } = await give(id, { feedback_json: { rating: 1 }, ...body });

    expect(status).toBe(400);
    expect(json["message"]).toMatch(new RegExp(`^${field}\\b`));
    expect(await feedbackOn(id)).toEqual({});
    expect((await list(id)).json["data"]).toEqual([]);
  });

  test("takes what it does not know, as clients send it", async () => {
    const got = await give(await aGeneration(), { project: "demo", feedback_json: null });
    expect(got.json).toMatchObject({ feedback: {}, ground_truth: null });
  });
});

describe("GET /v1/feedback", () => {
  test("goes on by cursor, and refuses one that is none", async () => {
    const id = await aGeneration();
    for (const rating of [1, 2, 3]) await give(id, { feedback_json: { rating } });

    const first = await list(`${id}&limit=2`);
    const second = await list(`${id}&limit=2&cursor=${String(first.json["next_cursor"])}`);
    const odd = await list(`${id}&cursor=odd`);

    expect(first.json["data"]).toMatchObject([
      { feedback: { rating: 3 } },
      { feedback: { rating: 2 } },
    ]);
    expect(second.json["data"]).toMatchObject([{ feedback: { rating: 1 } }]);
    expect(second.json).not.toHaveProperty("next_cursor");
    expect([odd.status, odd.json["message"]]).toEqual([400, "cursor: it is not a next_cursor"]);
  });

  test("has none once the event or its session is deleted", async () => {
    for (const what of ["event", "session"] as const) {
      const id = await aGeneration();
      await give(id, { feedback_json: { rating: 1 } });
      const { json } = await call(`GET /v1/events/${id}`);
      const sessionId = (json["event"] as Json)["session_id"] as string;

      const path = what === "event" ? `/v1/events/${id}` : `/v1/sessions/${sessionId}`;
      expect((await call(`DELETE ${path}`)).status).toBe(200);

      expect((await list(id)).status).toBe(404);
      expect((await give(id)).status).toBe(404);
    }
  });
});

describe("people", () => {
  test.each([
    { role: "project_viewer", may: [404, 200] },
    { role: "project_member", may: [200, 200] },
  ])("who are $role give and read feedback as their role says", async ({ role, may }) => {
    const id = await aGeneration();
    const { database, project, url } = service;
    const signIn = await withSignIn(database, project, { level: "project", role, origin: url });

    const got = [await give(id, {}, signIn), await list(id, signIn)];

    expect(got.map(({ status }) => status)).toEqual(may);
  });

  test("who ask for an archived project are answered as if it never was", async () => {
    const id = await aGeneration();
    await give(id, { feedback_json: { rating: 1 } });
    const { database, project, url } = service;
    const signIn = await withSignIn(database, project, {
      level: "org",
      role: "org_admin",
      origin: url,
    });
    expect((await list(id, signIn)).status).toBe(200);

    const gone = await call(`DELETE /v1/projects/${project.projectId}`, undefined, signIn);

    expect(gone.status).toBe(200);
    const got = [await list(id, signIn), await give(id, {}, signIn), await list(id)];
    expect(got.map(({ status }) => status)).toEqual([404, 404, 404]);
  });
});
