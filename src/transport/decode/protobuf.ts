// Decodes the bytes of a body to a Protobuf message, for gRPC, gRPC-Web, Connect and OTLP: counts
// it first, drops unknown fields, and decodes a large one in pieces, so that other requests wait
// only milliseconds. Source: docs/limits.md.

import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  type JsonObject,
  mergeFromBinary,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import { ExportTraceServiceRequestSchema } from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import {
  ResourceSpansSchema,
  type ScopeSpans,
  ScopeSpansSchema,
  type Span,
  SpanSchema,
} from "../../../gen/opentelemetry/proto/trace/v1/trace_pb.js";
import type { Reservation } from "../../base/byte-budget.ts";
import { ServiceError } from "../../base/errors.ts";
import { messageDepthMax } from "../../base/limits.ts";
import { createPacer, type Pacer, startPacer } from "../../base/pacer.ts";
import { countProtobuf } from "./protobuf-scan.ts";
import { createSpanReader, type ReadSpan } from "./span.ts";
import { readStruct } from "./struct.ts";
import { reserveDecoded } from "../../base/decode/tally.ts";
import { type Cursor, lengthType, malformed, readEnd, readTag, skipValue } from "./wire.ts";

/** Maximum bytes of a message that is decoded at once: 1 ms, or 40 ms for empty messages. */
const wholeBytesMax = 65_536;

/** Bytes of a larger message that are decoded at once. */
const pieceBytesDefault = 16_384;

/** Maximum bytes of a body that does not wait for a turn; it takes less than a millisecond. */
const unpacedBytesMax = 65_536;

/** Number of small fields that are read between two checks of the clock. */
const stepFields = 256;

/** Messages around spans, which are read one by one. */
const aroundSpans: ReadonlySet<DescMessage | undefined> = new Set([
  ExportTraceServiceRequestSchema,
  ResourceSpansSchema,
  ScopeSpansSchema,
]);

const readOptions = { readUnknownFields: false, recursionLimit: messageDepthMax };

/**
 * Returns the message of a body. Fails with MALFORMED_BODY, or with BODY_TOO_LARGE or OVERLOADED if
 * there is no memory for the message.
 */
export async function decodeProtobuf<Desc extends DescMessage>(
  desc: Desc,
  body: Uint8Array,
  memory: Reservation,
): Promise<MessageShape<Desc>> {
  const isPaced = body.length > unpacedBytesMax;
  const pacer = isPaced ? await startPacer(memory.holder) : createPacer(memory.holder);
  const tally = await countProtobuf(desc, body, pacer);
  reserveDecoded(body.length + tally.memory, memory);
  return (await parseProtobuf(desc, body, { pacer })) as MessageShape<Desc>;
}

/** Decodes a message that is already counted. Tests pass smaller sizes. */
export async function parseProtobuf(
  desc: DescMessage,
  body: Uint8Array,
  { wholeBytes = wholeBytesMax, pieceBytes = pieceBytesDefault, pacer = createPacer() } = {},
): Promise<Message> {
  try {
    const hasSpans = aroundSpans.has(desc);
    if (body.length <= wholeBytes && !hasSpans) return fromBinary(desc, body, readOptions);
    const target = create(desc);
    const pieces = { pieceBytes, pacer, readSpan: hasSpans ? createSpanReader(body) : undefined };
    await mergeMessage(desc, target, { bytes: body, at: 0 }, body.length, pieces);
    return target;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw malformed((error as Error).message, error);
  }
}

type Pieces = {
  readonly pieceBytes: number;
  readonly pacer: Pacer;
  readonly readSpan: ReadSpan | undefined;
};

type Fields = Record<string, unknown>;

/**
 * Merges the message that ends at `end`: runs of small fields together, large fields one by one.
 */
