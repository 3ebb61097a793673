// npm openai pointed at the proxy by its base URL alone, over every kind of provider: it reads the
// same answers as from OpenAI, and every call is a model event.
// Source: the published client; docs/decisions.md, 20.1, 21.1.

import { OpenAI } from "openai";
import type { ChatCompletionFunctionTool } from "openai/resources/chat/completions";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { givenStarted } from "../support/given.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { is, readEvents, type ReadEvent } from "../support/read-back.ts";
import { startService } from "../support/service.ts";
import { providersOf, standInApis } from "../support/stand-in/providers.ts";
import { patience } from "../support/patience.ts";

const words = "It is 18 °C and sunny in Paris.";
const messages = [{ role: "user" as const, content: "How is the weather?" }];
const tools: ChatCompletionFunctionTool[] = [
  {
    type: "function",
    function: {
      name: "weather",
      parameters: { type: "object", properties: { city: { type: "string" } } },
    },
  },
];

const standIn = givenStarted(startOpenAiStandIn);
const service = givenStarted(() =>
  startService({
    providers: providersOf(standIn),
    "model-aliases": JSON.stringify({ fast: ["openai/fail-500", "anthropic/claude"] }),
    "provider-attempts": "2",
    "provider-timeout-ms": "2000",
    "provider-idle-timeout-ms": "1000",
  }),
);
let openai: OpenAI;

beforeAll(async () => {
  openai = new OpenAI({
    apiKey: service.projectKey,
    baseURL: `${service.url}/v1`,
    maxRetries: 0,
  });
});

function eventsWhere(field: string, value: string): Promise<readonly ReadEvent[]> {
  return readEvents({ url: service.url, key: service.readOnlyKey }, [is(field, value)]);
}

async function eventOf(response: Response): Promise<ReadEvent> {
  const id = response.headers.get("x-waggle-generation-id") ?? "";
  const [event] = await eventsWhere("event_id", id);
  if (!event) throw new Error(`no event ${id}`);
  return event;
}

describe.each(standInApis)("npm openai over %s", (provider) => {
  const model = `${provider}/some`;

  test("reads an answer, and its call is an event", async () => {
    const { data, response } = await openai.chat.completions
      .create({ model, messages, temperature: 0.5 })
      .withResponse();

    const event = await eventOf(response);
    expect(data).toMatchObject({
      object: "chat.completion",
      choices: [
        { index: 0, message: { role: "assistant", content: words }, finish_reason: "stop" },
      ],
      usage: { completion_tokens: 9 },
    });
    expect(event).toMatchObject({
      event_type: "model",
      error: null,
      config: { model: "some", provider, hyperparameters: { temperature: 0.5 } },
      inputs: { chat_history: messages },
      outputs: { role: "assistant", content: words },
      metadata: {
        prompt_tokens: data.usage?.prompt_tokens,
        completion_tokens: 9,
        finish_reason: "stop",
        stream: false,
      },
    });
  });

  test("gathers from a stream what it reads whole, and its call is an event", async () => {
    const whole = await openai.chat.completions.create({ model, messages });
    const user = `streams from ${provider}`;

    const stream = openai.chat.completions.stream(
      { model, messages, stream_options: { include_usage: true } },
      { headers: { "x-waggle-user": user } },
    );
    const got = await stream.finalChatCompletion();

    expect(got.choices[0]).toMatchObject({ message: { content: words }, finish_reason: "stop" });
    expect(got.usage).toMatchObject({
      prompt_tokens: whole.usage?.prompt_tokens,
      completion_tokens: whole.usage?.completion_tokens,
    });
    const [event] = await eventsWhere("user_properties.user", user);
    expect(event).toMatchObject({
      error: null,
      outputs: { role: "assistant", content: words },
      metadata: { stream: true, completion_tokens: 9 },
    });
  });

  test("calls tools, whole and from a stream, and is answered their results", async () => {
    const whole = await openai.chat.completions.create({ model, messages, tools });
    const streamed = await openai.chat.completions
      .stream({ model, messages, tools })
      .finalChatCompletion();
    const message = whole.choices[0]?.message;
    const call = message?.tool_calls?.[0];
    if (!message || call?.type !== "function") throw new Error("no function was called");

    const answer = await openai.chat.completions.create({
      model,
      tools,
      messages: [...messages, message, { role: "tool", tool_call_id: call.id, content: "18" }],
    });

    expect(whole.choices[0]?.finish_reason).toBe("tool_calls");
    expect(call.function.name).toBe("weather");
    expect(JSON.parse(call.function.arguments)).toEqual({ city: "Paris" });
    expect(streamed.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: { tool_calls: [{ type: "function", function: call.function }] },
    });
    expect(answer.choices[0]?.message.content).toBe(words);
  });

  test("fails with the provider's words and class of status", async () => {
    const failing = openai.chat.completions.create({ model: `${provider}/fail-400`, messages });

    await expect(failing).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    await expect(failing).rejects.toThrow("stand-in says 400");
  });

  test("fails where the stream breaks off, which the event says", async () => {
    const user = `breaks off at ${provider}`;
    const stream = await openai.chat.completions.create(
      { model: `${provider}/cut-off`, messages, stream: true },
      { headers: { "x-waggle-user": user } },
    );

    await expect(textOf(stream)).rejects.toThrow();

    const [event] = await eventsWhere("user_properties.user", user);
    expect(event?.error).toMatch(/^PROVIDER_FAILED: /);
    expect(event?.outputs).toMatchObject({ content: words });
  });
});

