// Attacks by small bodies that become much work or many stored bytes: attributes that many events
// share, long lists of numbers, small updates to large events. A second tenant does not notice.
// Source: docs/limits.md.

import { expect, test } from "vitest";
import { TraceService } from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { EventService } from "../../gen/waggle/v1/event_pb.js";
import { givenStarted } from "../support/given.ts";
import { join, jsonList, lengthField, repeat } from "../support/attack/bytes.ts";
import type { Answer, Call, ProtocolName } from "../support/attack/protocols.ts";
import { startAttackedService } from "../support/attack/service.ts";
import { floodAndAsk, isLater, othersThanRefusals, underAttack } from "../support/attack/watch.ts";

const timeoutMs = 300_000;

const service = givenStarted(startAttackedService);

type Row = {
  readonly protocol: ProtocolName;
  readonly method: Call["method"];
  readonly rest?: string;
  readonly body: () => Buffer;
};

async function attack(rows: readonly Row[], count: number): Promise<readonly Answer[]> {
  return underAttack(service, async () => {
    const all: Answer[] = [];
    for (const { body, rest = "", ...row } of rows) {
      const call = { ...row, rest, body: body(), encoding: "gzip" } as const;
      all.push(
        ...(await floodAndAsk(service, { ...call, key: service.attacker.ingestionKey }, count)),
      );
    }
    return all;
  });
}

const { export: exportTraces } = TraceService.method;
const { createEventBatch, createEvent } = EventService.method;

/** Bytes of one attribute of the resource, and spans that share it. */
const attributeBytes = 40_000_000;
const spanCount = 2_000;

const spanIds = Array.from({ length: spanCount }, (_, index) => (index + 1).toString(16));
const traceId = "0af7651916cd43dd8448eb211c80319c";
const startedAt = 1_760_000_000_000_000_000n;

function spanInJson(id: string): object {
  return { traceId, spanId: id.padStart(16, "0"), startTimeUnixNano: String(startedAt) };
}

function spanInProtobuf(id: string): Buffer {
  const startTime = Buffer.alloc(9);
  startTime.writeUInt8(7 * 8 + 1);
  startTime.writeBigUInt64LE(startedAt, 1);
  const ids = [Buffer.from(traceId, "hex"), Buffer.from(id.padStart(16, "0"), "hex")] as const;
  return join(lengthField(1, ids[0]), lengthField(2, ids[1]), startTime);
}

function largeResourceInProtobuf(bytes: number): Buffer {
  const value = lengthField(2, lengthField(1, repeat("a", bytes)));
  const resource = lengthField(1, lengthField(1, join(lengthField(1, "large"), value)));
  const spanFields = join(...spanIds.map((id) => lengthField(2, spanInProtobuf(id))));
  const spans = lengthField(2, spanFields);
  return lengthField(1, join(resource, spans));
}

function largeResourceInJson(bytes: number): Buffer {
  const text = repeat("a", bytes);
  const attribute = join('{"key":"large","value":{"stringValue":"', text, '"}}');
  const spans = JSON.stringify(spanIds.map(spanInJson));
  const resource = join('{"attributes":[', attribute, "]}");
  return join(
    '{"resourceSpans":[{"resource":',
    resource,
    ',"scopeSpans":[{"spans":',
    spans,
    "}]}]}",
  );
}

const otlpRows = (bytes: number): readonly Row[] => [
  {
    protocol: "OTLP/HTTP Protobuf",
    method: exportTraces,
    body: () => largeResourceInProtobuf(bytes),
  },
  { protocol: "OTLP/HTTP JSON", method: exportTraces, body: () => largeResourceInJson(bytes) },
  { protocol: "gRPC", method: exportTraces, body: () => largeResourceInProtobuf(bytes) },
  { protocol: "gRPC-Web", method: exportTraces, body: () => largeResourceInProtobuf(bytes) },
  {
    protocol: "Connect Protobuf",
    method: exportTraces,
    body: () => largeResourceInProtobuf(bytes),
  },
];

/** Returns the answers that neither refuse the spans by name nor say to come later. */
function othersThanRejections(answers: readonly Answer[], limit: RegExp): readonly Answer[] {
  return answers.filter((one) => !limit.test(one.text) && !isLater(one)).slice(0, 3);
}

