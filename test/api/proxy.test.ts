// The LLM proxy over sockets, with the whole service: the provider's request, the client's answer
// and the record. proxy-streams.test.ts tests streams, proxy-failures.test.ts failures.
// Source: docs/decisions.md, 1, 7, 21.1 and 21.2.

import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { LlmProxyService } from "../../gen/waggle/v1/llm_proxy_pb.js";
import { eventValuesMax } from "../../src/base/limits.ts";
import { deriveEventId } from "../../src/tracing/spans/identity.ts";
import { givenStarted } from "../support/given.ts";
import { direct, lastOf, providerKey, startProxied } from "../support/proxied.ts";
import { callRest } from "../support/read-back.ts";

const proxied = givenStarted(() =>
  startProxied({
    "model-aliases": JSON.stringify({ fast: ["up/m", "second/m"] }),
  }),
);

const messages = [{ role: "user", content: "How is the weather?" }];

describe("a chat completion", () => {
  test("reaches the provider byte for byte but for the model and the key", async () => {
    const body = '{ "n" : 1.0, "model":"up/m" ,"messages":[{"role":"user","content":"é\\u00e9"}]}';

    const { status } = await proxied.post("/chat/completions", body, {
      cookie: "a=b",
      "x-api-key": "mine",
      "x-waggle-name": "greet",
      "openai-organization": "org-mine",
    });

    expect(status).toBe(200);
    const { text, headers, path } = lastOf(proxied.standIn);
    expect(path).toBe("/v1/chat/completions");
    expect(text).toBe(body.replace("up/m", "m"));
    expect(headers).toEqual({
      host: headers.host,
      connection: "keep-alive",
      authorization: `Bearer ${providerKey}`,
      "content-type": "application/json",
      accept: "application/json",
      "user-agent": "waggle",
      "content-length": String(text.length + 1),
    });
  });

  test("comes back byte for byte, and says where it is recorded", async () => {
    const answer = await proxied.chat({ model: "up/m", messages });

    expect(answer.text).toBe(
      await direct(proxied.standIn, "/chat/completions", { model: "m", messages }),
    );
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("x-waggle-provider")).toBe("up");
    expect(answer.headers.get("x-waggle-model")).toBe("m");
    const event = await proxied.eventOf(answer);
    expect(event.session_id).toBe(answer.headers.get("x-waggle-session-id"));
  });

  test("is recorded with inputs, outputs, settings and disjoint tokens", async () => {
    const tools = [{ type: "function", function: { name: "weather" } }];
    const body = { model: "up/m+cached+reasoning", messages, temperature: 0.5, tools, user: "ann" };

    const event = await proxied.eventOf(await proxied.chat(body));

    expect(event).toMatchObject({
      event_type: "model",
      event_name: "chat m+cached+reasoning",
      source: "proxy",
      error: null,
      config: {
        provider: "up",
        model: "m+cached+reasoning",
        type: "chat",
        tools,
        hyperparameters: { temperature: 0.5 },
      },
      inputs: { chat_history: messages },
      outputs: { role: "assistant", content: null, tool_calls: [{ type: "function" }] },
      metadata: {
        finish_reason: "tool_calls",
        requested_model: "up/m+cached+reasoning",
        response_model: "m+cached+reasoning-2026-01-01",
        response_id: "chatcmpl-standin",
        usage: { cache_read: 64, reasoning: 16 },
      },
      user_properties: { user: "ann" },
    });
    expect(event.config).not.toHaveProperty("messages");
  });

  test("is one call to the provider with several choices, all recorded", async () => {
    const { length } = proxied.standIn.requests;
    const event = await proxied.eventOf(await proxied.chat({ model: "up/m", messages, n: 2 }));
    expect(proxied.standIn.requests).toHaveLength(length + 1);

    expect(event.outputs).toMatchObject({
      choices: [
        { index: 0, role: "assistant", finish_reason: "stop" },
        { index: 1, role: "assistant", finish_reason: "stop" },
      ],
    });
  });

  test("joins the session, the parent and the trace that its headers name", async () => {
    const event = await proxied.eventOf(
      await proxied.chat(
        { model: "up/m", messages },
        {
          "x-waggle-session-id": "conversation-7",
          "x-waggle-parent-id": "step-3",
          "x-waggle-name": "greet",
          "x-waggle-user": "bob",
          "x-waggle-metadata": '{"release":"7"}',
        },
      ),
    );

    expect(event).toMatchObject({
      session_id: "conversation-7",
      parent_id: "step-3",
      event_name: "greet",
      user_properties: { user: "bob" },
      metadata: { release: "7" },
    });
  });

  test("is recorded with the labels of its body, and those of its headers over them", async () => {
    const metadata = { release: "6", team: "search", cost: "much" };

    const answer = await proxied.chat(
      { model: "up/m", messages, metadata },
      { "x-waggle-metadata": '{"release":"7"}' },
    );

    expect(lastOf(proxied.standIn).body).toMatchObject({ metadata });
    const { metadata: recorded } = await proxied.eventOf(answer);
    expect(recorded).toMatchObject({ release: "7", team: "search" });
    expect(recorded).not.toHaveProperty("cost");
  });

  test("whose labels no event can hold is refused before a model runs", async () => {
    const metadata = { ["k".repeat(10_001)]: "x" };
    const asked = proxied.standIn.requests.length;

    const { status, text } = await proxied.chat({ model: "up/m", messages, metadata });

    expect(status).toBe(400);
    expect(text).toContain("metadata: has a key longer than 10000 characters");
    expect(proxied.standIn.requests).toHaveLength(asked);
  });

  test("stands in the trace of the caller's span", async () => {
    const [trace, span] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
    const headers = { traceparent: `00-${trace}-${span}-01` };

    const event = await proxied.eventOf(await proxied.chat({ model: "up/m", messages }, headers));

    expect(event.session_id).toBe("0af76519-16cd-43dd-8448-eb211c80319c");
    expect(event.parent_id).toBe(deriveEventId(trace, span));
  });

  test("goes to an alias' first model", async () => {
    const answer = await proxied.chat({ model: "fast", messages });

    expect(answer.headers.get("x-waggle-provider")).toBe("up");
    expect((await proxied.eventOf(answer)).metadata).toMatchObject({ requested_model: "fast" });
  });

  test("reaches Azure at its deployment's path with its own header", async () => {
    const { status } = await proxied.chat({ model: "deployed/gpt-4o", messages });

    expect(status).toBe(200);
    const { path, headers } = lastOf(proxied.standIn);
    expect(path).toMatch(/^\/openai\/deployments\/gpt-4o\/chat\/completions\?api-version=[\w-]+$/);
    expect(headers["api-key"]).toBe(providerKey);
    expect(headers.authorization).toBeUndefined();
  });

  test("cannot leave the path of Azure's deployments", async () => {
    const { status, text } = await proxied.chat({ model: "deployed/../../x", messages });

    expect(status).toBe(400);
    const { error } = JSON.parse(text) as { readonly error: { readonly message: string } };
    expect(error.message).toMatch(/^model: /);
  });

  test("joins a session whose name is no ASCII, and tells it percent-encoded", async () => {
    // As clients send it: UTF-8, one byte a character.
    const headers = { "x-waggle-session-id": Buffer.from("sesión 😀").toString("latin1") };
    const answer = await proxied.chat({ model: "up/m", messages }, headers);

    expect((await proxied.eventOf(answer)).session_id).toBe("sesión 😀");
    expect(answer.headers.get("x-waggle-session-id")).toBe(encodeURIComponent("sesión 😀"));
  });
});

