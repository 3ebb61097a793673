// Messages of model calls in OTLP log records: from the wire to the event of the call's span.

import { toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { gzipSync } from "node:zlib";
import {
  type ExportLogsServiceRequest,
  ExportLogsServiceRequestSchema,
  LogsService,
} from "../../gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import { createByteBudget } from "../../src/base/byte-budget.ts";
import { createUuid } from "../../src/base/ids.ts";
import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import { deriveEventId } from "../../src/tracing/spans/identity.ts";
import { parseExportRequest } from "../../src/transport/otlp/http.ts";
import { logs } from "../../src/transport/otlp/signals.ts";
import { callRoute } from "../support/call-route.ts";
import { givenStarted } from "../support/given.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

function post(path: string, body: unknown, key = service.ingestionKey) {
  const headers = { authorization: `Bearer ${key}` };
  return callRoute({ url: service.url, headers }, `POST ${path}`, body);
}

async function readEvent(eventId: string): Promise<JsonObject> {
  const headers = { authorization: `Bearer ${service.projectKey}` };
  const { json } = await callRoute({ url: service.url, headers }, `GET /v1/events/${eventId}`);
  const { event } = json as { readonly event?: JsonObject };
  return event ?? {};
}

const spanId = "b7ad6b7169203331";

/** A model call of its own trace, whose span has no messages. */
function aCall() {
  const traceId = createUuid().replaceAll("-", "");
  const span = {
    traceId,
    spanId,
    name: "chat gpt-4o",
    startTimeUnixNano: "1760000000000000000",
    endTimeUnixNano: "1760000001000000000",
    attributes: [{ key: "gen_ai.operation.name", value: { stringValue: "chat" } }],
  };
  return {
    traceId,
    eventId: deriveEventId(traceId, spanId),
    sendSpan: () => post("/v1/traces", { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }),
    /** A log record of the call; its body is the message. */
    log: (eventName: string, body: JsonObject, parts: JsonObject = {}): JsonObject => ({
      traceId,
      spanId,
      flags: 1,
      timeUnixNano: "1760000000500000000",
      eventName,
      body: anyOf(body),
      ...parts,
    }),
  };
}

function anyOf(value: JsonValue): JsonObject {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "number") return { intValue: String(value) };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyOf) } };
  const entries = Object.entries(value as JsonObject);
  return { kvlistValue: { values: entries.map(([key, one]) => ({ key, value: anyOf(one) })) } };
}

function requestOf(...logRecords: readonly JsonObject[]): JsonObject {
  return { resourceLogs: [{ scopeLogs: [{ logRecords }] }] };
}

const sendLogs = (...records: readonly JsonObject[]) => post("/v1/logs", requestOf(...records));

const history = [
  { role: "system", content: "You are brief." },
  { role: "user", content: "How is the weather?" },
];
const reply = { role: "assistant", content: "Sunny." };

/** The records of a call, as the conventions had them until 1.36: one for each message. */
function messagesOf(call: ReturnType<typeof aCall>) {
  return {
    system: call.log("gen_ai.system.message", { content: "You are brief." }),
    user: call.log("gen_ai.user.message", { content: "How is the weather?" }),
    choice: call.log("gen_ai.choice", {
      index: 0,
      finish_reason: "stop",
      message: { role: "assistant", content: "Sunny." },
    }),
  };
}