test("40 MB that 2,000 spans share are refused", { timeout: timeoutMs }, async () => {
  const answers = await attack(otlpRows(attributeBytes), 2);

  expect(othersThanRejections(answers, /64000 bytes/)).toEqual([]);
});

test("60 kB that 2,000 spans share are stored a few times", { timeout: timeoutMs }, async () => {
  const before = await databaseBytes();

  const answers = await attack(otlpRows(60_000), 2);

  // The spans of a request would take 120 MB; 16 MB of them are stored.
  expect(othersThanRejections(answers, /more than 16000000/)).toEqual([]);
  const stored = answers.length * 16_000_000;
  expect((await databaseBytes()) - before).toBeLessThan(2 * stored);
});

function databaseBytes(): Promise<number> {
  return service.database.transaction(async (sql) => {
    const [row] = await sql<{ bytes: string }[]>`
      select pg_database_size(current_database()) as bytes`;
    return Number(row?.bytes);
  });
}

function replyOfItems(count: number): Buffer {
  const items = Array.from({ length: count }, () => ({ type: "function_call", name: "x" }));
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const attributes = [
    attribute("langfuse.observation.type", "generation"),
    attribute("langfuse.observation.output", JSON.stringify(items)),
  ];
  const spans = [{ ...spanInJson("1"), attributes }];
  return Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }));
}

test("a reply of 60,000 items holds up no one else", { timeout: timeoutMs }, async () => {
  const body = () => replyOfItems(60_000);
  const row = { protocol: "OTLP/HTTP JSON", method: exportTraces, body } as const;

  const answers = await attack([row], 3);

  expect(answers.filter((one) => one.status !== 200 && !isLater(one)).slice(0, 3)).toEqual([]);
});

const numbers = (count: number): Buffer =>
  join('{"event":{"event_type":"tool","inputs":{"list":', jsonList("[0]", count), "}}}");

test("lists of numbers in 5 kB hold up no one else", { timeout: timeoutMs }, async () => {
  const rows = (["Connect JSON", "gRPC JSON", "REST over HTTP/2"] as const).map((protocol) => ({
    protocol,
    method: createEvent,
    rest: "POST /events",
    body: () => numbers(1_500_000),
  }));

  const answers = await attack(rows, 3);

  expect(othersThanRefusals(answers, /more than 500000 values/)).toEqual([]);
});

test("small updates to large events are stored or refused", { timeout: timeoutMs }, async () => {
  const event = { event_type: "tool", source: "attack", inputs: {} };
  const ids = ["a large event", "another one", "a third one"];
  const stored = ids.map((id) => ({ ...event, event_id: id, inputs: { text: largeText } }));
  const updated = Array.from({ length: 30 }, (_, index) => ({
    ...event,
    event_id: ids[index % ids.length],
    metadata: { [`update ${index}`]: index },
  }));
  const rest = "REST over HTTP/1.1" as const;
  const batches = [
    ...stored.map((one) => ({ protocol: rest, events: [one] })),
    ...([rest, "Connect JSON", "gRPC JSON"] as const).map((protocol) => ({
      protocol,
      events: updated,
    })),
  ];
  const rows = batches.map(({ protocol, events }) => ({
    protocol,
    method: createEventBatch,
    rest: "POST /events/batch",
    body: () => Buffer.from(JSON.stringify({ events })),
  }));

  const answers = await attack(rows, 3);

  expect(answers.filter((one) => one.status !== 200 && !isLater(one)).slice(0, 3)).toEqual([]);
});

const largeText = "x".repeat(10_000_000);

function numbersInProtobuf(count: number): Buffer {
  const number = Buffer.alloc(9);
  number.writeUInt8(2 * 8 + 1);
  const item = lengthField(1, lengthField(6, lengthField(1, number)));
  const list = lengthField(2, lengthField(6, repeat(item, count)));
  const inputs = lengthField(11, lengthField(1, join(lengthField(1, "list"), list)));
  return lengthField(1, join(lengthField(5, "tool"), inputs));
}

test("lists of numbers in Protobuf hold up no one else", { timeout: timeoutMs }, async () => {
  const rows = (["Connect Protobuf", "gRPC", "gRPC-Web"] as const).map((protocol) => ({
    protocol,
    method: createEvent,
    body: () => numbersInProtobuf(1_000_000),
  }));

  const answers = await attack(rows, 3);

  expect(othersThanRefusals(answers, /more than \d+ (values|messages)/)).toEqual([]);
});
