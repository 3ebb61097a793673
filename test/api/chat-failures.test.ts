// POST /chat when the provider, the client or the time limit fails: the caller's answer, and the
// event that is stored all the same.
// Source: docs/decisions.md, 10, 20.1.

import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { setTimeout as delay } from "node:timers/promises";
import { createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { beforeEach, describe, expect, test } from "vitest";
import { GenerationService } from "../../gen/waggle/v1/generation_pb.js";
import { createUuid } from "../../src/base/ids.ts";
import { givenStarted } from "../support/given.ts";
import { providerKey, readEventStream, startChatService } from "../support/chats.ts";

const chats = givenStarted(() =>
  startChatService({
    "provider-timeout-ms": "1500",
    "provider-idle-timeout-ms": "400",
    "generation-timeout-ms": "4000",
    "generation-concurrency": "2",
  }),
);

beforeEach(() => chats.standIn.clear());
const reply = "It is 18 °C and sunny in Paris.";

type Told = { readonly errorCode: string; readonly message?: string };

function readerOf({ body }: Response): ReadableStreamDefaultReader<string> | undefined {
  return body?.pipeThrough(new TextDecoderStream()).getReader();
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let round = 0; round < 500 && !isTrue(); round += 1) await delay(20);
  expect(isTrue()).toBe(true);
}

describe("a provider of POST /chat that fails", () => {
  test.each([
    { model: "fail-400", status: 400, errorCode: "PROVIDER_REJECTED", attempts: 1 },
    { model: "fail-404", status: 400, errorCode: "PROVIDER_REJECTED", attempts: 1 },
    { model: "fail-401", status: 502, errorCode: "PROVIDER_FAILED", attempts: 1 },
    { model: "fail-403", status: 502, errorCode: "PROVIDER_FAILED", attempts: 1 },
    { model: "fail-500", status: 502, errorCode: "PROVIDER_FAILED", attempts: 3 },
    { model: "limited-60", status: 503, errorCode: "PROVIDER_LIMITED", attempts: 1 },
    { model: "reset", status: 502, errorCode: "PROVIDER_FAILED", attempts: 3 },
    { model: "cut-off", status: 502, errorCode: "PROVIDER_FAILED", attempts: 1 },
    { model: "malformed", status: 502, errorCode: "PROVIDER_FAILED", attempts: 1 },
    { model: "endless", status: 502, errorCode: "PROVIDER_FAILED", attempts: 1 },
    { model: "redirect", status: 502, errorCode: "PROVIDER_FAILED", attempts: 1 },
    { model: "slow-3900", status: 504, errorCode: "PROVIDER_TIMEOUT", attempts: 3 },
  ])("answers $status where it plays $model, and the event says why", async (row) => {
    const sessionId = createUuid();
    const path = { model: `openai/${row.model}`, session_id: sessionId };

    const response = await chats.chat(path);

    const told = (await response.json()) as Told;
    expect([response.status, told.errorCode]).toEqual([row.status, row.errorCode]);
    expect(told.message === undefined).toBe(row.status >= 500);
    if (row.model === "limited-60") expect(response.headers.get("retry-after")).toBe("60");
    const event = await chats.findEvent(sessionId);
    expect(response.headers.get("x-waggle-generation-id")).toBe(event.event_id);
    expect(response.headers.get("x-waggle-session-id")).toBe(sessionId);
    expect(event.error).toMatch(new RegExp(`^${row.errorCode}: `));
    expect(event.inputs["chat_history"]).toHaveLength(1);
    expect(event.metadata["cost"]).toBeUndefined();
    expect(chats.standIn.requests.length).toBeGreaterThanOrEqual(row.attempts);
    await until(() => chats.standIn.running() === 0);
  });

  test.each([
    {
      model: "openai/gpt-4o-no-finish",
      fault: "broke off its answer",
      outputs: { content: reply },
    },
    { model: "openai/gpt-4o-no-choices", fault: "answered with a chat without", outputs: {} },
    {
      model: "anthropic/claude-sonnet-4-5-no-finish",
      fault: "broke off its answer",
      outputs: { content: reply },
    },
  ])("has the text and the tokens of an unusable answer recorded: $model", async (row) => {
    const sessionId = createUuid();

    const response = await chats.chat({ model: row.model, session_id: sessionId });

    expect(response.status).toBe(502);
    const { error, outputs, metadata } = await chats.findEvent(sessionId);
    expect(error).toContain(row.fault);
    expect(outputs).toMatchObject(row.outputs);
    expect(metadata["total_tokens"]).toBeGreaterThan(0);
  });

  test("tells its reason with a 400", async () => {
    const told = (await (await chats.chat({ model: "openai/fail-400" })).json()) as Told;

    expect(told.message).toBe("provider openai answered 400: stand-in says 400");
  });

  test.each(["flaky-503-1", "flaky-0-1", "flaky-429-2", "retry-after-1"])(
    "is asked again where that may help: %s",
    async (model) => {
      const sessionId = createUuid();

      const response = await chats.chat({ model: `openai/${model}`, session_id: sessionId });

      expect(response.status).toBe(200);
      const event = await chats.findEvent(sessionId);
      expect(event.error ?? null).toBeNull();
      expect(event.metadata["attempts"]).toHaveLength(chats.standIn.requests.length);
    },
  );

  test.each(["openai", "anthropic", "google", "bedrock"])(
    "of type %s is asked again where its stream begins with an error",
    async (provider) => {
      const sessionId = createUuid();
      const model = `${provider}/${provider}-flaky-event-2`;

      const response = await chats.chat({ model, session_id: sessionId, stream: true });

      expect((await readEventStream(response)).isWhole).toBe(true);
      const { error, metadata } = await chats.findEvent(sessionId);
      expect([error ?? null, metadata["attempts"]]).toEqual([null, expect.any(Array)]);
      expect(metadata["attempts"]).toHaveLength(3);
    },
  );

  test("gives nobody the key that it repeats", async () => {
    for (const model of ["leak-key", "leak-key-400", "leak-key-event"]) {
      for (const stream of [false, true]) {
        const sessionId = createUuid();

        const response = await chats.chat({
          model: `openai/${model}`,
          session_id: sessionId,
          stream,
        });

        expect(await response.text().catch(() => "")).not.toContain(providerKey);
        expect(JSON.stringify(await chats.findEvent(sessionId))).not.toContain(providerKey);
      }
    }
  });
});

