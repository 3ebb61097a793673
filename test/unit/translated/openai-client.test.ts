// OpenAI's own client reads what every provider answers in translation, whole and streamed.

import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { providerTypes, speaksOpenAi } from "../../../src/generation/provider.ts";
import { givenStarted } from "../../support/given.ts";
import { startOpenAiStandIn } from "../../support/openai-stand-in.ts";
import { models, type OpenAiServer, serveOpenAi } from "../../support/translated.ts";

const text = "It is 18 °C and sunny in Paris.";
const question = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "What is the weather in Paris?" },
] as const satisfies OpenAI.ChatCompletionMessageParam[];

const weather = {
  type: "function",
  function: {
    name: "get_weather",
    description: "The weather of a city.",
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
} as const satisfies OpenAI.ChatCompletionTool;

const standIn = givenStarted(startOpenAiStandIn);

describe.each(providerTypes)("OpenAI's client, with %s behind it,", (type) => {
  let server: OpenAiServer;
  let client: OpenAI;
  const model = models[type];

  beforeAll(async () => {
    server = await serveOpenAi(standIn, type);
    client = server.client;
  });

  afterAll(() => server.stop());

  test("reads an answer with its tokens", async () => {
    const got = await client.chat.completions.create({ model, messages: [...question] });

    expect(got.object).toBe("chat.completion");
    expect(got.id).not.toBe("");
    expect(got.model).toContain(model);
    expect(got.created).toBeGreaterThan(1_700_000_000);
    expect(got.choices).toEqual([
      {
        index: 0,
        message: { role: "assistant", content: text, refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ]);
    const { prompt_tokens = 0, completion_tokens = 0, total_tokens } = got.usage ?? {};
    expect(prompt_tokens).toBeGreaterThan(0);
    expect(completion_tokens).toBeGreaterThan(0);
    expect(total_tokens).toBe(prompt_tokens + completion_tokens);
  });

  test("reads a stream with its tokens to its end", async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: [...question],
      stream: true,
      stream_options: { include_usage: true },
    });

    const chunks = await Array.fromAsync(stream);

    const words = chunks.map(({ choices }) => choices[0]?.delta.content ?? "");
    expect(words.join("")).toBe(text);
    expect(words.filter((word) => word !== "").length).toBeGreaterThan(2);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop");
    expect(chunks.at(-1)?.choices).toEqual([]);
    expect(chunks.at(-1)?.usage?.completion_tokens).toBeGreaterThan(0);
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
  });

  test("is told no tokens in a stream unless it asks", async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: [...question],
      stream: true,
    });

    const chunks = await Array.fromAsync(stream);

    expect(chunks.some((chunk) => "usage" in chunk)).toBe(false);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe("stop");
  });

  test.each(["whole", "streamed"])(
    "calls a tool and hears the answer to its result, %s",
    async (how) => {
      const create = (messages: OpenAI.ChatCompletionMessageParam[]) => {
        const body = { model: `${model}-parallel`, messages, tools: [weather, clock] };
        return how === "whole"
          ? client.chat.completions.create(body)
          : client.chat.completions.stream(body).finalChatCompletion();
      };

      const first = await create([...question]);
      const called = first.choices[0]?.message;
      const calls = (called?.tool_calls ?? []).filter((call) => call.type === "function");
      expect(first.choices[0]?.finish_reason).toBe("tool_calls");
      expect(calls.map((call) => call.function.name)).toEqual(["get_weather", "get_time"]);
      expect(calls.map((call) => JSON.parse(call.function.arguments) as unknown)).toEqual([
        { city: "Paris" },
        { city: "Paris" },
      ]);

      const results = calls.map(({ id }) => ({
        role: "tool" as const,
        tool_call_id: id,
        content: "18 °C, sunny",
      }));
      const second = await create([...question, ...(called ? [called] : []), ...results]);

      expect(second.choices[0]?.message.content).toBe(text);
      expect(second.choices[0]?.finish_reason).toBe("stop");
    },
  );

  test("gets several choices of one request", async () => {
    const got = await client.chat.completions.create({ model, messages: [...question], n: 3 });
    const one = await client.chat.completions.create({ model, messages: [...question] });

    expect(got.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(got.choices.map(({ message }) => message.content)).toEqual([text, text, text]);
    const { prompt_tokens = 0, completion_tokens = 0 } = one.usage ?? {};
    // The OpenAI API answers all choices to one request, whose prompt counts once.
    const prompts = speaksOpenAi(type) ? 1 : 3;
    expect(got.usage?.total_tokens).toBe(prompts * prompt_tokens + 3 * completion_tokens);
  });

  test("gets several choices in one stream", async () => {
    const stream = client.chat.completions.stream({
      model: `${model}-trickle-5`,
      messages: [...question],
      n: 2,
      stream_options: { include_usage: true },
    });

    const got = await stream.finalChatCompletion();

    expect(got.choices.map(({ message }) => message.content)).toEqual([text, text]);
    expect(got.usage?.completion_tokens).toBeGreaterThan(0);
  });

  test("is told that the answer is cut for its length", async () => {
    const body = { model: `${model}-length`, messages: [...question], max_tokens: 5 };

    const got = await client.chat.completions.create(body);

    expect(got.choices[0]?.finish_reason).toBe("length");
  });

  test("hears of an error in the middle of a stream", async () => {
    const stream = client.chat.completions.stream({
      model: `${model}-error-event`,
      messages: [...question],
    });

    await expect(stream.finalChatCompletion()).rejects.toThrow();
  });
});

