// POST /chat over the whole service, with the stand-in as every provider: the answer, the request
// that the provider gets, and the recorded event.
// Source: docs/spec.md, "POST /chat"; docs/decisions.md, 1, 20.1.

import { beforeEach, describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import {
  type AnsweredGeneration,
  bodyOf,
  providerKey,
  readEventStream,
  startChatService,
} from "../support/chats.ts";
import { callRest } from "../support/read-back.ts";

const chats = givenStarted(() =>
  startChatService({
    "model-aliases": JSON.stringify({ fast: ["openai/fail-503", "anthropic/claude-sonnet-4-5"] }),
    prices: JSON.stringify({ "house-*": { input_mtok: 1_000, output_mtok: 2_000 } }),
  }),
);
beforeEach(() => chats.standIn.clear());

const reply = "It is 18 °C and sunny in Paris.";
const weather = { name: "get_weather", description: "Tells the weather", parameters: {} };

type Delta = { readonly index: number; readonly content: string };

async function generate(body: Record<string, unknown>): Promise<AnsweredGeneration> {
  return bodyOf<AnsweredGeneration>(await chats.chat(body));
}

async function refusalOf(body: Record<string, unknown>): Promise<string> {
  const response = await chats.chat(body);
  expect(response.status).toBe(400);
  return ((await response.json()) as { readonly message: string }).message;
}

/** Returns an object of so many levels. */
function nested(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 1; level < levels; level += 1) value = { a: value };
  return value;
}

function sentBody(): Record<string, unknown> {
  return chats.standIn.requests.at(-1)?.body ?? {};
}

