// OpenAI's Responses API through the LLM proxy: byte for byte, whole and streamed, and recorded as
// a chat is. Source: docs/decisions.md, 21.8; docs/generations.md.

import OpenAI, { NotFoundError } from "openai";
import { describe, expect, test } from "vitest";
import { providersOf } from "../support/chats.ts";
import { givenStarted } from "../support/given.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { direct, providerKey, startProxied } from "../support/proxied.ts";
import { startService } from "../support/service.ts";

const proxied = givenStarted(() =>
  startProxied({ "model-aliases": JSON.stringify({ fast: ["up/fail-500", "second/m"] }) }),
);

const weather = "It is 18 °C and sunny in Paris.";
const ask = { instructions: "Be brief.", input: "How is the weather?" };
const tools = [{ type: "function", name: "weather", parameters: { type: "object" } }];

const post = (body: object, headers?: Record<string, string>) =>
  proxied.post("/responses", body, headers);

/** The events of a stream, as JSON. */
function eventsIn(text: string): readonly { readonly type: string }[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data) as never);
}

describe("an answer in one piece", () => {
  test("is the provider's, byte for byte, and is recorded as a chat", async () => {
    const body = { ...ask, temperature: 0.5, store: false, metadata: { team: "a" }, user: "ada" };

    const answer = await post({ ...body, model: "up/m" }, { "x-waggle-session-id": "one" });

    expect(answer.status).toBe(200);
    const own = { ...body, model: "m" };
    expect(answer.text).toBe(await direct(proxied.standIn, "/responses", own));
    expect(proxied.standIn.requests.at(-2)?.body).toEqual(own);
    expect(await proxied.eventOf(answer)).toMatchObject({
      session_id: "one",
      event_type: "model",
      event_name: "chat m",
      error: null,
      config: {
        model: "m",
        provider: "up",
        type: "chat",
        hyperparameters: { temperature: 0.5, store: false },
      },
      inputs: {
        chat_history: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "How is the weather?" },
        ],
      },
      outputs: { role: "assistant", content: weather },
      metadata: {
        team: "a",
        response_id: "resp_standin",
        response_model: "m-2026-01-01",
        finish_reason: "stop",
        stream: false,
        completion_tokens: 9,
        usage: { output: 9, reasoning: 0 },
      },
      user_properties: { user: "ada" },
    });
  });

  test("with calls of tools and reasoning is recorded with them", async () => {
    const input = [
      { role: "user", content: [{ type: "input_text", text: "How is it in Rome?" }] },
      { type: "function_call", call_id: "c1", name: "weather", arguments: '{"city":"Rome"}' },
      { type: "function_call_output", call_id: "c1", output: "20 °C" },
      { role: "user", content: "And in Paris?" },
    ];

    const answered = await post({ model: "up/reasoning", input });
    const called = await post({ model: "up/m", input: "Paris?", tools });

    const event = await proxied.eventOf(answered);
    expect(event.inputs["chat_history"]).toMatchObject([
      { role: "user", content: "How is it in Rome?" },
      { role: "assistant", tool_calls: [{ id: "c1", function: { name: "weather" } }] },
      { role: "tool", content: "20 °C", tool_call_id: "c1" },
      { role: "user", content: "And in Paris?" },
    ]);
    expect(event.outputs).toMatchObject({ content: weather, reasoning: /./ });
    expect(event.metadata["usage"]).toMatchObject({ reasoning: 16 });
    const calling = await proxied.eventOf(called);
    expect(calling.config).toMatchObject({ tools });
    expect(calling.metadata["finish_reason"]).toBe("tool_calls");
    expect(calling.outputs).toMatchObject({
      role: "assistant",
      tool_calls: [{ id: "call_1", function: { name: "weather", arguments: '{"city":"Paris"}' } }],
    });
  });

  test.each([
    ["length", null, "length"],
    ["failed-end", "PROVIDER_FAILED: provider up answered that the model failed", undefined],
  ])("of a model that ends by %s says so", async (model, error, reason) => {
    const event = await proxied.eventOf(await post({ ...ask, model: `up/${model}` }));

    if (error === null) expect(event.error).toBeNull();
    else expect(event.error).toContain(error);
    expect(event.metadata["finish_reason"]).toBe(reason);
    expect(event.outputs).toMatchObject({ content: weather });
  });
});