const clock = {
  type: "function",
  function: { name: "get_time", parameters: { type: "object", properties: {} } },
} as const satisfies OpenAI.ChatCompletionTool;

test("OpenAI's client sends back the signed reasoning of a stream", async () => {
  const server = await serveOpenAi(standIn, "anthropic");
  const body = {
    model: `${models.anthropic}-reasoning`,
    tools: [weather],
    reasoning_effort: "low" as const,
    max_tokens: 9_000,
  };

  const first = await server.client.chat.completions
    .stream({ ...body, messages: [...question] })
    .finalMessage();
  const [call] = first.tool_calls ?? [];
  const result = { role: "tool", tool_call_id: call?.id ?? "", content: "18 °C" } as const;
  await server.client.chat.completions.create({ ...body, messages: [...question, first, result] });

  expect(first).toMatchObject({ tool_calls: [{ function: { name: "get_weather" } }] });
  const { messages } = standIn.requests.at(-1)?.body as { messages: readonly unknown[] };
  expect(messages[1]).toMatchObject({
    role: "assistant",
    content: [
      { type: "thinking", thinking: "The user asks for the weather. ", signature: "c2lnbmVk" },
      { type: "tool_use", name: "get_weather", input: { city: "Paris" } },
    ],
  });
  await server.stop();
});

describe("OpenAI's client reads embeddings", () => {
  const embedders = {
    google: "gemini-embedding-001",
    bedrock: "amazon.titan-embed-text-v2:0",
    mistral: "mistral-embed",
  } as const;

  test.each(["google", "bedrock", "mistral"] as const)("of %s", async (type) => {
    const server = await serveOpenAi(standIn, type);
    const input = Array.from({ length: 101 }, (_, index) => `text ${index}`);

    // Without encoding_format the client asks for base64, and decodes it.
    const got = await server.client.embeddings.create({ model: embedders[type], input });
    const one = await server.client.embeddings.create({
      model: embedders[type],
      input: "text",
      encoding_format: "float",
    });

    expect(got.data.map(({ index }) => index)).toEqual(input.map((_, index) => index));
    expect(got.data[100]?.embedding).toEqual([0.25, -0.5, 0.125, 1]);
    expect(one.data[0]?.embedding).toEqual([0.25, -0.5, 0.125, 1]);
    await server.stop();
  });
});