describe("embeddings", () => {
  test("pass byte for byte and are recorded without the vectors", async () => {
    const body = { model: "up/m", input: ["one", "two"], dimensions: 4 };
    const answer = await proxied.post("/embeddings", body);

    expect(answer.text).toBe(await direct(proxied.standIn, "/embeddings", { ...body, model: "m" }));
    expect(await proxied.eventOf(answer)).toMatchObject({
      event_name: "embeddings m",
      config: { type: "embedding", hyperparameters: { dimensions: 4 } },
      inputs: { input: ["one", "two"] },
      outputs: { count: 2, dimensions: 4 },
      metadata: { completion_tokens: 0, usage: { output: 0 } },
    });
  });
});

test("a call whose payload no event can hold is recorded without it", async () => {
  const input = [Array.from({ length: eventValuesMax + 1 }, () => 1)];

  const answer = await proxied.post("/embeddings", { model: "up/m", input });

  expect(answer.status).toBe(200);
  expect(await proxied.eventOf(answer)).toMatchObject({
    event_name: "embeddings m",
    config: { model: "m", type: "embedding" },
    inputs: {},
    metadata: {
      usage: { output: 0 },
      refused_payload: `event.inputs: the event has more than ${eventValuesMax} values`,
    },
  });
});

describe("GET /v1/models", () => {
  type List = {
    readonly object: string;
    readonly data: readonly { readonly id: string; readonly owned_by: string }[];
    readonly unavailable_providers?: readonly string[];
  };
  const access = () => ({ url: proxied.service.url, key: proxied.service.projectKey });

  test("lists aliases, then the models of every provider, and who did not tell", async () => {
    const list = await callRest<List>(access(), "GET", "/v1/models");

    expect(list).toEqual({
      object: "list",
      data: [
        { id: "fast", object: "model", created: 0, owned_by: "waggle" },
        { id: "up/stand-in", object: "model", created: 0, owned_by: "up" },
        { id: "second/stand-in", object: "model", created: 0, owned_by: "second" },
      ],
      unavailable_providers: ["down"],
    });
  });

  test("asks a provider again only after some time", async () => {
    await callRest<List>(access(), "GET", "/v1/models");
    const before = proxied.second.requests.length;
    await callRest<List>(access(), "GET", "/v1/models");

    expect(proxied.second.requests.length).toBe(before);
  });
});