describe("POST /chat", () => {
  test("answers the record of the generation, and its event can be read at once", async () => {
    const before = Date.now();

    const got = await generate({ version: "v7", hyperparameters: { temperature: 0.5 } });

    const message = { role: "assistant", content: reply };
    expect(got).toEqual({
      choices: [{ index: 0, message, finish_reason: "stop" }],
      cost: expect.any(Number) as number,
      generation_id: expect.any(String) as string,
      latency: expect.any(Number) as number,
      session_id: expect.any(String) as string,
      stream: false,
      timestamp: expect.any(String) as string,
    });
    expect(Date.parse(got.timestamp)).toBeGreaterThanOrEqual(before);
    const event = await chats.readEvent(got.generation_id);
    expect(event).toMatchObject({
      event_id: got.generation_id,
      session_id: got.session_id,
      event_type: "model",
      event_name: "chat gpt-4o",
      source: "chat",
      duration: got.latency,
      config: {
        model: "gpt-4o",
        provider: "openai",
        type: "chat",
        version: "v7",
        hyperparameters: { temperature: 0.5 },
      },
      inputs: { chat_history: [{ role: "user", content: "How is the weather in Paris?" }] },
      outputs: message,
      metadata: { cost: got.cost, finish_reason: "stop", requested_model: "openai/gpt-4o" },
    });
    expect(event.error ?? null).toBeNull();
    const { metadata } = event;
    expect(metadata["total_tokens"]).toBe(
      Number(metadata["prompt_tokens"]) + Number(metadata["completion_tokens"]),
    );
  });

  test("costs what the operator's price of the model says", async () => {
    const got = await generate({ model: "openai/house-model" });

    const { metadata } = await chats.readEvent(got.generation_id);
    const [prompt, completion] = ["prompt_tokens", "completion_tokens"].map((name) =>
      Number(metadata[name]),
    );
    expect(got.cost).toBeCloseTo(((prompt ?? 0) * 1_000 + (completion ?? 0) * 2_000) / 1e6, 9);
    expect(got.cost).toBeGreaterThan(0);
    expect(metadata["cost"]).toBe(got.cost);
  });

  test("costs what the project's price of the model says, from its change on", async () => {
    const price = { name: "openai/House-*", input_mtok: 3_000, output_mtok: 0 };
    const { service } = chats;
    const path = `/v1/projects/${service.project.projectId}/model_prices`;
    const access = { url: service.url, key: service.controlPlaneKey };
    await callRest(access, "PUT", path, price);
    const got = await generate({ model: "openai/house-model" });
    await callRest(access, "DELETE", `${path}?name=${encodeURIComponent(price.name)}`);
    const after = await generate({ model: "openai/house-model" });

    const { metadata } = await chats.readEvent(got.generation_id);
    const [prompt, completion] = [metadata["prompt_tokens"], metadata["completion_tokens"]];
    expect(got.cost).toBeCloseTo((Number(prompt) * 3_000) / 1e6, 9);
    expect(metadata["cost"]).toBe(got.cost);
    const operators = Number(prompt) * 1_000 + Number(completion) * 2_000;
    expect(after.cost).toBeCloseTo(operators / 1e6, 9);
  });

  test("sends the provider the operator's key and every hyperparameter", async () => {
    const hyperparameters = {
      temperature: 0.2,
      top_p: 0.9,
      max_tokens: 50,
      presence_penalty: 0.1,
      frequency_penalty: 0.3,
      stop: ["END", "STOP"],
    };

    await generate({ hyperparameters });

    expect(sentBody()).toMatchObject({ model: "gpt-4o", ...hyperparameters });
    const { headers } = chats.standIn.requests.at(-1) ?? {};
    expect(headers?.authorization).toBe(`Bearer ${providerKey}`);
  });

  test.each([
    { provider: "openai", model: "gpt-4o" },
    { provider: "azure", model: "our-deployment" },
    { provider: "anthropic", model: "claude-sonnet-4-5" },
    { provider: "google", model: "gemini-2.5-flash" },
    { provider: "bedrock", model: "anthropic.claude-3-haiku-20240307-v1:0" },
    { provider: "mistral", model: "mistral-small-latest" },
    { provider: "local", model: "meta-llama/Llama-3-8b" },
  ])("runs models of $provider, whole and streamed", async ({ provider, model }) => {
    const whole = await generate({ provider, model });
    const streamed = await readEventStream(await chats.chat({ provider, model, stream: true }));

    expect(whole.choices[0]?.message["content"]).toBe(reply);
    const { config, metadata } = await chats.readEvent(whole.generation_id);
    expect(config).toMatchObject({ provider, model });
    expect(Number(metadata["prompt_tokens"])).toBeGreaterThan(0);
    expect(Number(metadata["completion_tokens"])).toBeGreaterThan(0);
    const record = JSON.parse(streamed.data.at(-2) ?? "") as AnsweredGeneration;
    expect(record.choices).toEqual(whole.choices);
    const { metadata: streamedMetadata } = await chats.readEvent(record.generation_id);
    expect(streamedMetadata["usage"]).toEqual(metadata["usage"]);
  });

  test.each([
    { model: "gpt-4o-mini", provider: "openai" },
    { model: "claude-sonnet-4-5", provider: "anthropic" },
    { model: "gemini-2.5-flash", provider: "google" },
    { model: "mistral-small-latest", provider: "mistral" },
  ])("guesses that $model is of $provider", async ({ model, provider }) => {
    const { generation_id } = await generate({ model });

    expect((await chats.readEvent(generation_id)).config).toMatchObject({ model, provider });
  });

  test("asks the next model of an alias where the first fails, and records each try", async () => {
    const { generation_id } = await generate({ model: "fast" });

    const { config, metadata } = await chats.readEvent(generation_id);
    expect(config).toMatchObject({ provider: "anthropic", model: "claude-sonnet-4-5" });
    expect(metadata["requested_model"]).toBe("fast");
    const attempts = metadata["attempts"] as readonly { readonly provider: string }[];
    expect(attempts.map(({ provider }) => provider)).toEqual([
      "openai",
      "openai",
      "openai",
      "anthropic",
    ]);
  });

  test("joins the session and hangs under the parent that are named", async () => {
    const body = { session_id: "session-of-mine", parent_id: "parent-of-mine", event_name: "ask" };

    const got = await generate({ ...body, metadata: { run: 1 }, user_properties: { user: "ada" } });

    expect(got.session_id).toBe("session-of-mine");
    expect(await chats.readEvent(got.generation_id)).toMatchObject({
      session_id: "session-of-mine",
      parent_id: "parent-of-mine",
      event_name: "ask",
      metadata: { run: 1 },
      user_properties: { user: "ada" },
    });
  });

  test("takes the project by id too, and no other project", async () => {
    const { project, otherProject } = chats.service;

    const own = await chats.chat({ project: project.projectId });
    const other = await chats.chat({ project: otherProject.projectId });
    const named = await chats.chat({ project: "other" });

    expect([own.status, other.status, named.status]).toEqual([200, 404, 404]);
    expect(chats.standIn.requests).toHaveLength(1);
  });

  test("is not for ingestion keys and read-only keys", async () => {
    const { ingestionKey, readOnlyKey } = chats.service;
    const statuses = await Promise.all(
      [ingestionKey, readOnlyKey].map(async (key) => {
        const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
        return (await chats.chat({}, { headers })).status;
      }),
    );

    expect(statuses).toEqual([404, 404]);
    expect(chats.standIn.requests).toHaveLength(0);
  });
});