describe("messages in logs", () => {
  test.each([{ isFirst: true }, { isFirst: false }])(
    "are those of the call's event (span first: $isFirst)",
    async ({ isFirst }) => {
      const call = aCall();
      const { system, user, choice } = messagesOf(call);
      if (isFirst) await call.sendSpan();

      expect(await sendLogs(system, user, choice)).toMatchObject({ status: 200, json: {} });

      if (!isFirst) {
        expect(await readEvent(call.eventId)).toEqual({});
        await call.sendSpan();
      }
      expect(await readEvent(call.eventId)).toMatchObject({
        event_type: "model",
        event_name: "chat gpt-4o",
        inputs: { chat_history: history },
        outputs: reply,
      });
    },
  );

  test.each([{ isFirst: true }, { isFirst: false }])(
    "may come one by one, and again (span first: $isFirst)",
    async ({ isFirst }) => {
      const call = aCall();
      const { system, user, choice } = messagesOf(call);
      if (isFirst) await call.sendSpan();

      for (const record of [system, user, user, choice, choice]) await sendLogs(record);
      if (!isFirst) await call.sendSpan();

      const { inputs, outputs } = await readEvent(call.eventId);
      expect({ inputs, outputs }).toMatchObject({
        inputs: { chat_history: history },
        outputs: reply,
      });
    },
  );

  test("sent at once by a processor that does not gather them are all kept", async () => {
    const call = aCall();
    const texts = Array.from({ length: 12 }, (_, index) => `message ${index}`);
    const records = texts.map((content) => call.log("gen_ai.user.message", { content }));
    await call.sendSpan();

    await Promise.all(records.map((record) => sendLogs(record)));

    const { inputs } = await readEvent(call.eventId);
    const { chat_history } = inputs as { chat_history: readonly { content: string }[] };
    expect(chat_history.map(({ content }) => content).toSorted()).toEqual(texts.toSorted());
  });

  test("of the current conventions come whole, with tools", async () => {
    const call = aCall();
    const tool = { type: "function", name: "weather" };
    const attribute = (key: string, value: JsonValue) => ({ key, value: anyOf(value) });
    const part = (content: string) => [{ type: "text", content }];
    const record = call.log(
      "gen_ai.client.inference.operation.details",
      {},
      {
        attributes: [
          attribute("gen_ai.system_instructions", part("You are brief.")),
          attribute("gen_ai.input.messages", [
            { role: "user", parts: part("How is the weather?") },
          ]),
          attribute("gen_ai.output.messages", [{ role: "assistant", parts: part("Sunny.") }]),
          attribute("gen_ai.tool.definitions", [tool]),
          attribute("gen_ai.usage.input_tokens", 12),
        ],
      },
    );
    await call.sendSpan();

    await sendLogs(record);
    await sendLogs(record);

    const event = await readEvent(call.eventId);
    expect(event).toMatchObject({
      inputs: { chat_history: history },
      outputs: reply,
      config: { tools: [tool] },
    });
    expect(event["metadata"]).not.toHaveProperty("prompt_tokens");
  });

  test("name their event by an attribute in earlier versions", async () => {
    const call = aCall();
    const { user } = messagesOf(call);
    const named = [{ key: "event.name", value: { stringValue: "gen_ai.user.message" } }];
    await call.sendSpan();

    await sendLogs({ ...user, eventName: null, attributes: named });

    expect(await readEvent(call.eventId)).toMatchObject({
      inputs: { chat_history: history.slice(1) },
    });
  });

  test("are JSON text in the bodies of Semantic Kernel for Python", async () => {
    const call = aCall();
    await call.sendSpan();
    const log = (name: string, body: JsonObject) => ({
      ...call.log(name, {}),
      body: { stringValue: JSON.stringify(body) },
      attributes: [
        { key: "gen_ai.system", value: { stringValue: "openai" } },
        { key: "code.line.number", value: { intValue: "380" } },
      ],
    });

    const answer = await sendLogs(
      log("gen_ai.system.message", { role: "system", content: "You are brief." }),
      log("gen_ai.user.message", { role: "user", content: "How is the weather?" }),
      log("gen_ai.choice", { message: reply, finish_reason: "stop" }),
    );

    expect(answer).toMatchObject({ status: 200, json: {} });
    const { inputs, outputs } = await readEvent(call.eventId);
    expect({ inputs, outputs }).toEqual({ inputs: { chat_history: history }, outputs: reply });
  });

  test("without contents, as where they are not captured, leave those of the span", async () => {
    const call = aCall();
    await call.sendSpan();
    await sendLogs(...Object.values(messagesOf(call)));
    const tool_calls = [{ id: "call_1", type: "function", function: { name: "weather" } }];

    const answer = await sendLogs(
      call.log("gen_ai.system.message", {}),
      call.log("gen_ai.user.message", {}),
      call.log("gen_ai.assistant.message", { tool_calls }),
      call.log("gen_ai.choice", { index: 0, message: { role: "assistant", tool_calls } }),
    );

    expect(answer).toMatchObject({ status: 200, json: {} });
    const { inputs, outputs } = await readEvent(call.eventId);
    expect(inputs).toMatchObject({ chat_history: history });
    expect(outputs).toMatchObject(reply);
    expect(outputs).not.toHaveProperty("tool_calls");
  });

  test("past the size to which messages are added are rejected, and the others stay", async () => {
    const call = aCall();
    const { user } = messagesOf(call);
    await call.sendSpan();
    await sendLogs(call.log("gen_ai.user.message", { content: "x".repeat(300_000) }));

    const { json } = await sendLogs(user);

    expect(json).toMatchObject({ partialSuccess: { rejectedLogRecords: "1" } });
    expect(JSON.stringify(json)).toContain("more than 262144 bytes of messages already");
    const { inputs } = await readEvent(call.eventId);
    expect(inputs).toMatchObject({ chat_history: [{ content: "x".repeat(300_000) }] });
  });
});

