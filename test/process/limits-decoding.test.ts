// Attacks by small bodies that decode to large ones, over every protocol: each is refused by name,
// and a second tenant does not notice. Source: docs/limits.md.

import { expect, test } from "vitest";
import { Health } from "../../gen/grpc/health/v1/health_pb.js";
import { ServerReflection } from "../../gen/grpc/reflection/v1/reflection_pb.js";
import { TraceService } from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { EventService } from "../../gen/waggle/v1/event_pb.js";
import { givenStarted } from "../support/given.ts";
import { join, jsonList, lengthField, numberField, repeat } from "../support/attack/bytes.ts";
import {
  type Answer,
  type Call,
  openAttackClient,
  type ProtocolName,
} from "../support/attack/protocols.ts";
import { startAttackedService } from "../support/attack/service.ts";
import { floodAndAsk, othersThanRefusals, underAttack } from "../support/attack/watch.ts";

const timeoutMs = 300_000;

const service = givenStarted(startAttackedService);

type Row = {
  readonly protocol: ProtocolName;
  readonly method: Call["method"];
  readonly body: () => Buffer;
};

/**
 * Sends each row so many times at once, one row after another, and expects each answer to name the
 * limit, or to say that it has to come later.
 */
async function expectRefusals(
  rows: readonly Row[],
  { count, limit, key }: { count: number; limit: RegExp; key?: string },
): Promise<void> {
  const answers = await underAttack(service, async () => {
    const all: (readonly [string, readonly Answer[]])[] = [];
    for (const { body, ...row } of rows) {
      const call = {
        ...row,
        rest: "POST /events/batch",
        body: body(),
        encoding: "gzip",
        key,
      } as const;
      all.push([
        `${row.method.name} over ${row.protocol}`,
        await floodAndAsk(service, call, count),
      ]);
    }
    return all;
  });
  for (const [name, got] of answers) expect(othersThanRefusals(got, limit), name).toEqual([]);
}

const check = Health.method.check;
const reflect = ServerReflection.method.serverReflectionInfo;

/** 1 MB of fields that no message has, in 1,004 bytes of gzip. */
const unknownFields = (): Buffer => repeat(numberField(15, 0), 500_000);
const unknownMembers = (): Buffer => join('{"unknown":', jsonList("{}", 333_000), "}");

test(
  "200 streams of unknown fields without a key are refused",
  { timeout: timeoutMs },
  async () => {
    const rows: readonly Row[] = [
      { method: check, protocol: "gRPC", body: unknownFields },
      { method: check, protocol: "gRPC-Web", body: unknownFields },
      { method: check, protocol: "gRPC JSON", body: unknownMembers },
      { method: check, protocol: "Connect Protobuf", body: unknownFields },
      { method: check, protocol: "Connect JSON", body: unknownMembers },
      { method: Health.method.watch, protocol: "gRPC", body: unknownFields },
      { method: reflect, protocol: "gRPC", body: unknownFields },
      { method: reflect, protocol: "Connect Protobuf", body: unknownFields },
    ];

    await expectRefusals(rows, { count: 200, limit: /4096 bytes/ });
  },
);

const create = EventService.method.createEvent;

test("200 streams of unknown fields with a key are dropped", { timeout: timeoutMs }, async () => {
  const rows = (["gRPC", "gRPC-Web", "Connect Protobuf"] as const).map((protocol) => ({
    protocol,
    method: create,
    body: unknownFields,
  }));

  // Without its unknown fields the message is empty.
  const limit = /^event: value is required/;
  await expectRefusals(rows, { count: 200, limit, key: service.attacker.ingestionKey });
});

const traces = TraceService.method.export;
const emptySpans = 14_000_000;
const spansInProtobuf = (): Buffer =>
  lengthField(1, lengthField(2, repeat(lengthField(2, ""), emptySpans)));
const spansInJson = (): Buffer =>
  join('{"resourceSpans":[{"scopeSpans":[{"spans":', jsonList("{}", emptySpans), "}]}]}");

test("14,000,000 empty spans in 27 kB are refused", { timeout: timeoutMs }, async () => {
  const rows: readonly Row[] = [
    { protocol: "OTLP/HTTP Protobuf", method: traces, body: spansInProtobuf },
    { protocol: "OTLP/HTTP JSON", method: traces, body: spansInJson },
    { protocol: "gRPC", method: traces, body: spansInProtobuf },
    { protocol: "gRPC JSON", method: traces, body: spansInJson },
    { protocol: "gRPC-Web", method: traces, body: spansInProtobuf },
    { protocol: "Connect Protobuf", method: traces, body: spansInProtobuf },
    { protocol: "Connect JSON", method: traces, body: spansInJson },
  ];

  const limit = /more than 2000000 objects|at most 100000 items/;
  await expectRefusals(rows, { count: 4, limit, key: service.attacker.ingestionKey });
});

/** 90,000 spans of a root each, with attributes: as many as an export may have, nearly. */
const smallSpans = (): Buffer => {
  const attribute = (name: string): Buffer =>
    lengthField(9, Buffer.concat([lengthField(1, name), lengthField(2, lengthField(1, "value"))]));
  const ids = Buffer.concat([lengthField(1, "t".repeat(16)), lengthField(2, "spanspan")]);
  const span = Buffer.concat([ids, ...["a", "b", "c"].map(attribute)]);
  return lengthField(1, lengthField(2, repeat(lengthField(2, span), 90_000)));
};

test("90,000 spans of one tenant leave turns to others", { timeout: timeoutMs }, async () => {
  const client = openAttackClient(service.url);
  const key = service.attacker.ingestionKey;
  const call = { method: traces, rest: "", body: smallSpans(), encoding: "gzip", key } as const;

  const answers = await underAttack(service, async () => {
    const all: Answer[] = [];
    for (const protocol of ["OTLP/HTTP Protobuf", "gRPC", "Connect Protobuf"] as const) {
      all.push(await client.call({ ...call, protocol }));
    }
    return all;
  });
  client.close();

  expect(answers.map(({ status, code = 0 }) => ({ status, code }))).toEqual(
    answers.map(() => ({ status: 200, code: 0 })),
  );
});

const batch = EventService.method.createEventBatch;
const emptyEvents = 5_000_000;
const eventsInProtobuf = (): Buffer => repeat(lengthField(1, ""), emptyEvents);
const eventsInJson = (): Buffer => join('{"events":', jsonList("{}", emptyEvents), "}");

test("5,000,000 empty events in 15 kB are refused", { timeout: timeoutMs }, async () => {
  const rows: readonly Row[] = [
    { protocol: "Connect JSON", method: batch, body: eventsInJson },
    { protocol: "Connect Protobuf", method: batch, body: eventsInProtobuf },
    { protocol: "gRPC", method: batch, body: eventsInProtobuf },
    { protocol: "gRPC JSON", method: batch, body: eventsInJson },
    { protocol: "gRPC-Web", method: batch, body: eventsInProtobuf },
    { protocol: "REST over HTTP/1.1", method: batch, body: eventsInJson },
    { protocol: "REST over HTTP/2", method: batch, body: eventsInJson },
  ];

  const limit = /more than 2000000 objects|at most 100000 items/;
  await expectRefusals(rows, { count: 4, limit, key: service.attacker.ingestionKey });
});
