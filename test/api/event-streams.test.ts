// The transport of calls that run models: one path for a whole answer and for server-sent events,
// bodies that pass as they are, and errors in OpenAI's form.
// Source: docs/decisions.md, 20.1, 21.1; proto/waggle/v1/options.proto.

import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { HttpBodySchema } from "../../gen/google/api/httpbody_pb.js";
import {
  type CreateChatRequest,
  GenerationService,
  StreamChatResponseSchema,
} from "../../gen/waggle/v1/generation_pb.js";
import { LlmProxyService } from "../../gen/waggle/v1/llm_proxy_pb.js";
import { ServiceError } from "../../src/base/errors.ts";
import { parsedBodyKey } from "../../src/access/call.ts";
import { eventStreamEncoder } from "../../src/transport/rest/server-sent-events.ts";
import { givenStarted } from "../support/given.ts";
import { keyOf, startTransport } from "../support/transport.ts";

const generation = { type: "generation", generationId: "g1", sessionId: "s1", stream: true };

const chats: ServiceImpl<typeof GenerationService> = {
  createChat: ({ model }) => ({ generationId: "g1", sessionId: model }),
  async *streamChat({ model }: CreateChatRequest) {
    if (model === "refused") throw new ServiceError("INVALID_ARGUMENT", "model: is refused");
    yield { part: { case: "delta", value: { type: "delta", index: 0, content: "Hel" } } };
    await Promise.resolve();
    if (model === "broken") throw new ServiceError("PROVIDER_FAILED", "it broke off");
    yield { part: { case: "generation", value: generation } };
  },
};

const upstreamError = { error: { message: "too long", type: "t", param: "messages", code: "c" } };

function seenBy(data: Uint8Array, context: HandlerContext): string {
  return JSON.stringify({
    sent: Buffer.from(data).toString(),
    parsed: context.values.get(parsedBodyKey),
    session: context.requestHeader.get("x-waggle-session-id"),
  });
}

const proxy: Partial<ServiceImpl<typeof LlmProxyService>> = {
  createChatCompletion({ httpBody }, context) {
    const { data = new Uint8Array() } = httpBody ?? {};
    const text = Buffer.from(data).toString();
    if (text.includes("relayed")) {
      const body = Buffer.from(JSON.stringify(upstreamError));
      const relayed = { status: 422, contentType: "application/json", body };
      throw new ServiceError("PROVIDER_REJECTED", "too long", { relayed, retryAfterSeconds: 7 });
    }
    if (text.includes("absent")) throw new ServiceError("NOT_FOUND", "no");
    if (text.includes("overloaded")) throw new ServiceError("OVERLOADED", "internals");
    context.responseHeader.set("x-waggle-generation-id", "g1");
    const answer = Buffer.from(seenBy(data, context));
    return create(HttpBodySchema, { contentType: "application/json", data: answer });
  },
  async *streamChatCompletion({ httpBody }, context) {
    context.responseHeader.set("x-waggle-generation-id", "g1");
    yield { contentType: "text/event-stream", data: Buffer.from("data: {}\r\n\r\n: odd") };
    await Promise.resolve();
    if (Buffer.from(httpBody?.data ?? []).includes("broken")) {
      throw new ServiceError("PROVIDER_FAILED", "it broke off");
    }
    yield { contentType: "", data: Buffer.from(" bytes\n\ndata: [DONE]\n\n") };
  },
};

const service = givenStarted(() =>
  startTransport({
    services: (router) => {
      router.service(GenerationService, chats);
      router.service(LlmProxyService, proxy as ServiceImpl<typeof LlmProxyService>);
    },
    streamEncoders: [eventStreamEncoder(StreamChatResponseSchema)],
  }),
);

function post(path: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(service.url + path, {
    method: "POST",
    headers: {
      authorization: keyOf("project"),
      "content-type": "application/json",
      connection: "close",
      ...headers,
    },
    body,
  });
}

const chat = (model: string, more: object = {}): string =>
  JSON.stringify({ project: "demo", model, messages: [{ role: "user", content: "hi" }], ...more });

/** Text up to the end of an answer, or to where it broke off. */
async function readText(response: Response): Promise<{ text: string; isBroken: boolean }> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array);
    return { text, isBroken: false };
  } catch {
    return { text, isBroken: true };
  }
}

