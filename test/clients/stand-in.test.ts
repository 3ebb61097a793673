// The stand-in of the model providers against the providers' own clients, so that what tests learn
// from it holds for the providers too. Source: the APIs' public references.

import { Anthropic } from "@anthropic-ai/sdk";
import { createAmazonBedrock } from "@ai-sdk/amazon-bedrock";
import { createAzure } from "@ai-sdk/azure";
import { createGoogle } from "@ai-sdk/google";
import { createMistral } from "@ai-sdk/mistral";
import { generateText, jsonSchema, streamText, tool, type ToolSet } from "ai";
import { OpenAI } from "openai";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { givenStarted } from "../support/given.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { patience } from "../support/patience.ts";

const words = "It is 18 °C and sunny in Paris.";
const messages = [{ role: "user" as const, content: "hi" }];

const standIn = givenStarted(startOpenAiStandIn);
let openai: OpenAI;
let anthropic: Anthropic;

beforeAll(async () => {
  const plain = { apiKey: "a secret", maxRetries: 0 };
  openai = new OpenAI({ ...plain, baseURL: standIn.url });
  // Its client adds the version to the path by itself.
  const baseURL = standIn.urls.anthropic.replace(/\/v1$/, "");
  anthropic = new Anthropic({ ...plain, baseURL });
});

describe("Anthropic's client", () => {
  const ask = { model: "claude", max_tokens: 50, messages };
  const tools = [{ name: "weather", input_schema: { type: "object" as const } }];

  test("reads an answer", async () => {
    const got = await anthropic.messages.create(ask);

    expect(got).toMatchObject({
      type: "message",
      role: "assistant",
      content: [{ type: "text", text: words }],
      stop_reason: "end_turn",
      usage: { input_tokens: expect.any(Number) as number, output_tokens: 9 },
    });
  });

  test("gathers from a stream what it reads whole", async () => {
    for (const more of [{}, { tools }, { model: "claude-reasoning+cached" }]) {
      const whole = await anthropic.messages.create({ ...ask, ...more });

      const got = await anthropic.messages.stream({ ...ask, ...more }).finalMessage();

      expect(got).toMatchObject({ content: whole.content, stop_reason: whole.stop_reason });
      expect(got.usage).toEqual(whole.usage);
    }
  });

  test("is given a call of the tool that it offers, and an answer to the result", async () => {
    const called = await anthropic.messages.create({ ...ask, tools });
    const [call] = called.content;
    if (call?.type !== "tool_use") throw new Error("no tool was called");

    const got = await anthropic.messages.create({
      ...ask,
      tools,
      messages: [
        ...messages,
        { role: "assistant", content: called.content },
        { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "18" }] },
      ],
    });

    expect(call).toMatchObject({ name: "weather", input: { city: "Paris" } });
    expect(got).toMatchObject({ content: [{ text: words }], stop_reason: "end_turn" });
  });

  test("fails with the class of its status", async () => {
    const failing = (model: string) => anthropic.messages.create({ ...ask, model });

    await expect(failing("claude-fail-429")).rejects.toBeInstanceOf(Anthropic.RateLimitError);
    await expect(failing("claude-fail-529")).rejects.toThrow("overloaded_error");
  });

  test("fails where the stream breaks off, or holds an error", async () => {
    const failing = (model: string) => anthropic.messages.stream({ ...ask, model }).finalMessage();

    await expect(failing("claude-cut-off")).rejects.toThrow();
    await expect(failing("claude-error-event")).rejects.toThrow("stand-in overloaded");
    await expect(failing("claude-malformed-stream")).rejects.toThrow();
  });
});

