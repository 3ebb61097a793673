// Anthropic's Messages API through the LLM proxy: byte for byte, whole and streamed, and recorded
// as a chat is. Source: docs/decisions.md, 21.9; docs/generations.md.

import Anthropic, { APIConnectionError, APIError } from "@anthropic-ai/sdk";
import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { type StandIn, startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { callRest, type ReadEvent } from "../support/read-back.ts";
import { startService } from "../support/service.ts";

const providerKey = "sk-ant-stand-in-0123456789";

function providersAt({ urls }: StandIn): string {
  const own = (provider: "anthropic" | "openai" | "openai_compatible" | "google") => ({
    provider,
    base_url: urls[provider],
    api_key: providerKey,
  });
  return JSON.stringify({
    up: own("anthropic"),
    local: own("openai_compatible"),
    openai: own("openai"),
    google: own("google"),
  });
}

const standIn = givenStarted(startOpenAiStandIn);
const service = givenStarted(() => startService({ providers: providersAt(standIn) }));

const weather = "It is 18 °C and sunny in Paris.";
const ask = {
  max_tokens: 100,
  system: "Be brief.",
  messages: [{ role: "user", content: "How is the weather?" }],
};
const tools = [{ name: "weather", input_schema: { type: "object" } }];

type Answer = { readonly status: number; readonly text: string; readonly event: ReadEvent };

/** Sends a request and returns its answer, whole or cut, with its event. */
async function post(body: object, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${service.url}/v1/messages?beta=true`, {
    method: "POST",
    headers: {
      "x-api-key": service.projectKey,
      "content-type": "application/json",
      "anthropic-version": "2023-06-01",
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
    }
  } catch {
    text += "(cut)";
  }
  const id = response.headers.get("x-waggle-generation-id") ?? "none";
  return { status: response.status, text, event: id === "none" ? none : await readEvent(id) };
}

const none = {} as ReadEvent;

async function readEvent(id: string): Promise<ReadEvent> {
  const access = { url: service.url, key: service.projectKey };
  const path = `/v1/events/${id}`;
  return (await callRest<{ readonly event: ReadEvent }>(access, "GET", path)).event;
}

/** Sends the same body directly to the provider. */
async function direct(body: object): Promise<string> {
  const response = await fetch(`${standIn.urls.anthropic}/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return response.text();
}

describe("an answer in one piece", () => {
  test("is the provider's, byte for byte, and is recorded as a chat", async () => {
    standIn.clear();
    const body = { ...ask, temperature: 0.5, metadata: { user_id: "ada" } };

    const { status, text, event } = await post(
      { ...body, model: "up/cached" },
      { "anthropic-beta": "one-2025-01-01,two", "x-waggle-session-id": "one" },
    );

    expect(status).toBe(200);
    const [seen] = standIn.requests;
    expect(seen?.body).toEqual({ ...body, model: "cached" });
    expect(seen?.headers).toMatchObject({
      "x-api-key": providerKey,
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "one-2025-01-01,two",
    });
    expect(seen?.headers["authorization"]).toBeUndefined();
    expect(text).toBe(await direct({ ...body, model: "cached" }));
    expect(event).toMatchObject({
      session_id: "one",
      event_type: "model",
      event_name: "chat cached",
      error: null,
      config: {
        model: "cached",
        provider: "up",
        type: "chat",
        hyperparameters: { max_tokens: 100, temperature: 0.5 },
      },
      inputs: {
        chat_history: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "How is the weather?" },
        ],
      },
      outputs: { role: "assistant", content: weather },
      metadata: {
        user_id: "ada",
        response_id: "msg_standin",
        response_model: "cached-20260101",
        finish_reason: "stop",
        provider_type: "anthropic",
        stream: false,
        usage: { cache_read: 64, cache_write: 32, output: 9 },
      },
    });
  });

  test.each([
    ["ada", "ada", undefined],
    ["user_1_account_2_session_s-1", "user_1_account_2", "s-1"],
    ['{"device_id":"d","account_uuid":"","session_id":"s-2"}', "d", "s-2"],
    ['{"account_uuid":"a","session_id":3}', "a", undefined],
    ["{broken", "{broken", undefined],
  ])("of the user %s is recorded with user and session", async (userId, user, sessionId) => {
    const body = { ...ask, model: "up/m", metadata: { user_id: userId } };

    const { event } = await post(body);
    const named = await post(body, { "x-waggle-session-id": "own", "x-waggle-user": "bob" });

    expect(event.user_properties).toEqual({ user });
    if (sessionId === undefined) expect(event.session_id).toMatch(/^[0-9a-f-]{36}$/);
    else expect(event.session_id).toBe(sessionId);
    expect(event.metadata["user_id"]).toBe(userId);
    expect([named.event.session_id, named.event.user_properties]).toEqual(["own", { user: "bob" }]);
  });

  test("with tools and their results is recorded with them", async () => {
    const called = await post({ ...ask, model: "up/m", tools });
    const messages = [
      ...ask.messages,
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "t1", name: "weather", input: { city: "Paris" } }],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "18 °C" }] },
    ];
    const answered = await post({ ...ask, model: "up/reasoning", tools, messages });

    expect(called.event.config).toMatchObject({ tools });
    expect(called.event.metadata["finish_reason"]).toBe("tool_calls");
    expect(called.event.outputs).toMatchObject({
      role: "assistant",
      tool_calls: [{ function: { name: "weather", arguments: '{"city":"Paris"}' } }],
    });
    expect(answered.event.inputs["chat_history"]).toMatchObject([
      { role: "system" },
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: "t1" }] },
      { role: "tool", tool_call_id: "t1", content: "18 °C" },
    ]);
    expect(answered.event.outputs).toMatchObject({
      content: weather,
      reasoning: "The user asks for the weather. ",
    });
  });
});

