// Requests as each provider gets them; a field that a provider lacks is refused by name.

import { beforeEach, describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../src/base/json.ts";
import type { ProviderType } from "../../../src/generation/provider.ts";
import { givenStarted } from "../../support/given.ts";
import { startOpenAiStandIn } from "../../support/openai-stand-in.ts";
import { ask, models, targetAt, translatedTypes } from "../../support/translated.ts";

const user = { role: "user", content: "Hello" };
const image = "data:image/png;base64,iVBORw0KGgo=";
const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const tool = { type: "function", function: { name: "get_weather", parameters: schema } };
const called = {
  role: "assistant",
  content: null,
  tool_calls: [
    { id: "call_1", type: "function", function: { name: "get_weather", arguments: "{}" } },
  ],
};

const standIn = givenStarted(startOpenAiStandIn);

beforeEach(() => standIn.clear());

/** Sends a request, and returns the body that the provider got. */
async function sent(type: ProviderType, body: JsonObject): Promise<JsonObject> {
  await ask(targetAt(standIn, type, models[type]), { model: "m", messages: [user], ...body });
  expect(standIn.requests).toHaveLength(1);
  return standIn.requests[0]?.body as JsonObject;
}

describe("a chat request", () => {
  const settings = {
    max_tokens: 50,
    temperature: 0.5,
    stop: ["END"],
    tools: [tool],
    tool_choice: "required",
    n: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    logprobs: false,
    logit_bias: {},
    modalities: ["text"],
    store: false,
    user: "u-1",
    seed: null,
  };

  test.each<{ type: ProviderType; want: JsonObject }>([
    {
      type: "anthropic",
      want: {
        max_tokens: 50,
        temperature: 0.5,
        stop_sequences: ["END"],
        tools: [{ name: "get_weather", input_schema: schema }],
        tool_choice: { type: "any" },
        messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      },
    },
    {
      type: "google",
      want: {
        generationConfig: { maxOutputTokens: 50, temperature: 0.5, stopSequences: ["END"] },
        toolConfig: { functionCallingConfig: { mode: "ANY" } },
        contents: [{ role: "user", parts: [{ text: "Hello" }] }],
      },
    },
    {
      type: "bedrock",
      want: {
        inferenceConfig: { maxTokens: 50, temperature: 0.5, stopSequences: ["END"] },
        toolConfig: { toolChoice: { any: {} } },
        messages: [{ role: "user", content: [{ text: "Hello" }] }],
      },
    },
    {
      type: "mistral",
      want: {
        max_tokens: 50,
        temperature: 0.5,
        stop: ["END"],
        tools: [{ type: "function", function: { name: "get_weather", parameters: schema } }],
        tool_choice: "any",
        messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
      },
    },
  ])("reaches $type in its own words", async ({ type, want }) => {
    const got = await sent(type, settings);

    expect(got).toMatchObject(want);
    expect(JSON.stringify(got)).not.toMatch(/penalty|logprobs|"seed"|random_seed/i);
  });

  test.each(translatedTypes)("carries an image in the request to %s", async (type) => {
    const parts = [
      { type: "text", text: "What is it?" },
      { type: "image_url", image_url: { url: image } },
    ];

    const got = await sent(type, { messages: [{ role: "user", content: parts }] });

    expect(JSON.stringify(got)).toContain("iVBORw0KGgo=");
  });

  test.each(translatedTypes)("reads the media type in any case for %s", async (type) => {
    const url = image.replace("data:image/png", "DATA:Image/PNG");

    const got = await sent(type, { messages: [withImage({ url })] });

    expect(JSON.stringify(got)).toMatch(/"(?:image\/)?png"|"data:image\/png;/);
  });

  test.each([
    { format: "wav", mediaType: "audio/wav" },
    { format: "mp3", mediaType: "audio/mpeg" },
    { format: "flac", mediaType: "audio/flac" },
    { format: "opus", mediaType: "audio/ogg" },
    { format: "m4a", mediaType: "audio/mp4" },
  ])("tells Google the media type of $format", async ({ format, mediaType }) => {
    const content = [{ type: "input_audio", input_audio: { data: "AAAA", format } }];

    const got = await sent("google", { messages: [{ role: "user", content }] });

    expect(JSON.stringify(got)).toContain(`"mimeType":"${mediaType}"`);
  });

  test("refuses audio of an unknown format by name", async () => {
    const content = [{ type: "input_audio", input_audio: { data: "AAAA", format: "midi" } }];

    const asked = sent("google", { messages: [{ role: "user", content }] });

    await expect(asked).rejects.toThrow(
      "messages[0].content[0].input_audio.format: must be one of",
    );
  });

  test.each(["anthropic", "mistral"] as const)("gives %s the address of an image", async (type) => {
    const url = "https://example.com/a.png";
    const content = [{ type: "image_url", image_url: { url, detail: "auto" } }];

    const got = await sent(type, { messages: [{ role: "user", content }] });

    expect(JSON.stringify(got)).toContain(url);
  });

  test("tells OpenAI how closely to look at an image", async () => {
    const content = [{ type: "image_url", image_url: { url: image, detail: "low" } }];

    const got = await sent("openai", { messages: [{ role: "user", content }] });

    expect(got["messages"]).toMatchObject([{ content: [{ image_url: { detail: "low" } }] }]);
  });

  test.each(translatedTypes)("tells %s the developer's words as the system's", async (type) => {
    const content = [
      { type: "text", text: "Rule one." },
      { type: "text", text: "Rule two." },
    ];

    const got = await sent(type, { messages: [{ role: "developer", content }, user] });

    const { system, systemInstruction, messages } = got;
    const [first] = type === "mistral" ? [messages] : [system ?? systemInstruction];
    expect(JSON.stringify(first)).toMatch(/Rule one.*Rule two/);
  });

  test("asks for answers of a schema", async () => {
    const response_format = { type: "json_schema", json_schema: { name: "city", schema } };

    const got = await sent("google", { response_format });

    expect(got["generationConfig"]).toMatchObject({ responseMimeType: "application/json" });
  });

  test.each<{ type: ProviderType; want: JsonValue }>([
    { type: "anthropic", want: { tool_choice: { disable_parallel_tool_use: true } } },
    {
      type: "bedrock",
      want: { additionalModelRequestFields: { tool_choice: { disable_parallel_tool_use: true } } },
    },
    { type: "mistral", want: { parallel_tool_calls: false } },
  ])("forbids $type to call several tools at once", async ({ type, want }) => {
    const got = await sent(type, { tools: [tool], parallel_tool_calls: false });

    expect(got).toMatchObject(want as object);
  });

  test("gives Google the results of one turn's calls in one turn", async () => {
    const calls = ["call_1", "call_2"];
    const assistant = {
      ...called,
      tool_calls: calls.map((id) => ({ ...called.tool_calls[0], id })),
    };
    const results = calls.map((id) => ({ role: "tool", tool_call_id: id, content: id }));

    const got = await sent("google", { messages: [user, assistant, ...results, user] });

    // Gemini refuses a turn with fewer results than the calls of the turn before it.
    expect(got["contents"]).toMatchObject([
      { role: "user" },
      { role: "model", parts: [{ functionCall: {} }, { functionCall: {} }] },
      { role: "user", parts: [{ functionResponse: {} }, { functionResponse: {} }] },
      { role: "user", parts: [{ text: "Hello" }] },
    ]);
  });

  test.each<{ type: ProviderType; want: JsonObject }>([
    { type: "anthropic", want: { tools: [{ input_schema: { type: "object" } }] } },
    {
      type: "bedrock",
      want: {
        toolConfig: { tools: [{ toolSpec: { inputSchema: { json: { type: "object" } } } }] },
      },
    },
  ])("tells $type that a function without parameters takes an object", async ({ type, want }) => {
    const bare = { type: "function", function: { name: "now", parameters: {} } };

    expect(await sent(type, { tools: [bare] })).toMatchObject(want);
  });

  test.each(translatedTypes)("sends %s no empty texts beside others", async (type) => {
    const content = [
      { type: "text", text: "" },
      { type: "text", text: "Hello" },
    ];

    const got = await sent(type, {
      messages: [
        { role: "system", content: "" },
        { role: "user", content },
      ],
    });

    expect(JSON.stringify(got)).not.toMatch(/"(?:text|content)":""/);
    expect(JSON.stringify(got)).toContain('"Hello"');
  });

  test("offers Bedrock no functions where none may be called", async () => {
    const body = {
      model: "m",
      messages: [user],
      tools: [tool],
      tool_choice: "none",
      response_format: { type: "json_schema", json_schema: { name: "city", schema } },
    };

    await ask(targetAt(standIn, "bedrock", "amazon.nova-pro-v1:0"), body);

    // The AI SDK lets a model answer by a schema as the call of a function that must be called.
    expect(standIn.requests[0]?.body["toolConfig"]).toMatchObject({
      tools: [{ toolSpec: { name: "json" } }],
      toolChoice: { any: {} },
    });
  });

  test.each([
    { type: "mistral", id: "call_PTLP8xhu3uwZk4l3nlnrrJha", form: /^[a-zA-Z0-9]{9}$/ },
    { type: "mistral", id: "VvvODy9mT", form: /^VvvODy9mT$/ },
    { type: "anthropic", id: "functions.get_weather:0", form: /^[\w-]+$/ },
    { type: "anthropic", id: "call_PTLP8xhu3uwZk4l3nlnrrJha", form: /^call_PTLP8xhu3/ },
    { type: "bedrock", id: "functions.get_weather:0", form: /^[\w-]{1,64}$/ },
  ] as const)("tells $type of the call $id by an id that it takes", async ({ type, id, form }) => {
    const assistant = { ...called, tool_calls: [{ ...called.tool_calls[0], id }] };
    const result = { role: "tool", tool_call_id: id, content: "18 °C" };

    const got = await sent(type, { messages: [user, assistant, result], tools: [tool] });

    const ids = [...JSON.stringify(got["messages"]).matchAll(callId)].map(([, found]) => found);
    expect(ids).toEqual([expect.stringMatching(form), ids[0]]);
  });

  test("sends signed reasoning back as the provider gave it", async () => {
    const target = targetAt(standIn, "anthropic", `${models.anthropic}-reasoning`);
    const body = {
      model: "m",
      messages: [user],
      tools: [tool],
      reasoning_effort: "low",
      max_tokens: 9_000,
    };

    const first = await ask(target, body);
    const message = (first.kind === "whole" && choiceOf(first.json)["message"]) || null;
    expect(message).toMatchObject({ reasoning_content: "The user asks for the weather. " });
    const calls = (message as { tool_calls?: readonly { id: string }[] }).tool_calls ?? [];
    const result = { role: "tool", tool_call_id: calls[0]?.id ?? "", content: "18 °C" };
    await ask(target, { ...body, messages: [user, message, result] });

    expect(standIn.requests[1]?.body["messages"]).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "The user asks for the weather. ", signature: "c2lnbmVk" },
          { type: "tool_use", name: "get_weather" },
        ],
      },
      { role: "user", content: [{ type: "tool_result" }] },
    ]);
  });
});