const models = {
  azure: (model: string) =>
    createAzure({
      apiKey: "a secret",
      baseURL: standIn.urls.azure,
      useDeploymentBasedUrls: true,
      apiVersion: "2024-10-21",
    }).chat(model),
  google: (model: string) =>
    createGoogle({ apiKey: "a secret", baseURL: standIn.urls.google })(model),
  mistral: (model: string) =>
    createMistral({ apiKey: "a secret", baseURL: standIn.urls.mistral })(model),
  bedrock: (model: string) =>
    createAmazonBedrock({
      region: "us-east-1",
      accessKeyId: "an id",
      secretAccessKey: "a secret",
      baseURL: standIn.urls.bedrock,
    })(model),
};
const offered: ToolSet = {
  weather: tool({ inputSchema: jsonSchema<{ city: string }>({ type: "object" }) }),
};

describe.each(Object.entries(models))("the AI SDK's client of %s", (_, modelOf) => {
  const plain = { prompt: "hi", maxRetries: 0 };

  test("reads an answer, and gathers the same from a stream", async () => {
    const model = modelOf("some-cached");

    const whole = await generateText({ ...plain, model });
    const stream = streamText({ ...plain, model });

    expect(whole).toMatchObject({ text: words, finishReason: "stop" });
    expect(whole.usage).toMatchObject({ inputTokenDetails: { cacheReadTokens: 64 } });
    expect(await stream.text).toBe(words);
    expect(await stream.finishReason).toBe("stop");
    const { inputTokens, outputTokens } = whole.usage;
    expect(await stream.usage).toMatchObject({ inputTokens, outputTokens });
  });

  test("reads calls of tools, whole and from a stream", async () => {
    const model = modelOf("some");
    const called = [{ toolName: "weather", input: { city: "Paris" } }];

    const whole = await generateText({ ...plain, model, tools: offered });
    const stream = streamText({ ...plain, model, tools: offered });

    expect(whole).toMatchObject({ toolCalls: called, finishReason: "tool-calls" });
    expect(await stream.toolCalls).toMatchObject(called);
  });

  test("fails with the words of the error", async () => {
    const failed = generateText({ ...plain, model: modelOf("some-fail-503") });

    await expect(failed).rejects.toMatchObject({ message: "stand-in says 503", statusCode: 503 });
  });
});

describe("a play", () => {
  const complete = (model: string, user = "one") =>
    openai.chat.completions.create({ model, messages, safety_identifier: user });

  test("that is flaky fails so often for each user, and then succeeds", async () => {
    const statusOf = (user: string) =>
      complete("flaky-503-2", user).then(
        () => 200,
        (error: unknown) => (error as { readonly status: number }).status,
      );

    const got = [
      await statusOf("a"),
      await statusOf("b"),
      await statusOf("a"),
      await statusOf("a"),
      await statusOf("b"),
      await statusOf("a"),
    ];

    expect(got).toEqual([503, 503, 503, 200, 503, 503]);
  });

  test("without an end is one until the client goes, which is seen", async () => {
    standIn.clear();
    const stream = await openai.chat.completions.create({
      model: "endless",
      messages,
      stream: true,
    });
    let count = 0;
    for await (const _ of stream) {
      count += 1;
      if (count === 1_000) break;
    }

    await vi.waitFor(() => expect(standIn.running()).toBe(0), patience);

    expect(standIn.requests).toMatchObject([{ model: "endless", isAborted: true }]);
  });

  test("that breaks off is seen as no abort of the client's", async () => {
    standIn.clear();

    await expect(complete("cut-off")).rejects.toThrow();

    await vi.waitFor(() => expect(standIn.running()).toBe(0), patience);
    expect(standIn.requests).toMatchObject([{ model: "cut-off", isAborted: false }]);
  });

  test("that leaks repeats the key", async () => {
    await expect(complete("leak-key")).rejects.toThrow("a secret");
  });

  test("asks for nothing but the keys it was given", async () => {
    const strict = await startOpenAiStandIn(0, { keys: ["right"], text: "mine" });
    const ask = (apiKey: string) =>
      new OpenAI({ apiKey, baseURL: strict.url, maxRetries: 0 }).chat.completions.create({
        model: "m",
        messages,
      });

    await expect(ask("wrong")).rejects.toMatchObject({ status: 401 });
    expect(await ask("right")).toMatchObject({ choices: [{ message: { content: "mine" } }] });
    await strict.stop();
  });
});