describe("encodings", () => {
  test.each(["/v1/logs", "/opentelemetry/v1/logs"])("Protobuf with gzip on %s", async (path) => {
    const call = aCall();
    await call.sendSpan();
    const { user } = messagesOf(call);

    const response = await fetch(service.url + path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${service.ingestionKey}`,
        "content-type": "application/x-protobuf",
        "content-encoding": "gzip",
      },
      body: gzipSync(toBinary(ExportLogsServiceRequestSchema, await toMessage(requestOf(user)))),
    });

    expect(response.status).toBe(200);
    expect(await readEvent(call.eventId)).toMatchObject({
      inputs: { chat_history: history.slice(1) },
    });
  });

  test("gRPC", async () => {
    const call = aCall();
    await call.sendSpan();
    const { user, choice } = messagesOf(call);
    const transport = createGrpcTransport({ baseUrl: service.url });
    const client = createClient(LogsService, transport);

    const answer = await client.export(await toMessage(requestOf(user, choice, { flags: 1 })), {
      headers: { authorization: `Bearer ${service.ingestionKey}` },
    });

    expect(answer.partialSuccess).toMatchObject({ rejectedLogRecords: 1n });
    expect(await readEvent(call.eventId)).toMatchObject({ outputs: reply });
  });
});

async function toMessage(body: JsonObject): Promise<ExportLogsServiceRequest> {
  const bytes = Buffer.from(JSON.stringify(body));
  const memory = createByteBudget(Infinity).open();
  const { request } = await parseExportRequest(logs, "application/json", bytes, memory);
  return request as ExportLogsServiceRequest;
}

describe("scores in logs", () => {
  const scored = (call: ReturnType<typeof aCall>, attributes: Record<string, JsonObject>) =>
    call.log(
      "gen_ai.evaluation.result",
      {},
      {
        body: {},
        attributes: Object.entries(attributes).map(([key, value]) => ({
          key: `gen_ai.evaluation.${key}`,
          value,
        })),
      },
    );

  test("are metrics of the call's event, each evaluation's beside the others", async () => {
    const call = aCall();
    const relevance = scored(call, {
      name: { stringValue: "Relevance" },
      "score.value": { doubleValue: 0.5 },
      "score.label": { stringValue: "partly" },
      explanation: { stringValue: "Half of it." },
    });
    const tone = scored(call, {
      name: { stringValue: "tone" },
      "score.label": { stringValue: "kind" },
    });

    expect((await sendLogs(relevance)).json).toEqual({});
    await call.sendSpan();
    expect((await sendLogs(tone, messagesOf(call).user)).json).toEqual({});

    expect(await readEvent(call.eventId)).toMatchObject({
      inputs: { chat_history: history.slice(1) },
      metrics: {
        Relevance: 0.5,
        Relevance_label: "partly",
        Relevance_explanation: "Half of it.",
        tone: "kind",
      },
    });
  });

  test("without a name or a score are rejected", async () => {
    const call = aCall();
    const nameless = scored(call, { "score.value": { doubleValue: 1 } });
    const empty = scored(call, { name: { stringValue: "tone" } });

    const { json } = await sendLogs(nameless, empty);

    expect(json).toMatchObject({ partialSuccess: { rejectedLogRecords: "2" } });
  });
});

describe("other log records", () => {
  test("are counted with their reasons, and the good ones are stored", async () => {
    const call = aCall();
    const { user } = messagesOf(call);
    await call.sendSpan();

    const { status, json } = await sendLogs(
      { ...user, eventName: "my.event" },
      { ...user, traceId: "", spanId: "" },
      { ...user, flags: 0 },
      { ...user, attributes: 7 },
      user,
    );

    expect(status).toBe(200);
    expect(json).toEqual({
      partialSuccess: { rejectedLogRecords: "4", errorMessage: expect.any(String) as string },
    });
    const { errorMessage } = (json as { partialSuccess: { errorMessage: string } }).partialSuccess;
    const ofUser = 'log record "gen_ai.user.message":';
    const unknown = "is not an event of the GenAI conventions with messages or a score";
    expect(errorMessage.split("; ")).toEqual([
      `${ofUser} has no trace id and span id, and only messages and scores of a span are stored`,
      `${ofUser} its flags say that its span is not sampled, and so not sent`,
      `log record "my.event": ${unknown}, so it is not stored`,
      `${ofUser} attributes must be an array`,
    ]);
    expect(await readEvent(call.eventId)).toMatchObject({
      inputs: { chat_history: history.slice(1) },
    });
  });

  test("that nest too deep, or have too many values, are rejected alone", async () => {
    const call = aCall();
    const { user } = messagesOf(call);
    let deep: JsonValue = "x";
    for (let depth = 0; depth < 130; depth += 1) deep = [deep];
    await call.sendSpan();

    const { json } = await sendLogs(call.log("gen_ai.user.message", { content: deep }), user);

    expect(json).toMatchObject({ partialSuccess: { rejectedLogRecords: "1" } });
    expect(await readEvent(call.eventId)).toMatchObject({
      inputs: { chat_history: history.slice(1) },
    });
  });
});
