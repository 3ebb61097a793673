// Records of requests and whole answers: fields, tokens, and fields set by headers.

import { describe, expect, test } from "vitest";
import { isAnswer, readWholeAnswer } from "../../../src/generation/openai/answer.ts";
import { parseUsage, usageFrom } from "../../../src/generation/usage.ts";
import { parseCallHeaders } from "../../../src/generation/proxy/request-headers.ts";
import { parseProxyRequest } from "../../../src/generation/proxy/request.ts";
import { deriveEventId } from "../../../src/tracing/spans/identity.ts";

describe("parseUsage", () => {
  const none = usageFrom(() => 0);
  test.each([
    {
      name: "takes cached and reasoning tokens out of the totals",
      usage: {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 64, audio_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 30 },
      },
      want: { ...none, input: 33, inputAudio: 3, cacheRead: 64, output: 20, reasoning: 30 },
    },
    {
      name: "counts tokens that were written to a cache",
      usage: {
        prompt_tokens: 100,
        completion_tokens: 1,
        prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 20 },
      },
      want: { ...none, input: 70, cacheRead: 10, cacheWrite: 20, output: 1 },
    },
    {
      name: "counts audio apart from text",
      usage: {
        prompt_tokens: 100,
        completion_tokens: 50,
        prompt_tokens_details: { audio_tokens: 30, cached_tokens: 10 },
        completion_tokens_details: { audio_tokens: 25, reasoning_tokens: 5 },
      },
      want: {
        input: 60,
        inputAudio: 30,
        cacheRead: 10,
        cacheWrite: 0,
        output: 20,
        outputAudio: 25,
        reasoning: 5,
      },
    },
    {
      name: "sees by the total that reasoning is counted beside the completion",
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 35,
        completion_tokens_details: { reasoning_tokens: 20 },
      },
      want: { ...none, input: 10, output: 5, reasoning: 20 },
    },
    {
      name: "never counts less than nothing",
      usage: {
        prompt_tokens: 5,
        completion_tokens: -4,
        prompt_tokens_details: { cached_tokens: 9 },
        completion_tokens_details: null,
      },
      want: { ...none, cacheRead: 5 },
    },
    {
      name: "has none where the prompt is not counted",
      usage: { completion_tokens: 7 },
      want: undefined,
    },
    {
      name: "counts what is written as text",
      usage: { prompt_tokens: "12", completion_tokens: "7", total_tokens: "19" },
      want: { ...none, input: 12, output: 7 },
    },
    {
      name: "has none where the text is no count",
      usage: { prompt_tokens: "many", completion_tokens: "" },
      want: undefined,
    },
    { name: "has none where nothing is counted", usage: { total_tokens: 3 }, want: undefined },
    { name: "has none where there is none", usage: null, want: undefined },
  ])("$name", ({ usage, want }) => {
    expect(parseUsage(usage)).toEqual(want);
  });
});

describe("readWholeAnswer", () => {
  test("records the message of one choice, without what says nothing and without sound", () => {
    const message = {
      role: "assistant",
      content: "Hi",
      refusal: null,
      annotations: [],
      audio: { id: "a", data: "AAAA", transcript: "Hi" },
    };
    const json = { id: "1", model: "m", choices: [{ index: 0, message, finish_reason: "stop" }] };

    expect(readWholeAnswer("chat", json)).toEqual({
      outputs: {
        role: "assistant",
        content: "Hi",
        annotations: [],
        audio: { id: "a", transcript: "Hi" },
      },
      finishReasons: ["stop"],
      responseModel: "m",
      responseId: "1",
      usage: undefined,
    });
  });

  test.each([
    { name: "numbers", embedding: [0.25, 1, 2] },
    { name: "base64", embedding: Buffer.from(new Float32Array(3).buffer).toString("base64") },
  ])("counts embeddings in $name and leaves them out", ({ embedding }) => {
    const json = {
      data: [
        { index: 0, embedding },
        { index: 1, embedding },
      ],
    };

    expect(readWholeAnswer("embedding", json).outputs).toEqual({ count: 2, dimensions: 3 });
  });

  test.each([[null], [[]], ["text"], [{}], [{ choices: {} }]])("%j is no answer", (json) => {
    expect(isAnswer("chat", json)).toBe(false);
  });
});