describe("POST /chat", () => {
  test("answers one JSON value unless a stream is asked for", async () => {
    const got = await post("/chat", chat("m", { stream: false }));

    expect(got.headers.get("content-type")).toBe("application/json");
    expect(await got.json()).toMatchObject({ generation_id: "g1", session_id: "m", cost: null });
  });

  test.each(["/chat", "/chat/stream"])("%s answers a stream of events", async (path) => {
    const got = await post(path, chat("m", { stream: true }));

    expect(got.headers.get("content-type")).toMatch(/^text\/event-stream/);
    const { text, isBroken } = await readText(got);
    const [delta, record, done, ...rest] = text.split("\n\n");
    expect(delta).toBe('data: {"type":"delta","index":0,"content":"Hel"}');
    expect(record).toMatch(/^data: \{"type":"generation",.*"generation_id":"g1"/);
    expect([done, rest, isBroken]).toEqual(["data: [DONE]", [""], false]);
  });

  test("ends a stream that failed with an error and a broken connection", async () => {
    const { text, isBroken } = await readText(
      await post("/chat", chat("broken", { stream: true })),
    );

    expect(text.split("\n\n")).toEqual([
      'data: {"type":"delta","index":0,"content":"Hel"}',
      'data: {"type":"error","errorCode":"PROVIDER_FAILED"}',
      "",
    ]);
    expect(isBroken).toBe(true);
  });

  test("answers a refusal before the first word with its status", async () => {
    const got = await post("/chat", chat("refused", { stream: true }));

    expect(got.status).toBe(400);
    expect(await got.json()).toMatchObject({ message: "model: is refused" });
  });
});

describe("POST /v1/chat/completions", () => {
  const body = '{ "model":"a/b",  "seed": 12345678901234567890 }';

  test("hands the body on byte for byte, and its JSON and headers beside it", async () => {
    const got = await post("/v1/chat/completions", body, { "x-waggle-session-id": "s1" });

    expect(got.headers.get("x-waggle-generation-id")).toBe("g1");
    expect(await got.json()).toEqual({
      sent: body,
      parsed: JSON.parse(body) as unknown,
      session: "s1",
    });
  });

  test("answers the bytes of a stream unchanged", async () => {
    const got = await post("/v1/chat/completions", '{"stream":true}');

    expect(got.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(got.headers.get("x-waggle-generation-id")).toBe("g1");
    expect(await readText(got)).toEqual({
      text: "data: {}\r\n\r\n: odd bytes\n\ndata: [DONE]\n\n",
      isBroken: false,
    });
  });

  test("ends a stream that failed with OpenAI's error and a broken connection", async () => {
    const got = await readText(await post("/v1/chat/completions", '{"stream":true,"a":"broken"}'));

    expect(got.isBroken).toBe(true);
    expect(got.text).toContain('data: {"error":{"message":"PROVIDER_FAILED","type":"server_error"');
  });

  test.each([
    {
      name: "what a provider answered",
      sent: '{"a":"relayed"}',
      status: 422,
      want: upstreamError,
    },
    {
      name: "a body that is no JSON",
      sent: "{",
      status: 400,
      want: { error: { type: "invalid_request_error", code: "MALFORMED_BODY" } },
    },
    {
      name: "a failure of ours without its words",
      sent: '{"a":"overloaded"}',
      status: 503,
      want: { error: { type: "server_error", code: "OVERLOADED", message: "OVERLOADED" } },
    },
    {
      name: "what is absent with the fixed 404",
      sent: '{"a":"absent"}',
      status: 404,
      want: { success: false, statusCode: 404, errorCode: "NOT_FOUND", message: "Not found" },
    },
  ])("answers $name", async ({ sent, status, want }) => {
    const got = await post("/v1/chat/completions", sent);

    expect(got.status).toBe(status);
    expect(await got.json()).toMatchObject(want);
    if (status === 422) expect(got.headers.get("retry-after")).toBe("7");
  });

  test("is the fixed 404 for a key that may not call it", async () => {
    const got = await post("/v1/chat/completions", body, { authorization: keyOf("ingestion") });

    expect([got.status, await got.text()]).toEqual([
      404,
      '{"success":false,"statusCode":404,"errorCode":"NOT_FOUND","message":"Not found"}',
    ]);
  });
});