describe("a stream", () => {
  test.each([
    { model: "m", more: {} },
    { model: "m", more: { tools } },
    { model: "reasoning", more: {} },
    { model: "length", more: {} },
    { model: "cached", more: {} },
  ])("of $model with $more is the provider's, byte for byte", async ({ model, more }) => {
    const body = { ...ask, stream: true, ...more };

    const { status, text, event } = await post({ ...body, model: `up/${model}` });

    expect(status).toBe(200);
    expect(text).toBe(await direct({ ...body, model }));
    const { stream: _, ...whole } = body;
    const unary = await post({ ...whole, model: `up/${model}` });
    expect(event.outputs).toEqual(unary.event.outputs);
    expect(event.error).toBeNull();
    for (const key of ["usage", "finish_reason", "response_model", "response_id", "cost"]) {
      expect(event.metadata[key]).toEqual(unary.event.metadata[key]);
    }
    expect(event.metadata["stream"]).toBe(true);
  });

  test.each(["cut-off", "error-event", "malformed-stream"])(
    "that ends by %s never ends cleanly, and is recorded with what came",
    async (model) => {
      const { text, event } = await post({ ...ask, model: `up/${model}`, stream: true });

      expect(text).not.toContain("message_stop");
      expect(text).toMatch(/\n\nevent: error\ndata: \{"type":"error","error":\{.*\}\n\n\(cut\)$/s);
      expect(event.error).toMatch(/^PROVIDER_FAILED: /);
      expect(weather.startsWith(String(event.outputs["content"]))).toBe(true);
    },
  );

  test("whose end repeats the provider's key does not pass it on", async () => {
    const { text, event } = await post({ ...ask, model: "up/leak-key-event", stream: true });

    expect(text).not.toContain(providerKey);
    expect(JSON.stringify(event)).not.toContain(providerKey);
  });
});

describe("Anthropic's client", () => {
  const client = () =>
    new Anthropic({ apiKey: service.projectKey, baseURL: service.url, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "How is the weather?" }];

  test.each(["up", "local"])("reads whole and streamed answers of %s", async (provider) => {
    const request = { model: `${provider}/m`, max_tokens: 100, messages };

    const whole = await client().messages.create(request);
    const streamed = await client().messages.stream(request).finalMessage();

    const content = [{ type: "text", text: weather }];
    expect(whole).toMatchObject({ role: "assistant", content, stop_reason: "end_turn" });
    expect(streamed).toMatchObject({ role: "assistant", content, stop_reason: "end_turn" });
  });

  test("reads an error, and its call is an event", async () => {
    const asked = client().messages.create({ model: "up/fail-400", max_tokens: 1, messages });

    await expect(asked).rejects.toMatchObject({
      status: 400,
      error: { error: { type: "invalid_request_error", message: "stand-in says 400" } },
    });
  });

  test.each(["cut-off", "error-event", "malformed-stream"])(
    "reads the error of a stream that ends by %s",
    async (model) => {
      const stream = client().messages.stream({ model: `up/${model}`, max_tokens: 9, messages });

      const error: unknown = await stream.finalMessage().catch((reason: unknown) => reason);

      expect(error).toBeInstanceOf(APIError);
      expect(error).not.toBeInstanceOf(APIConnectionError);
      expect(error).toMatchObject({
        type: "api_error",
        error: { type: "error", error: { type: "api_error", code: "PROVIDER_FAILED" } },
      });
    },
  );

  test.each([
    ["up/cut-off", 502, "api_error"],
    ["openai/m", 400, "invalid_request_error"],
  ])("reads the type of the error of %s", async (model, status, type) => {
    const asked = client().messages.create({ model, max_tokens: 1, messages });

    await expect(asked).rejects.toMatchObject({ status, type, error: { type: "error" } });
  });

  test.each(["openai", "google"])("learns that %s has no such API", async (provider) => {
    const asked = client().messages.create({ model: `${provider}/m`, max_tokens: 1, messages });

    await expect(asked).rejects.toThrow(/^400 .*has no Messages API; use \/v1\/chat/);
  });

  test.each(["up", "local"])("counts tokens at %s, and nothing is recorded", async (provider) => {
    standIn.clear();
    const request = { model: `${provider}/m`, messages, system: "Be brief." };
    const recorded = () => service.database.sql()`select event_id from events`;
    const before = (await recorded()).length;

    const count = await client().messages.countTokens(request, {
      headers: { "anthropic-beta": "token-counting-2024-11-01" },
    });

    expect(count).toEqual({ input_tokens: 14 });
    const [seen] = standIn.requests;
    expect(seen?.path).toMatch(/\/messages\/count_tokens$/);
    expect(seen?.body).toEqual({ ...request, model: "m" });
    expect(seen?.headers["anthropic-beta"]).toBe("token-counting-2024-11-01");
    expect(await recorded()).toHaveLength(before);
  });

  test.each([
    ["up/fail-400", 400, "invalid_request_error"],
    ["up/malformed", 502, "api_error"],
    ["openai/m", 400, "invalid_request_error"],
    ["nowhere/m", 400, "invalid_request_error"],
  ])("reads why tokens are not counted at %s", async (model, status, type) => {
    const asked = client().messages.countTokens({ model, messages });

    await expect(asked).rejects.toMatchObject({ status, type });
  });

  test("with a wrong key gets the fixed 404", async () => {
    const wrong = new Anthropic({ apiKey: "hh_wrong", baseURL: service.url, maxRetries: 0 });

    await expect(
      wrong.messages.create({ model: "up/m", max_tokens: 1, messages }),
    ).rejects.toMatchObject({ status: 404 });
  });
});

test("a beta is for this API alone", async () => {
  standIn.clear();

  const response = await fetch(`${service.url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${service.projectKey}`,
      "content-type": "application/json",
      "anthropic-beta": "one",
    },
    body: JSON.stringify({ model: "openai/m", messages: ask.messages }),
  });

  expect(response.status).toBe(200);
  expect(standIn.requests[0]?.headers).not.toHaveProperty("anthropic-beta");
});

test.each(["a\nb", "ä", "x".repeat(1_001)])("a beta %.10j is refused by name", async (beta) => {
  const headers = { "anthropic-beta": beta.replace("\n", ";") };

  const { status, text } = await post({ ...ask, model: "up/m" }, headers);

  expect(status).toBe(400);
  expect(text).toContain("anthropic-beta: must be names");
});