describe("a stream", () => {
  test.each([
    { model: "m", more: {} },
    { model: "m", more: { tools } },
    { model: "reasoning", more: {} },
    { model: "length", more: {} },
    { model: "failed-end", more: {} },
  ])("of $model with $more is the provider's, byte for byte", async ({ model, more }) => {
    const body = { ...ask, stream: true, ...more };

    const answer = await post({ ...body, model: `up/${model}` });

    expect(answer.status).toBe(200);
    expect(answer.isWhole).toBe(true);
    expect(answer.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(answer.text).toBe(await direct(proxied.standIn, "/responses", { ...body, model }));
    const { stream: _, ...whole } = body;
    const streamed = await proxied.eventOf(answer);
    const unary = await proxied.eventOf(await post({ ...whole, model: `up/${model}` }));
    expect(streamed.outputs).toEqual(unary.outputs);
    expect(streamed.error).toEqual(unary.error);
    for (const key of ["usage", "finish_reason", "response_model", "response_id", "cost"]) {
      expect(streamed.metadata[key]).toEqual(unary.metadata[key]);
    }
    expect(streamed.metadata["stream"]).toBe(true);
  });

  test.each(["cut-off", "error-event", "malformed-stream"])(
    "that ends by %s ends with an error, and is recorded with what came",
    async (model) => {
      const answer = await post({ ...ask, model: `up/${model}`, stream: true });

      expect(answer.isWhole).toBe(false);
      expect(eventsIn(answer.text).at(-1)).toMatchObject({ error: { message: /up/ } });
      const event = await proxied.eventOf(answer);
      expect(event.error).toMatch(/^PROVIDER_FAILED: /);
      expect(weather.startsWith(String(event.outputs["content"]))).toBe(true);
      expect(event.metadata["response_id"]).toBe("resp_standin");
    },
  );

  test("whose client leaves is recorded with what came", async () => {
    const input = [{ role: "user", content: "Who leaves?" }];
    const body = { model: "up/pause-60000", input, stream: true };
    const call = proxied.open(body, {}, "/responses");
    await call.until((text) => text.includes("response.output_text.delta"));

    call.leave();

    const event = await proxied.eventSaying("Who leaves?");
    expect(event.error).toBe("CLIENT_GONE: the client went away");
    const said = String(event.outputs["content"]);
    expect([said.length > 0, weather.startsWith(said)]).toEqual([true, true]);
  });

  test("whose end repeats the provider's key does not pass it on", async () => {
    const answer = await post({ ...ask, model: "up/leak-key-event", stream: true });

    expect(answer.text).not.toContain(providerKey);
    expect(JSON.stringify(await proxied.eventOf(answer))).not.toContain(providerKey);
  });
});

test("the next target of an alias is asked where one fails before its first event", async () => {
  const answer = await post({ ...ask, model: "fast", stream: true });

  const event = await proxied.eventOf(answer);
  expect(event.outputs).toMatchObject({ content: "Second here." });
  expect(event.metadata).toMatchObject({ requested_model: "fast" });
});

describe("a request is refused", () => {
  test("that asks for an answer in the background", async () => {
    const answer = await post({ ...ask, model: "up/m", background: true });

    expect(answer.status).toBe(400);
    expect(answer.text).toContain("background: must not be true");
  });

  test("for a rpc that is not its own", async () => {
    const answer = await proxied.post("/responses/stream", { ...ask, model: "up/m" });

    expect(answer.status).toBe(400);
    expect(answer.text).toContain("stream: must be true here");
  });
});

describe("over each kind of provider", () => {
  const standIn = givenStarted(startOpenAiStandIn);
  const service = givenStarted(() => startService({ providers: providersOf(standIn) }));
  const client = () =>
    new OpenAI({ apiKey: service.projectKey, baseURL: `${service.url}/v1`, maxRetries: 0 });

  test.each(["openai", "azure", "openai_compatible"])("npm openai reads %s", async (provider) => {
    const model = `${provider === "openai_compatible" ? "local" : provider}/some`;
    standIn.clear();

    const whole = await client().responses.create({ model, ...ask });
    const texts: string[] = [];
    const stream = await client().responses.create({ model, ...ask, stream: true });
    for await (const event of stream) {
      if (event.type === "response.output_text.delta") texts.push(event.delta);
    }

    expect(whole.output_text).toBe(weather);
    expect(texts.join("")).toBe(weather);
    const path = provider === "azure" ? "/openai/v1/responses" : "/v1/responses";
    expect(standIn.requests.map((request) => request.path.endsWith(path))).toEqual([true, true]);
    expect(standIn.requests.map(({ body }) => body["model"])).toEqual(["some", "some"]);
  });

  test.each(["anthropic", "google", "bedrock", "mistral"])(
    "%s has no such API, and the error says what to use",
    async (provider) => {
      const asked = client().responses.create({ model: `${provider}/some`, ...ask });

      await expect(asked).rejects.toThrow(
        /^400 .*has no Responses API; use \/v1\/chat\/completions/,
      );
    },
  );
});

test.each([
  ["GET", ""],
  ["DELETE", ""],
  ["POST", "/cancel"],
  ["GET", "/input_items"],
])(
  "%s /v1/responses/{id}%s is the fixed 404, which OpenAI's client raises",
  async (method, more) => {
    const { url, projectKey: apiKey } = proxied.service;
    const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
    const name = method.toLowerCase() as "get" | "post" | "delete";

    const error: unknown = await client[name](`/responses/resp_1${more}`).catch(
      (reason: unknown) => reason,
    );

    expect(error).toBeInstanceOf(NotFoundError);
    const response = await fetch(`${url}/v1/responses/resp_1${more}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}` },
    });
    expect(await response.json()).toEqual({
      success: false,
      statusCode: 404,
      errorCode: "NOT_FOUND",
      message: "Not found",
    });
  },
);
