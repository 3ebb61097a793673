// Reads the bytes of an OpenTelemetry span to its message, field by field with the library's
// reader. The library's own way to a message takes more than twice the time (docs/dependencies.md).
// Source: OpenTelemetry protocol, trace.proto and common.proto.

import type { GenEnum } from "@bufbuild/protobuf/codegenv2";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import type { AnyValue, KeyValue } from "../../../gen/opentelemetry/proto/common/v1/common_pb.js";
import {
  type Span,
  type Span_Event,
  type Span_Link,
  Span_SpanKind,
  Span_SpanKindSchema,
  type Status,
  Status_StatusCode,
  Status_StatusCodeSchema,
} from "../../../gen/opentelemetry/proto/trace/v1/trace_pb.js";

type Mutable<T> = { -readonly [Field in keyof T]: T[Field] };

/** Returns the span at a position, or undefined if the library must read it. */
export type ReadSpan = (at: number, end: number) => Span | undefined;

/** Thrown at what the library must read: an unknown field or value, or a part that comes twice. */
class UnusualFieldError extends Error {}

/**
 * Returns the reader of the spans in a body that `countProtobuf` has checked. Names that occur
 * again, such as keys of attributes, are one text.
 */
export function createSpanReader(body: Uint8Array): ReadSpan {
  const reader = new NamesReader(body);
  return (at, end) => {
    reader.pos = at;
    try {
      return readSpan(reader, end);
    } catch (error) {
      if (error instanceof UnusualFieldError) return undefined;
      throw error;
    }
  };
}

/** Maximum bytes and number of the names that are kept. */
const nameBytesMax = 64;
const namesMax = 1_000;

class NamesReader extends BinaryReader {
  readonly #bytes: Uint8Array;
  readonly #names = new Map<number, { readonly at: number; readonly text: string }>();

  constructor(bytes: Uint8Array) {
    super(bytes);
    this.#bytes = bytes;
  }

  /** Returns the end of the message that begins here. */
  end(): number {
    return this.uint32() + this.pos;
  }

  /** Reads a text that is likely to occur again in the body. */
  name(): string {
    const start = this.pos;
    const length = this.uint32();
    const at = this.pos;
    this.pos = start;
    if (length > nameBytesMax) return this.string(true);
    const hash = hashOf(this.#bytes, at, length);
    const known = this.#names.get(hash);
    if (known === undefined) {
      const text = this.string(true);
      if (this.#names.size < namesMax) this.#names.set(hash, { at: start, text });
      return text;
    }
    const size = at - start + length;
    if (!areSame(this.#bytes, { known: known.at, at: start, size })) return this.string(true);
    this.pos = at + length;
    return known.text;
  }
}

function hashOf(bytes: Uint8Array, at: number, length: number): number {
  let hash = length;
  for (let index = at; index < at + length; index += 1) {
    hash = Math.imul(hash, 31) + (bytes[index] ?? 0);
  }
  return hash | 0;
}

/** Returns whether `size` bytes, the length of the text included, are the same at two positions. */
function areSame(
  bytes: Uint8Array,
  { known, at, size }: { readonly known: number; readonly at: number; readonly size: number },
): boolean {
  for (let index = 0; index < size; index += 1) {
    if (bytes[known + index] !== bytes[at + index]) return false;
  }
  return true;
}

function readEnum<T extends number>(reader: BinaryReader, { value }: GenEnum<T>): T {
  const number = reader.int32();
  if (!(number in value)) throw new UnusualFieldError();
  return number as T;
}

const noBytes = new Uint8Array(0);

function readSpan(reader: NamesReader, end: number): Span {
  const span: Mutable<Span> = {
    $typeName: "opentelemetry.proto.trace.v1.Span",
    traceId: noBytes,
    spanId: noBytes,
    traceState: "",
    parentSpanId: noBytes,
    flags: 0,
    name: "",
    kind: Span_SpanKind.UNSPECIFIED,
    startTimeUnixNano: 0n,
    endTimeUnixNano: 0n,
    attributes: [],
    droppedAttributesCount: 0,
    events: [],
    droppedEventsCount: 0,
    links: [],
    droppedLinksCount: 0,
    status: undefined,
  };
  while (reader.pos < end) readSpanField(reader, span);
  return span;
}

/** Tags are field numbers times 8, plus the type on the wire. */
function readSpanField(reader: NamesReader, span: Mutable<Span>): void {
  switch (reader.uint32()) {
    case 10:
      span.traceId = reader.bytes();
      break;
    case 18:
      span.spanId = reader.bytes();
      break;
    case 26:
      span.traceState = reader.string(true);
      break;
    case 34:
      span.parentSpanId = reader.bytes();
      break;
    case 42:
      span.name = reader.name();
      break;
    case 48:
      span.kind = readEnum(reader, Span_SpanKindSchema);
      break;
    case 57:
      span.startTimeUnixNano = reader.fixed64() as bigint;
      break;
    case 65:
      span.endTimeUnixNano = reader.fixed64() as bigint;
      break;
    case 74:
      span.attributes.push(readKeyValue(reader));
      break;
    case 80:
      span.droppedAttributesCount = reader.uint32();
      break;
    case 90:
      span.events.push(readEvent(reader));
      break;
    case 96:
      span.droppedEventsCount = reader.uint32();
      break;
    case 106:
      span.links.push(readLink(reader));
      break;
    case 112:
      span.droppedLinksCount = reader.uint32();
      break;
    case 122:
      span.status = readStatus(reader, span.status);
      break;
    case 133:
      span.flags = reader.fixed32();
      break;
    default:
      throw new UnusualFieldError();
  }
}

function readStatus(reader: NamesReader, before: Status | undefined): Status {
  if (before) throw new UnusualFieldError();
  const status: Mutable<Status> = {
    $typeName: "opentelemetry.proto.trace.v1.Status",
    message: "",
    code: Status_StatusCode.UNSET,
  };
  const end = reader.end();
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === 18) status.message = reader.string(true);
    else if (tag === 24) status.code = readEnum(reader, Status_StatusCodeSchema);
    else throw new UnusualFieldError();
  }
  return status;
}

function readEvent(reader: NamesReader): Span_Event {
  const event: Mutable<Span_Event> = {
    $typeName: "opentelemetry.proto.trace.v1.Span.Event",
    timeUnixNano: 0n,
    name: "",
    attributes: [],
    droppedAttributesCount: 0,
  };
  const end = reader.end();
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === 9) event.timeUnixNano = reader.fixed64() as bigint;
    else if (tag === 18) event.name = reader.name();
    else if (tag === 26) event.attributes.push(readKeyValue(reader));
    else if (tag === 32) event.droppedAttributesCount = reader.uint32();
    else throw new UnusualFieldError();
  }
  return event;
}

