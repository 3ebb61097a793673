// Idempotency-Key on generations over the whole service: calls that reach the provider, and events
// that are stored. Source: docs/decisions.md, 8.2, 20.1.

import { beforeEach, describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { type AnsweredGeneration, startChatService } from "../support/chats.ts";

const chats = givenStarted(() => startChatService({ "provider-attempts": "1" }));

beforeEach(() => chats.standIn.clear());
const messages = [{ role: "user", content: "How is the weather in Paris?" }];

type Got = {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
};

async function post(path: string, key: string, body: Record<string, unknown>): Promise<Got> {
  const { url, projectKey } = chats.service;
  const response = await fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${projectKey}`, "idempotency-key": key },
    body: JSON.stringify({ messages, ...body }),
  });
  const own = [...response.headers].filter(([name]) => name.startsWith("x-waggle-"));
  return {
    status: response.status,
    headers: Object.fromEntries(own),
    text: await response.text(),
  };
}

const chat = (key: string, body: Record<string, unknown> = {}) =>
  post("/chat", key, { project: "demo", model: "openai/gpt-4o", ...body });

async function listModelEvents() {
  const rows = await chats.service.database.sql()<{ event_id: string; error: string | null }[]>`
    select event_id, error
    from events
    where project_id = ${chats.service.projectId} and event_type = 'model'`;
  return [...rows];
}

describe("Idempotency-Key", () => {
  test("on /chat asks the provider once and records one event", async () => {
    const before = await listModelEvents();

    const first = await chat("chat");
    const second = await chat("chat");

    expect(first.status).toBe(200);
    expect(second).toEqual(first);
    const { generation_id } = JSON.parse(first.text) as AnsweredGeneration;
    expect(await chats.readEvent(generation_id)).toMatchObject({ event_type: "model" });
    expect((await listModelEvents()).length - before.length).toBe(1);
    expect(chats.standIn.requests.length).toBe(1);
  });

  test("on the proxy gives the provider's bytes again, and where they are recorded", async () => {
    const body = { model: "openai/gpt-4o" };

    const first = await post("/v1/chat/completions", "proxy", body);
    const second = await post("/v1/chat/completions", "proxy", body);

    expect(first.status).toBe(200);
    expect(first.headers).toHaveProperty("x-waggle-generation-id");
    expect(second).toEqual(first);
    expect(chats.standIn.requests.length).toBe(1);
  });

  test.each([
    { path: "/chat", body: { project: "demo" }, status: 502 },
    // The provider's own.
    { path: "/v1/chat/completions", body: {}, status: 500 },
  ])("runs a failed $path again, and records each failure", async ({ path, body, status }) => {
    const before = await listModelEvents();
    const failing = { ...body, model: "openai/fail-500" };

    const got = [await post(path, path, failing), await post(path, path, failing)];

    expect(got.map((one) => one.status)).toEqual([status, status]);
    const known = new Set(before.map(({ event_id }) => event_id));
    const added = (await listModelEvents()).filter(({ event_id }) => !known.has(event_id));
    expect(added.map(({ error }) => error)).toEqual([
      expect.stringMatching(/^PROVIDER_FAILED: /),
      expect.stringMatching(/^PROVIDER_FAILED: /),
    ]);
    expect(chats.standIn.requests.length).toBe(2);
  });

  test.each([
    { path: "/chat", body: { project: "demo" } },
    { path: "/v1/chat/completions", body: {} },
  ])("keeps the provider's refusal on $path with its one event", async ({ path, body }) => {
    const before = await listModelEvents();
    const refused = { ...body, model: "openai/fail-400" };

    const first = await post(path, `refused ${path}`, refused);
    const second = await post(path, `refused ${path}`, refused);

    expect(first.status).toBe(400);
    // The words of a refusal are kept, without the place where the first try is recorded.
    expect({ ...second, headers: {} }).toEqual({ ...first, headers: {} });
    expect((await listModelEvents()).length - before.length).toBe(1);
    expect(chats.standIn.requests.length).toBe(1);
  });

  test("records in a session of its own where the one named is another event", async () => {
    const tool = { event_type: "tool", event_id: "a tool", session_id: "s", inputs: {} };
    await post("/events", "a tool", { event: { ...tool, source: "test" } });

    const { status, text } = await chat("session", { session_id: "a tool" });

    expect(status).toBe(200);
    const { generation_id } = JSON.parse(text) as AnsweredGeneration;
    const { session_id, metadata } = await chats.readEvent(generation_id);
    expect(session_id).not.toBe("a tool");
    expect(metadata).toMatchObject({ refused_session_id: "a tool" });
  });
});