describe("a stream of POST /chat", () => {
  test("gives the text as it comes, then the record once it is stored, then its end", async () => {
    const response = await chats.chat({ model: "openai/gpt-4o", stream: true });

    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const { data, isWhole } = await readEventStream(response);
    const parts = data.slice(0, -1).map((line) => JSON.parse(line) as Record<string, unknown>);
    const deltas = parts.slice(0, -1);
    expect(isWhole).toBe(true);
    expect(data.at(-1)).toBe("[DONE]");
    expect(deltas.every(({ type, index }) => type === "delta" && index === 0)).toBe(true);
    expect(deltas.map(({ content }) => content).join("")).toBe(reply);
    const record = parts.at(-1) ?? {};
    expect(record).toMatchObject({
      type: "generation",
      stream: true,
      choices: [{ index: 0, message: { content: reply }, finish_reason: "stop" }],
    });
    const event = await chats.readEvent(String(record["generation_id"]));
    expect(event.outputs).toEqual({ role: "assistant", content: reply });
    expect(event.metadata["stream"]).toBe(true);
  });

  test("comes as it is generated, not at its end", async () => {
    const response = await chats.chat({ model: "openai/pause-300", stream: true });

    const reader = readerOf(response);
    const first = await reader?.read();

    expect(first?.value).toContain('"delta"');
    expect(chats.standIn.running()).toBe(1);
    await reader?.cancel();
  });

  test.each([
    { model: "cut-off", errorCode: "PROVIDER_FAILED" },
    { model: "no-finish", errorCode: "PROVIDER_FAILED" },
    { model: "malformed-stream", errorCode: "PROVIDER_FAILED" },
    { model: "error-event", errorCode: "PROVIDER_FAILED" },
    { model: "pause-2000", errorCode: "PROVIDER_TIMEOUT" },
  ])("that breaks off ($model) never ends in order; what came is recorded", async (row) => {
    const sessionId = createUuid();
    const request = { model: `openai/${row.model}`, session_id: sessionId, stream: true };

    const { data, isWhole } = await readEventStream(await chats.chat(request));

    expect(isWhole).toBe(false);
    expect(data).not.toContain("[DONE]");
    expect(JSON.parse(data.at(-1) ?? "")).toEqual({ type: "error", errorCode: row.errorCode });
    const event = await chats.findEvent(sessionId);
    expect(event.error).toMatch(new RegExp(`^${row.errorCode}: `));
    const came = data.slice(0, -1).map((line) => JSON.parse(line) as { readonly content: string });
    expect(event.outputs["content"]).toBe(came.map(({ content }) => content).join(""));
    expect(came.length).toBeGreaterThan(0);
    expect(event.metadata["cost"]).toBeUndefined();
    await until(() => chats.standIn.running() === 0);
  });

  test("that fails before its first word is an error of the usual kind", async () => {
    const response = await chats.chat({ model: "openai/fail-500", stream: true });

    expect(response.status).toBe(502);
    expect(((await response.json()) as Told).errorCode).toBe("PROVIDER_FAILED");
  });

  test("ends at the longest time of a generation, also where nobody reads it", async () => {
    const sessionId = createUuid();
    // HTTP/2 lets no more than 64 KiB wait for a reader.
    const session = connectHttp2(chats.service.url);
    const request = session.request({
      ":method": "POST",
      ":path": "/chat",
      authorization: `Bearer ${chats.service.projectKey}`,
    });
    const endless = {
      project: "demo",
      model: "openai/endless",
      messages: [{ role: "user", content: "x" }],
    };
    request.end(JSON.stringify({ ...endless, session_id: sessionId, stream: true }));

    expect((await chats.findEvent(sessionId)).error).toMatch(/^PROVIDER_TIMEOUT: /);
    await until(() => chats.standIn.running() === 0);
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    const [error] = (await once(request, "error")) as [NodeJS.ErrnoException];
    expect(error.code).toBe("ERR_HTTP2_STREAM_ERROR");
    expect(text).toContain('{"type":"error","errorCode":"PROVIDER_TIMEOUT"}');
    session.close();
  });
});