describe("parseCallHeaders", () => {
  const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const span = "00f067aa0ba902b7";

  test("reads what the call is named, and whose it is", () => {
    const headers = new Headers({
      "x-waggle-session-id": "s-1",
      "x-waggle-parent-id": "p-1",
      "x-waggle-name": "greet",
      "x-waggle-user": "ann",
      "x-waggle-metadata": '{"release":"7"}',
      "x-waggle-timeout-ms": "1500",
    });

    expect(parseCallHeaders(headers)).toEqual({
      sessionId: "s-1",
      parentId: "p-1",
      name: "greet",
      user: "ann",
      metadata: { release: "7" },
      timeoutMs: 1500,
    });
  });

  test("reads UTF-8, which Node hands over one character a byte", () => {
    const name = Buffer.from("grüße 😀").toString("latin1");

    expect(parseCallHeaders({ get: (key) => (key === "x-waggle-name" ? name : null) }).name).toBe(
      "grüße 😀",
    );
  });

  test("derives session and parent from the caller's span as its own spans do", () => {
    const headers = new Headers({ traceparent: `00-${trace}-${span}-01` });

    expect(parseCallHeaders(headers)).toMatchObject({
      sessionId: "4bf92f35-77b3-4da6-a3ce-929d0e0e4736",
      parentId: deriveEventId(trace, span),
    });
  });

  test("a session header wins over the trace", () => {
    const headers = new Headers({
      traceparent: `00-${trace}-${span}-01`,
      "x-waggle-session-id": "mine",
    });

    expect(parseCallHeaders(headers).sessionId).toBe("mine");
  });

  test.each([
    `ff-${trace}-${span}-01`,
    `00-${"0".repeat(32)}-${span}-01`,
    `00-${trace}-${"0".repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    "nonsense",
  ])("ignores the traceparent %s", (traceparent) => {
    const got = parseCallHeaders(new Headers({ traceparent }));

    expect(got).toMatchObject({ sessionId: undefined, parentId: undefined });
  });

  test.each([
    { header: "x-waggle-session-id", value: "a".repeat(129) },
    { header: "x-waggle-parent-id", value: "a\tb" },
    { header: "x-waggle-name", value: "a".repeat(1_001) },
    { header: "x-waggle-metadata", value: "[1]" },
    { header: "x-waggle-metadata", value: "{" },
    { header: "x-waggle-metadata", value: '{"a":1e999}' },
    { header: "x-waggle-metadata", value: '{"cost":1}' },
    { header: "x-waggle-metadata", value: `{"a":${"[".repeat(200)}${"]".repeat(200)}}` },
    { header: "x-waggle-timeout-ms", value: "0" },
    { header: "x-waggle-timeout-ms", value: "1.5" },
    { header: "x-waggle-timeout-ms", value: "99999999" },
  ])("refuses $header: $value by its name", ({ header, value }) => {
    expect(() => parseCallHeaders(new Headers({ [header]: value }))).toThrow(`${header}: must`);
  });
});

describe("parseProxyRequest", () => {
  const bytes = new Uint8Array();
  const messages = [{ role: "user", content: "Hi" }];

  test.each([
    { name: "no object", operation: "chat", json: [], want: "the body: must" },
    { name: "no model", operation: "chat", json: { messages }, want: "model: must" },
    {
      name: "a model that is none",
      operation: "chat",
      json: { model: 1, messages },
      want: "model:",
    },
    { name: "no messages", operation: "chat", json: { model: "m" }, want: "messages: must" },
    {
      name: "no message",
      operation: "chat",
      json: { model: "m", messages: [] },
      want: "messages:",
    },
    { name: "no input", operation: "embedding", json: { model: "m" }, want: "input: must" },
    {
      name: "a stream that is no boolean",
      operation: "chat",
      json: { model: "m", messages, stream: "true" },
      want: "stream: must",
    },
    {
      name: "a number beyond all",
      operation: "chat",
      json: { model: "m", messages, seed: Infinity },
      want: "the body: may",
    },
  ] as const)("refuses a body with $name by its field", ({ operation, json, want }) => {
    expect(() => parseProxyRequest(operation, bytes, json)).toThrow(want);
  });

  test("takes `stream: null` for no stream", () => {
    const json = { model: "m", messages, stream: null };

    expect(parseProxyRequest("chat", bytes, json).isStream).toBe(false);
  });
});