async function textOf(stream: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<string> {
  let text = "";
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
  return text;
}

/** Anthropic has no embeddings. */
const embedders = [
  "openai/text-embedding-3-small",
  "azure/embed",
  "openai_compatible/embed",
  "google/gemini-embedding-001",
  "mistral/mistral-embed",
  "bedrock/amazon.titan-embed-text-v2:0",
];

describe("npm openai", () => {
  test.each(embedders)("reads embeddings of %s", async (model) => {
    const { data, response } = await openai.embeddings
      .create({ model, input: ["one", "two"] })
      .withResponse();

    expect(data.data.map(({ index, embedding }) => ({ index, embedding }))).toEqual([
      { index: 0, embedding: [0.25, -0.5, 0.125, 1] },
      { index: 1, embedding: [0.25, -0.5, 0.125, 1] },
    ]);
    expect(await eventOf(response)).toMatchObject({
      event_type: "model",
      inputs: { input: ["one", "two"] },
      outputs: { count: 2, dimensions: 4 },
    });
  });

  test("says by headers where and how its call is recorded", async () => {
    const headers = {
      "x-waggle-session-id": "a session of its own",
      "x-waggle-name": "ask",
      "x-waggle-user": "ada",
      "x-waggle-metadata": '{"release":"7"}',
    };

    const { response } = await openai.chat.completions
      .create({ model: "openai/some", messages }, { headers })
      .withResponse();

    expect(response.headers.get("x-waggle-session-id")).toBe("a session of its own");
    expect(await eventOf(response)).toMatchObject({
      session_id: "a session of its own",
      event_name: "ask",
      metadata: { release: "7" },
      user_properties: { user: "ada" },
    });
  });

  test("is told tokens in parts that do not overlap", async () => {
    for (const model of ["openai_compatible/some-cached", "anthropic/some-cached"]) {
      const { response } = await openai.chat.completions.create({ model, messages }).withResponse();

      const { metadata } = await eventOf(response);
      const usage = metadata["usage"] as Record<string, number>;
      expect(usage).toMatchObject({ cache_read: 64, output: 9 });
      const { input = 0, cache_read: cacheRead = 0, cache_write: cacheWrite = 0 } = usage;
      expect(metadata["prompt_tokens"]).toBe(input + cacheRead + cacheWrite);
    }
  });

  test("is answered by the next model of an alias where the first fails", async () => {
    const { data, response } = await openai.chat.completions
      .create({ model: "fast", messages })
      .withResponse();

    const { metadata, config } = await eventOf(response);
    expect(data.choices[0]?.message.content).toBe(words);
    expect(response.headers.get("x-waggle-provider")).toBe("anthropic");
    expect(config).toMatchObject({ provider: "anthropic", model: "claude" });
    expect(metadata).toMatchObject({
      requested_model: "fast",
      attempts: [
        { provider: "openai", status: 500 },
        { provider: "openai", status: 500 },
        { provider: "anthropic", model: "claude" },
      ],
    });
  });

  test("does not hear of a failure that another try mends", async () => {
    const { response } = await openai.chat.completions
      .create({ model: "openai/flaky-429-1", messages })
      .withResponse();

    const { metadata, error } = await eventOf(response);
    expect(error).toBeNull();
    expect(metadata["attempts"]).toMatchObject([{ status: 429 }, { model: "flaky-429-1" }]);
  });

  test("lists what it may ask for", async () => {
    const models = await openai.models.list();

    const ids = models.data.map(({ id }) => id);
    expect(ids).toEqual(
      expect.arrayContaining([
        "fast",
        "openai/stand-in",
        "anthropic/claude-stand-in",
        "google/gemini-stand-in",
        "mistral/mistral-stand-in",
      ]),
    );
  });

  test("with a key of nobody is told that there is nothing", async () => {
    const stranger = openai.withOptions({ apiKey: `hh_${"A".repeat(40)}` });

    const failing = stranger.chat.completions.create({ model: "openai/some", messages });

    await expect(failing).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  });

  test.each([
    { model: "openai/fail-429", error: OpenAI.RateLimitError, reason: "PROVIDER_LIMITED" },
    { model: "openai/fail-500", error: OpenAI.InternalServerError, reason: "PROVIDER_FAILED" },
    { model: "openai/reset", error: OpenAI.InternalServerError, reason: "PROVIDER_FAILED" },
    { model: "openai/malformed", error: OpenAI.InternalServerError, reason: "PROVIDER_FAILED" },
    { model: "openai/slow-4000", error: OpenAI.InternalServerError, reason: "PROVIDER_TIMEOUT" },
    // The provider's refusal of a key that is not the caller's.
    { model: "openai/fail-401", error: OpenAI.APIError, reason: "PROVIDER_FAILED" },
  ])("fails for $model, which the event says", async ({ model, error, reason }) => {
    const user = `fails with ${model}`;

    const failing = openai.chat.completions.create(
      { model, messages },
      { headers: { "x-waggle-user": user } },
    );

    await expect(failing).rejects.toBeInstanceOf(error);
    const [event] = await eventsWhere("user_properties.user", user);
    expect(event?.error).toMatch(new RegExp(`^${reason}: `));
    expect(event?.inputs).toEqual({ chat_history: messages });
  });

  test.each([
    "malformed-stream",
    "trickle-20+malformed-stream",
    "error-event",
    "trickle-20+error-event",
    "no-finish",
    "pause-5000",
    "cut-off",
  ])("never takes a stream that is %s for a whole one", async (play) => {
    const user = `streams ${play}`;
    // A fault that comes with the first words is an error status, a later one breaks the stream.
    const read = async (): Promise<string> => {
      const stream = await openai.chat.completions.create(
        { model: `openai_compatible/${play}`, messages, stream: true },
        { headers: { "x-waggle-user": user } },
      );
      return textOf(stream);
    };

    await expect(read()).rejects.toThrow();

    const [event] = await eventsWhere("user_properties.user", user);
    expect(event?.error).toMatch(/^PROVIDER_(FAILED|TIMEOUT): /);
  });

  test("that stops reading stops the provider, which the event says", async () => {
    standIn.clear();
    const user = "goes away";
    const stream = await openai.chat.completions.create(
      { model: "openai_compatible/endless", messages, stream: true },
      { headers: { "x-waggle-user": user } },
    );
    let count = 0;
    for await (const _ of stream) {
      count += 1;
      if (count === 100) break;
    }

    await vi.waitFor(() => expect(standIn.running()).toBe(0), patience);

    expect(standIn.requests).toMatchObject([{ model: "endless", isAborted: true }]);
    await vi.waitFor(async () => {
      const [event] = await eventsWhere("user_properties.user", user);
      expect(event?.error).toMatch(/^CLIENT_GONE: /);
    }, patience);
  });
});