async function mergeMessage(
  desc: DescMessage,
  target: Message,
  cursor: Cursor,
  end: number,
  pieces: Pieces,
): Promise<void> {
  const { pieceBytes, pacer } = pieces;
  const fields = fieldsOf(desc);
  const { bytes } = cursor;
  let runStart = cursor.at;
  const flush = (runEnd: number): void => {
    if (runEnd > runStart) {
      mergeFromBinary(desc, target, bytes.subarray(runStart, runEnd), readOptions);
    }
    runStart = cursor.at;
  };
  for (let count = 1; cursor.at < end; count += 1) {
    if (count % stepFields === 0 && pacer.due()) await pacer.rest();
    const start = cursor.at;
    const tag = readTag(cursor);
    const field = fields.get(tag >>> 3);
    if (!field) {
      skipValue(cursor, tag, end);
      flush(start);
      continue;
    }
    const valueStart = cursor.at;
    skipValue(cursor, tag, end);
    const isMessage = isDivisible(field) && (tag & 7) === lengthType;
    const isLong = cursor.at - valueStart > (aroundSpans.has(field.message) ? 0 : pieceBytes);
    const child = { bytes, at: valueStart };
    const isSpan = isMessage && field.message === SpanSchema;
    const span = isSpan ? readSpan(child, end, pieces) : undefined;
    if (span) {
      flush(start);
      (target as ScopeSpans).spans.push(span);
      if (pacer.due()) await pacer.rest();
    } else if (isLong && isMessage) {
      flush(start);
      await mergeChild(field, target, child, readEnd(child, end), pieces);
    } else if (cursor.at - runStart >= pieceBytes) {
      flush(cursor.at);
      if (pacer.due()) await pacer.rest();
    }
  }
  flush(end);
}

/** Returns the span at a position, or undefined if the library must read it or it is large. */
function readSpan(
  { bytes, at }: Cursor,
  limit: number,
  { readSpan: read }: Pieces,
): Span | undefined {
  const cursor = { bytes, at };
  const end = readEnd(cursor, limit);
  return end - cursor.at > wholeBytesMax ? undefined : read?.(cursor.at, end);
}

/**
 * Returns whether the value of a field is a message that can be merged field by field. Messages of
 * one scalar (`google.protobuf.StringValue`) cannot: they are held as the scalar itself.
 */
function isDivisible({ fieldKind, message }: DescField): boolean {
  if (!message || fieldKind === "map") return false;
  return !message.typeName.startsWith("google.protobuf.") || message.name === "Struct";
}

async function mergeChild(
  field: DescField,
  target: Message,
  cursor: Cursor,
  end: number,
  pieces: Pieces,
): Promise<void> {
  const { message: desc } = field;
  if (!desc) throw new Error(`${field.name} is no message`);
  const fields = target as unknown as Fields;
  if (field.fieldKind === "list") {
    const items = fields[field.localName] as unknown[];
    items.push(await readChild(desc, undefined, cursor, end, pieces));
  } else if (field.oneof) {
    const set = fields[field.oneof.localName] as { case?: string; value?: unknown };
    const before = set.case === field.localName ? set.value : undefined;
    const value = await readChild(desc, before, cursor, end, pieces, field.parent);
    fields[field.oneof.localName] = { case: field.localName, value };
  } else {
    const before = fields[field.localName];
    fields[field.localName] = await readChild(desc, before, cursor, end, pieces, field.parent);
  }
}

/** Reads a message and merges it into the previous value. Structs become plain JSON objects. */
async function readChild(
  desc: DescMessage,
  before: unknown,
  cursor: Cursor,
  end: number,
  pieces: Pieces,
  parent?: DescMessage,
): Promise<unknown> {
  const isJson =
    desc.typeName === "google.protobuf.Struct" && parent?.typeName !== "google.protobuf.Value";
  if (isJson) {
    const object: JsonObject = { ...(before as JsonObject | undefined) };
    await readStruct(cursor, end, object, pieces.pacer);
    return object;
  }
  const message = (before as Message | undefined) ?? create(desc);
  await mergeMessage(desc, message, cursor, end, pieces);
  return message;
}

const fieldMaps = new Map<DescMessage, ReadonlyMap<number, DescField>>();

function fieldsOf(desc: DescMessage): ReadonlyMap<number, DescField> {
  const known = fieldMaps.get(desc);
  if (known) return known;
  const fields = new Map(desc.fields.map((field) => [field.number, field]));
  fieldMaps.set(desc, fields);
  return fields;
}