describe("over gRPC", () => {
  const headers = () => ({ authorization: `Bearer ${proxied.service.projectKey}` });
  const connect = () =>
    createClient(LlmProxyService, createGrpcTransport({ baseUrl: proxied.service.url }));
  const bodyOf = (body: object) => ({
    httpBody: { contentType: "application/json", data: Buffer.from(JSON.stringify(body)) },
  });

  test("a chat completion is the provider's bytes", async () => {
    const request = bodyOf({ model: "up/m", messages });
    const { data, contentType } = await connect().createChatCompletion(request, {
      headers: headers(),
    });

    expect(contentType).toBe("application/json");
    expect(JSON.parse(Buffer.from(data).toString())).toMatchObject({ object: "chat.completion" });
  });

  test("a stream is the provider's bytes", async () => {
    const body = { model: "up/m", messages, stream: true };
    const parts: Uint8Array[] = [];
    const stream = connect().streamChatCompletion(bodyOf(body), { headers: headers() });
    for await (const { data } of stream) parts.push(data);

    expect(Buffer.concat(parts).toString()).toBe(
      await direct(proxied.standIn, "/chat/completions", { ...body, model: "m" }),
    );
  });

  test("a body that asks for the other kind is refused", async () => {
    const asked = connect().createChatCompletion(
      bodyOf({ model: "up/m", messages, stream: true }),
      { headers: headers() },
    );

    await expect(asked).rejects.toThrow("stream: true is for StreamChatCompletion");
  });
});

describe("a request that is refused", () => {
  test.each([
    { name: "is no JSON", body: "{", want: "the body" },
    { name: "has no model", body: { messages }, want: "model: " },
    { name: "has no messages", body: { model: "up/m" }, want: "messages: " },
    {
      name: "names no provider that there is",
      body: { model: "nobody/m", messages },
      want: "model: ",
    },
    {
      name: "streams by a word",
      body: { model: "up/m", messages, stream: "yes" },
      want: "stream: ",
    },
  ])("because it $name gets an error of OpenAI's form that names it", async ({ body, want }) => {
    const before = proxied.standIn.requests.length;
    const { status, text } = await proxied.post("/chat/completions", body);

    expect(status).toBe(400);
    const { error } = JSON.parse(text) as { error: { message: string; type: string } };
    expect(error.message).toContain(want);
    expect(error.type).toBe("invalid_request_error");
    expect(proxied.standIn.requests.length).toBe(before);
  });

  test("because of a header gets an error that names it", async () => {
    const headers = { "x-waggle-metadata": "[]" };
    const { status, text } = await proxied.chat({ model: "up/m", messages }, headers);

    expect(status).toBe(400);
    expect(text).toContain("x-waggle-metadata: must be a JSON object");
  });

  test.each(["none", "readOnlyKey", "ingestionKey"] as const)(
    "for its key (%s) gets the fixed 404",
    async (name) => {
      const key = name === "none" ? "nothing" : proxied.service[name];
      const headers = { authorization: `Bearer ${key}` };
      const { status, text } = await proxied.chat({ model: "up/m", messages }, headers);

      expect(status).toBe(404);
      expect(JSON.parse(text)).toMatchObject({ errorCode: "NOT_FOUND", message: "Not found" });
    },
  );
});