/** Members that name a call in the APIs of the providers. */
const callId = /"(?:id|tool_call_id|tool_use_id|toolUseId)":"([^"]*)"/g;

function choiceOf(json: JsonObject): JsonObject {
  return (json["choices"] as readonly JsonObject[])[0] ?? {};
}

type Refusal = {
  readonly name: string;
  readonly types?: readonly ProviderType[];
  readonly body: JsonObject;
  readonly message?: string;
};

const refusals: readonly Refusal[] = [
  { name: "messages", body: { messages: [] } },
  { name: "messages", body: { messages: "Hello" } },
  { name: "messages[0]", body: { messages: ["Hello"] } },
  { name: "messages[0].role", body: { messages: [{ role: "robot", content: "x" }] } },
  // What every object has is no role, no kind of part and no member that is known.
  { name: "messages[0].role", body: { messages: [{ role: "constructor", content: "x" }] } },
  {
    name: "messages[0].content[0].type",
    body: { messages: [{ role: "user", content: [{ type: "constructor" }] }] },
  },
  { name: "constructor", body: { constructor: 1 } },
  { name: "messages[0].content", body: { messages: [{ role: "user" }] } },
  { name: "messages[0].name", body: { messages: [{ ...user, name: "Ada" }] } },
  {
    name: "messages[1].content[0].type",
    body: { messages: [user, { role: "user", content: [{ type: "video_url" }] }] },
  },
  {
    name: "messages[0].content[0].image_url.detail",
    body: { messages: [withImage({ url: image, detail: "high" })] },
  },
  {
    name: "messages[0].content[0].image_url.url",
    body: { messages: [withImage({ url: "file:///etc/passwd" })] },
  },
  {
    name: "messages[0].content[0].image_url.url",
    types: ["google", "bedrock"],
    body: { messages: [withImage({ url: "https://example.com/a.png" })] },
    message: "send the image as a data URL",
  },
  {
    name: "messages[1].tool_calls[0].function.arguments",
    body: {
      messages: [
        user,
        {
          role: "assistant",
          tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{" } }],
        },
      ],
    },
  },
  {
    name: "messages[1].tool_call_id",
    body: { messages: [user, { role: "tool", tool_call_id: "call_9", content: "x" }] },
  },
  {
    name: "messages",
    types: ["google", "bedrock"],
    body: { messages: [user, { role: "system", content: "Be brief." }, user] },
  },
  { name: "messages", types: ["bedrock"], body: { messages: [user, called, toolResult("x")] } },
  { name: "n", body: { n: 0 } },
  { name: "n", body: { n: 17 } },
  { name: "seed", body: { seed: 1.5 } },
  { name: "seed", types: ["anthropic", "bedrock"], body: { seed: 1 } },
  { name: "temperature", body: { temperature: "hot" } },
  { name: "temperature", types: ["anthropic", "bedrock"], body: { temperature: 1.5 } },
  { name: "top_p", types: ["anthropic"], body: { temperature: 0.5, top_p: 0.5 } },
  {
    name: "frequency_penalty",
    types: ["anthropic", "bedrock", "google"],
    body: { frequency_penalty: 0.5 },
  },
  { name: "max_tokens", body: { max_tokens: 5, max_completion_tokens: 6 } },
  { name: "max_tokens", types: ["anthropic"], body: { max_tokens: 10_000_000 } },
  {
    name: "max_completion_tokens",
    types: ["anthropic"],
    body: { max_completion_tokens: 10_000_000 },
  },
  { name: "stop[1]", body: { stop: ["a", 1] } },
  { name: "reasoning_effort", body: { reasoning_effort: "much" } },
  { name: "response_format.type", body: { response_format: { type: "xml" } } },
  {
    name: "response_format",
    types: ["anthropic", "bedrock"],
    body: { response_format: { type: "json_object" } },
    message: "requires a schema",
  },
  {
    name: "response_format",
    types: ["anthropic", "bedrock"],
    body: { response_format: { type: "json_schema", json_schema: { name: "city" } } },
    message: "requires a schema",
  },
  { name: "tools[0].type", body: { tools: [{ type: "custom", custom: { name: "x" } }] } },
  { name: "tools[0].function.name", body: { tools: [{ type: "function", function: {} }] } },
  { name: "tool_choice", body: { tool_choice: "required" } },
  {
    name: "tool_choice",
    body: { tools: [tool], tool_choice: { type: "function", function: { name: "other" } } },
  },
  {
    name: "parallel_tool_calls",
    types: ["google"],
    body: { tools: [tool], parallel_tool_calls: false },
  },
  { name: "functions", body: { functions: [{ name: "f" }] } },
  { name: "logprobs", body: { logprobs: true } },
  { name: "logit_bias", body: { logit_bias: { "50256": -100 } } },
  { name: "service_tier", body: { service_tier: "priority" } },
  { name: "audio", body: { audio: { voice: "alloy" } } },
  { name: "top_k", body: { top_k: 5 } },
  { name: "stream_options.other", body: { stream: true, stream_options: { other: true } } },
];

function withImage(image_url: JsonObject): JsonObject {
  return { role: "user", content: [{ type: "image_url", image_url }] };
}

function toolResult(content: string): JsonObject {
  return { role: "tool", tool_call_id: "call_1", content };
}

describe("a chat request that cannot be put to the provider", () => {
  const rows = refusals.flatMap((row) =>
    (row.types ?? translatedTypes).map((type) => ({
      ...row,
      type,
      text: JSON.stringify(row.body),
    })),
  );

  test.each(rows)(
    "is refused naming $name to $type: $text",
    async ({ name, type, body, message }) => {
      const asked = ask(targetAt(standIn, type, models[type]), {
        model: "m",
        messages: [user],
        ...body,
      });

      const got = await asked.catch((error: unknown) => error);

      expect(got).toMatchObject({ name: "ServiceError", reason: "INVALID_ARGUMENT" });
      expect((got as Error).message.split(": ")[0]).toBe(name);
      expect((got as Error).message).toContain(message ?? "");
      expect(standIn.requests).toEqual([]);
    },
  );

  test("is refused where a newer model no longer takes what others do", async () => {
    const target = targetAt(standIn, "anthropic", "claude-opus-4-7");
    const body = { model: "m", messages: [user] };

    await expect(ask(target, { ...body, temperature: 0.5 })).rejects.toThrow(/^temperature: /);
    // The default of the API, which clients send too.
    await ask(target, { ...body, temperature: 1, top_p: 1 });

    expect(standIn.requests).toHaveLength(1);
  });
});

test("a model that does not reason is asked for no effort", async () => {
  const target = targetAt(standIn, "bedrock", "amazon.nova-lite-v1:0");
  const body = { model: "m", messages: [user], reasoning_effort: "low" };

  await expect(ask(target, body)).rejects.toThrow(/^reasoning_effort: /);
  expect(standIn.requests).toEqual([]);
});

describe("a request for embeddings that cannot be put to the provider", () => {
  test.each<{ name: string; type: ProviderType; model?: string; body: JsonObject }>([
    { name: "model", type: "anthropic", body: { input: "x" } },
    { name: "input", type: "google", body: {} },
    { name: "input", type: "google", body: { input: [] } },
    { name: "input[0]", type: "mistral", body: { input: [1, 2, 3] } },
    { name: "encoding_format", type: "mistral", body: { input: "x", encoding_format: "hex" } },
    { name: "dimensions", type: "mistral", body: { input: "x", dimensions: 0 } },
    { name: "dimensions", type: "bedrock", body: { input: "x", dimensions: 7 } },
    {
      name: "dimensions",
      type: "bedrock",
      model: "cohere.embed-english-v3",
      body: { input: "x", dimensions: 512 },
    },
    { name: "other", type: "mistral", body: { input: "x", other: 1 } },
  ])("is refused naming $name to $type", async ({ name, type, model, body }) => {
    const target = targetAt(standIn, type, model ?? "amazon.titan-embed-text-v2:0");

    const got = await ask(target, { model: "m", ...body }, { operation: "embedding" }).catch(
      (error: unknown) => error,
    );

    expect(got).toMatchObject({ reason: "INVALID_ARGUMENT" });
    expect((got as Error).message.split(": ")[0]).toBe(name);
    expect(standIn.requests).toEqual([]);
  });
});