describe("a client of POST /chat that goes away", () => {
  test.each([
    { name: "while it waits", model: "slow-1400", stream: false, hasText: false },
    { name: "in the middle of a stream", model: "trickle-100", stream: true, hasText: true },
    { name: "while a stream has not begun", model: "slow-1400", stream: true, hasText: false },
  ])("$name ends the provider's call, and the event says so", async ({ hasText, ...row }) => {
    const sessionId = createUuid();
    const leaving = new AbortController();
    const { model, stream } = row;
    const request = { model: `openai/${model}`, session_id: sessionId, stream };

    const answer = chats.chat(request, { signal: leaving.signal });
    await until(() => chats.standIn.requests.length === 1);
    if (hasText) await (await answer).body?.getReader().read();
    leaving.abort();
    await answer.catch(() => undefined);

    const event = await chats.findEvent(sessionId);
    expect(event.error).toBe("CLIENT_GONE: the client went away");
    expect(event.outputs["content"] !== undefined).toBe(hasText);
    await until(() => chats.standIn.running() === 0);
    expect(chats.standIn.requests.at(-1)?.isAborted).toBe(true);
  });
});

describe("calls of POST /chat", () => {
  test("beyond what a project may run at a time are a 503; others still run", async () => {
    const running = [1, 2].map(() => chats.chat({ model: "openai/slow-1000" }));
    await until(() => chats.standIn.requests.length === 2);

    const beyond = await chats.chat({});

    expect(beyond.status).toBe(503);
    expect(beyond.headers.get("retry-after")).toBe("1");
    expect(((await beyond.json()) as Told).errorCode).toBe("OVERLOADED");
    const statuses = (await Promise.all(running)).map(({ status }) => status);
    expect(statuses).toEqual([200, 200]);
    expect((await chats.chat({})).status).toBe(200);
  });
});

const transports: readonly { name: string; open: (baseUrl: string) => Transport }[] = [
  { name: "gRPC", open: (baseUrl) => createGrpcTransport({ baseUrl }) },
  { name: "gRPC-Web", open: (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }) },
  {
    name: "Connect",
    open: (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" }),
  },
];