function readLink(reader: NamesReader): Span_Link {
  const link: Mutable<Span_Link> = {
    $typeName: "opentelemetry.proto.trace.v1.Span.Link",
    traceId: noBytes,
    spanId: noBytes,
    traceState: "",
    attributes: [],
    droppedAttributesCount: 0,
    flags: 0,
  };
  const end = reader.end();
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === 10) link.traceId = reader.bytes();
    else if (tag === 18) link.spanId = reader.bytes();
    else if (tag === 26) link.traceState = reader.string(true);
    else if (tag === 34) link.attributes.push(readKeyValue(reader));
    else if (tag === 40) link.droppedAttributesCount = reader.uint32();
    else if (tag === 53) link.flags = reader.fixed32();
    else throw new UnusualFieldError();
  }
  return link;
}

function readKeyValue(reader: NamesReader): KeyValue {
  const pair: Mutable<KeyValue> = {
    $typeName: "opentelemetry.proto.common.v1.KeyValue",
    key: "",
    value: undefined,
    keyStrindex: 0,
  };
  const end = reader.end();
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag === 10) pair.key = reader.name();
    else if (tag === 18 && pair.value === undefined) pair.value = readAnyValue(reader);
    else throw new UnusualFieldError();
  }
  return pair;
}

function readAnyValue(reader: NamesReader): AnyValue {
  const end = reader.end();
  let value: AnyValue["value"] = { case: undefined };
  while (reader.pos < end) {
    if (value.case !== undefined) throw new UnusualFieldError();
    value = readCase(reader);
  }
  return { $typeName: "opentelemetry.proto.common.v1.AnyValue", value };
}

function readCase(reader: NamesReader): AnyValue["value"] {
  switch (reader.uint32()) {
    case 10:
      return { case: "stringValue", value: reader.string(true) };
    case 16:
      return { case: "boolValue", value: reader.bool() };
    case 24:
      return { case: "intValue", value: reader.int64() as bigint };
    case 33:
      return { case: "doubleValue", value: reader.double() };
    case 42: {
      const values = readItems(reader, readAnyValue);
      return {
        case: "arrayValue",
        value: { $typeName: "opentelemetry.proto.common.v1.ArrayValue", values },
      };
    }
    case 50: {
      const values = readItems(reader, readKeyValue);
      return {
        case: "kvlistValue",
        value: { $typeName: "opentelemetry.proto.common.v1.KeyValueList", values },
      };
    }
    case 58:
      return { case: "bytesValue", value: reader.bytes() };
    default:
      throw new UnusualFieldError();
  }
}

/** Reads a message that is one list, in field 1. */
function readItems<Item>(reader: NamesReader, read: (reader: NamesReader) => Item): Item[] {
  const items: Item[] = [];
  const end = reader.end();
  while (reader.pos < end) {
    if (reader.uint32() !== 10) throw new UnusualFieldError();
    items.push(read(reader));
  }
  return items;
}