describe("choices of POST /chat", () => {
  test("are as many as `n` says, each an answer of the model, and all are recorded", async () => {
    const one = await generate({});
    const got = await generate({ hyperparameters: { n: 3 } });

    expect(got.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    const { outputs, metadata, config } = await chats.readEvent(got.generation_id);
    expect(outputs["choices"]).toHaveLength(3);
    expect(config["hyperparameters"]).toEqual({ n: 3 });
    const single = (await chats.readEvent(one.generation_id)).metadata;
    // One call, whose prompt counts once.
    expect(chats.standIn.requests).toHaveLength(2);
    expect(metadata["prompt_tokens"]).toBe(single["prompt_tokens"]);
    expect(metadata["completion_tokens"]).toBe(3 * Number(single["completion_tokens"]));
  });

  test("come by index where they are streamed", async () => {
    const { data } = await readEventStream(await chats.chat({ num_samples: 2, stream: true }));

    const deltas = data.slice(0, -2).map((line) => JSON.parse(line) as Delta);
    const textOf = (choice: number) =>
      deltas.flatMap(({ index, content }) => (index === choice ? content : [])).join("");
    expect([textOf(0), textOf(1)]).toEqual([reply, reply]);
  });

  test.each([
    { num_samples: 2, hyperparameters: { n: 3 }, names: "num_samples" },
    { num_samples: 0, names: "num_samples" },
    { num_samples: 17, names: "num_samples" },
    { hyperparameters: { n: 1.5 }, names: "hyperparameters.n" },
  ])("are refused as $names, when that is no number of them", async ({ names, ...body }) => {
    expect(await refusalOf(body)).toMatch(new RegExp(`^${names}: `));
  });
});

describe("functions of POST /chat", () => {
  test("are offered as tools, and calls of them are answered", async () => {
    const got = await generate({ functions: [weather] });

    expect(sentBody()["tools"]).toMatchObject([
      { type: "function", function: { name: "get_weather", description: "Tells the weather" } },
    ]);
    const [choice] = got.choices;
    expect(choice).toMatchObject({
      message: {
        content: null,
        tool_calls: [{ type: "function", function: { name: "get_weather" } }],
      },
      finish_reason: "tool_calls",
    });
    const { config, outputs } = await chats.readEvent(got.generation_id);
    expect(config["tools"]).toMatchObject([{ function: { name: "get_weather" } }]);
    expect(outputs).toEqual(choice?.message);
  });

  test("are answered with their results sent back, by every kind of provider", async () => {
    for (const model of ["openai/gpt-4o", "anthropic/claude-sonnet-4-5", "google/gemini-2.5-pro"]) {
      const question = { role: "user", content: "Weather?" };
      const { choices } = await generate({ model, functions: [weather], messages: [question] });
      const called = choices[0]?.message ?? {};
      const [call] = called["tool_calls"] as readonly { readonly id: string }[];
      const result = { role: "tool", tool_call_id: call?.id, content: "18 °C" };

      const got = await generate({
        model,
        functions: [weather],
        messages: [question, called, result],
      });

      expect(got.choices[0]?.message["content"]).toBe(reply);
    }
  });

  test.each([
    { call: "none", want: "none" },
    { call: "auto", want: "auto" },
    { call: "get_weather", want: { type: "function", function: { name: "get_weather" } } },
  ])("are called as function_call says: $call", async ({ call, want }) => {
    await generate({ functions: [weather], function_call: call });

    expect(sentBody()["tool_choice"]).toEqual(want);
  });

  test.each([
    { functions: [{ description: "x" }], names: "functions\\[0\\]\\.name" },
    { functions: [{ name: "f", parameters: "x" }], names: "functions\\[0\\]\\.parameters" },
    { functions: [{ name: "f", code: "x" }], names: "functions\\[0\\]\\.code" },
    { functions: [weather], function_call: "other", names: "function_call" },
  ])("are refused naming $names", async ({ names, ...body }) => {
    expect(await refusalOf(body)).toMatch(new RegExp(`^${names}: `));
  });
});

describe("placeholders of POST /chat", () => {
  const messages = [
    { role: "system", content: "You speak {{ language }}." },
    { role: "user", content: [{ type: "text", text: "{{question}} {{ user.name }}" }] },
  ];

  test("are filled from `inputs`; the event has the template and the values", async () => {
    const inputs = { language: "French", question: "{{ language }}?", user: { name: "Ada" } };

    const { generation_id } = await generate({ messages, inputs });

    expect(sentBody()["messages"]).toEqual([
      { role: "system", content: "You speak French." },
      { role: "user", content: "{{ language }}? Ada" },
    ]);
    const event = await chats.readEvent(generation_id);
    expect(event.config["template"]).toEqual(messages);
    expect(event.inputs).toMatchObject({
      ...inputs,
      chat_history: [
        { role: "system", content: "You speak French." },
        { role: "user", content: [{ type: "text", text: "{{ language }}? Ada" }] },
      ],
    });
  });

  test("that have no value are a 400 naming it", async () => {
    const inputs = { language: "French", question: "?" };

    expect(await refusalOf({ messages, inputs })).toMatch(/^inputs\.user\.name: is missing/);
    expect(chats.standIn.requests).toHaveLength(0);
  });

  test("stay as they are without `inputs`", async () => {
    const { generation_id } = await generate({
      messages: [messages[0], { role: "user", content: "x" }],
    });

    expect(JSON.stringify(sentBody()["messages"])).toContain("{{ language }}");
    expect((await chats.readEvent(generation_id)).config["template"]).toBeUndefined();
  });
});

describe("messages of POST /chat", () => {
  const image = (url: string) => [
    { role: "system", content: "Be brief." },
    { role: "user", content: [{ type: "image_url", image_url: { url } }] },
  ];
  const dataUrl = "data:image/png;base64,iVBORw0KGgo=";
  const address = "https://example.org/bee.png";

  test.each([
    { model: "openai/gpt-4o", url: dataUrl, sent: dataUrl },
    { model: "openai/gpt-4o", url: address, sent: address },
    { model: "local/llava", url: address, sent: address },
    { model: "anthropic/claude-sonnet-4-5", url: dataUrl, sent: "iVBORw0KGgo=" },
    { model: "anthropic/claude-sonnet-4-5", url: address, sent: address },
    { model: "google/gemini-2.5-pro", url: dataUrl, sent: "iVBORw0KGgo=" },
  ])("bring images to $model as its API takes them", async ({ model, url, sent }) => {
    const { generation_id } = await generate({ model, messages: image(url) });

    expect(chats.standIn.requests).toHaveLength(1);
    expect(JSON.stringify(sentBody())).toContain(sent);
    expect((await chats.readEvent(generation_id)).inputs["chat_history"]).toEqual(image(url));
  });

  test.each([
    { model: "bedrock/anthropic.claude-3", body: { messages: image(address) } },
    { model: "openai/o3-mini", body: { hyperparameters: { temperature: 0.5 } } },
    { model: "anthropic/claude-sonnet-4-5", body: { hyperparameters: { presence_penalty: 1 } } },
  ])("and settings that $model cannot take are refused, not left out", async ({ model, body }) => {
    expect(await refusalOf({ model, ...body })).toContain("cannot be translated");
    expect(chats.standIn.requests).toHaveLength(0);
  });
});

describe("a request of POST /chat that is not right", () => {
  const user = { role: "user", content: "x" };
  test.each([
    { name: "no messages", body: { messages: [] }, want: /messages/ },
    { name: "no model", body: { model: undefined }, want: /model/ },
    { name: "no project", body: { project: undefined }, want: /project/ },
    {
      name: "a message of no role",
      body: { messages: [{ content: "x" }] },
      want: /messages\[0\]\.role/,
    },
    {
      name: "a role that there is not",
      body: { messages: [user, { role: "oracle", content: "x" }] },
      want: /messages\[1\]\.role/,
    },
    {
      name: "a content that is a number",
      body: { messages: [{ role: "user", content: 7 }] },
      want: /^messages\[0\]\.content: must be text or a list/,
    },
    {
      name: "a result of a call that was not made",
      body: { messages: [user, { role: "tool", tool_call_id: "c", content: "x" }] },
      want: /messages\[1\]\.tool_call_id/,
    },
    {
      name: "a hyperparameter that there is not",
      body: { hyperparameters: { heat: 1 } },
      want: /^hyperparameters\.heat: is none of temperature/,
    },
    {
      name: "a hyperparameter of another type",
      body: { hyperparameters: { temperature: "hot" } },
      want: /^hyperparameters\.temperature: must be a number/,
    },
    {
      name: "stops that are no list",
      body: { hyperparameters: { stop: "END" } },
      want: /^hyperparameters\.stop: /,
    },
    {
      name: "a stop that is no text",
      body: { hyperparameters: { stop: ["a", 1] } },
      want: /^hyperparameters\.stop\[1\]: /,
    },
    {
      name: "no tokens",
      body: { hyperparameters: { max_tokens: 0 } },
      want: /^hyperparameters\.max_tokens: /,
    },
    { name: "a provider that there is not", body: { provider: "absent" }, want: /^provider: / },
    { name: "a model of no known provider", body: { model: "unheard-of" }, want: /^model: / },
    { name: "an id that is none", body: { session_id: "a\nb" }, want: /^session_id: / },
    {
      name: "a value in the place of the history",
      body: { inputs: { chat_history: [] } },
      want: /^inputs\.chat_history: /,
    },
    {
      name: "a cost of the caller's",
      body: { metadata: { cost: 99 } },
      want: /^metadata\.cost: is written by the service alone/,
    },
    {
      name: "a name that no event can have",
      body: { event_name: "n".repeat(10_001) },
      want: /^event_name: is longer than 10000 characters/,
    },
    {
      name: "a message nested deeper than events are",
      body: { messages: [user, { role: "user", content: nested(126) }] },
      want: /^messages\[1\]: may nest 126 levels/,
    },
    {
      name: "a function nested deeper than events are",
      body: { functions: [{ name: "f", parameters: nested(125) }] },
      want: /^functions\[0\]: may nest 125 levels/,
    },
  ])("is a 400 naming the field: $name", async ({ body, want }) => {
    expect(await refusalOf(body)).toMatch(want);
    expect(chats.standIn.requests).toHaveLength(0);
  });
});