describe.each(transports)("chats over $name", ({ open }) => {
  const messages = [{ role: "user", content: "x" }];
  const clientOf = () => createClient(GenerationService, open(chats.service.url));
  const init = () => ({ headers: { authorization: `Bearer ${chats.service.projectKey}` } });

  test("answer as REST does, whole and streamed", async () => {
    const request = { project: "demo", model: "openai/gpt-4o", messages };

    const whole = await clientOf().createChat(request, init());
    const parts = [];
    for await (const { part } of clientOf().streamChat(request, init())) parts.push(part);

    expect(whole.choices).toMatchObject([{ message: { content: reply } }]);
    expect(whole.stream).toBe(false);
    const last = parts.pop();
    expect(last).toMatchObject({
      case: "generation",
      value: { type: "generation", choices: whole.choices, stream: true },
    });
    const text = parts.map((part) => (part.case === "delta" ? part.value.content : "")).join("");
    expect(text).toBe(reply);
    expect((await chats.readEvent(whole.generationId)).outputs["content"]).toBe(reply);
  });

  test("are not streamed by the call that answers whole", async () => {
    const request = { project: "demo", model: "openai/gpt-4o", messages, stream: true };

    await expect(clientOf().createChat(request, init())).rejects.toThrow("stream: call StreamChat");
    expect(chats.standIn.requests).toHaveLength(0);
  });

  test("with a number that no event can hold are refused before a model runs", async () => {
    const request = { project: "demo", model: "openai/gpt-4o", messages };
    const call = clientOf().createChat({ ...request, metadata: { rate: Number.NaN } }, init());

    await expect(call).rejects.toThrow("[invalid_argument] metadata.rate: must be a finite");
    expect(chats.standIn.requests).toHaveLength(0);
  });

  test("fail where a stream breaks off", async () => {
    const request = { project: "demo", model: "openai/cut-off", messages };
    const read = async () => {
      for await (const _ of clientOf().streamChat(request, init()));
    };

    await expect(read()).rejects.toThrow("[unavailable]");
  });

  test("end with the client, and the event says so", async () => {
    const sessionId = createUuid();
    const request = { project: "demo", model: "openai/trickle-100", messages, sessionId };
    const leaving = new AbortController();

    const stream = clientOf().streamChat(request, { ...init(), signal: leaving.signal });
    await expect(
      (async () => {
        for await (const _ of stream) leaving.abort();
      })(),
    ).rejects.toThrow("[canceled]");

    expect((await chats.findEvent(sessionId)).error).toBe("CLIENT_GONE: the client went away");
    await until(() => chats.standIn.running() === 0);
  });
});

describe("the commit of a chat", () => {
  test("comes before the record and the end of a stream, not before its text", async () => {
    const { database } = chats.service;
    const held = Promise.withResolvers<undefined>();
    const locked = Promise.withResolvers<undefined>();
    const holding = database.transaction(async (sql) => {
      await sql`lock table events in access exclusive mode`;
      locked.resolve(undefined);
      await held.promise;
    });
    await locked.promise;

    const response = await chats.chat({ model: "openai/gpt-4o", stream: true });
    const reader = readerOf(response);
    let text = "";
    while (!text.includes("Paris.")) text += (await reader?.read())?.value ?? "";
    const rest = reader?.read();
    const early = await Promise.race([rest, delay(200, "nothing")]);
    held.resolve(undefined);
    await holding;

    expect(text).not.toContain('"generation"');
    expect(early).toBe("nothing");
    expect((await rest)?.value).toContain('"generation"');
    await reader?.cancel();
  });

  test("that fails is an error to the caller, never an end", async () => {
    const { database } = chats.service;
    await database.sql()`alter table events rename to events_away`;
    try {
      const whole = await chats.chat({ model: "openai/gpt-4o" });
      const streamed = await readEventStream(await chats.chat({ stream: true }));

      expect(whole.status).toBeGreaterThanOrEqual(500);
      expect(streamed.isWhole).toBe(false);
      expect(streamed.data.at(-1)).toContain('"type":"error"');
    } finally {
      await database.sql()`alter table events_away rename to events`;
    }
  });
});
