// Spans of Phoenix, from its data frames (`attributes.llm.model_name`) or its REST API (an object
// `attributes`), as OTLP spans with OpenInference attributes, which the service reads.
// Source: OpenInference semantic conventions, 0.1.

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { deriveEventId } from "../../tracing/spans/identity.ts";
import type { Mapped } from "./mapping.ts";
import {
  BadRecord,
  readRecord,
  type SourceRecord,
  takeText,
  takeTime,
  toSessionId,
  unpack,
} from "./source-record.ts";

const format = "phoenix";
const attributePrefix = "attributes.";

/** Attributes that OpenInference writes as JSON text, which Phoenix gives as objects. */
const jsonText =
  /(^|\.)(metadata|invocation_parameters|parameters|json_schema|variables|arguments)$|\.value$/;

/** Maps a span to OTLP JSON. Its session is its trace, whatever the rest of the export says. */
export function mapPhoenix(source: JsonObject): Mapped {
  const record = readRecord(source);
  const traceId = takeHex(record, "trace_id", 32);
  const spanId = takeHex(record, "span_id", 16);
  record.take("context");
  const start = takeTime(record, "start_time");
  if (start === undefined) throw new BadRecord("start_time is required");
  const end = takeTime(record, "end_time");
  const kind = takeText(record, "span_kind");
  const sessionId = toSessionId(format, traceId);
  const attributes = new Map<string, JsonValue>([["honeyhive.session_id", sessionId]]);
  const parentSpanId = takeText(record, "parent_id");
  const span = {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name: takeText(record, "name") ?? "unknown",
    startTimeUnixNano: toNanos(start),
    endTimeUnixNano: end === undefined ? "0" : toNanos(end),
    status: {
      code: statusCodes[takeText(record, "status_code")?.toUpperCase() ?? ""] ?? 0,
      message: takeText(record, "status_message") ?? "",
    },
    events: takeEvents(record),
  };
  takeAttributes(record, source, attributes);
  if (kind !== undefined && !attributes.has("openinference.span.kind")) {
    attributes.set("openinference.span.kind", kind);
  }
  const rest = record.rest();
  for (const [name, value] of Object.entries(rest))
    attributes.set(`${format}.${name}`, toPlain(value));
  const scopeSpans = [{ spans: [{ ...span, attributes: toKeyValues(attributes) }] }];
  const service = [{ key: "service.name", value: { stringValue: format } }];
  return {
    writes: [
      {
        kind: "spans",
        eventIds: [deriveEventId(traceId, spanId)],
        spans: { resource: { attributes: service }, scopeSpans },
      },
    ],
    records: 1,
    mapped: record.taken(),
    raw: Object.keys(rest),
  };
}

const statusCodes: Readonly<Record<string, number>> = { OK: 1, ERROR: 2 };

function takeHex(record: SourceRecord, name: string, digits: number): string {
  const context = record.look("context");
  const inner = isJsonObject(context) ? context[name] : undefined;
  const text = inner ?? takeText(record, `context.${name}`) ?? takeText(record, name);
  if (typeof text !== "string") throw new BadRecord(`context.${name} is required`);
  if (text.length !== digits || !/^[0-9a-f]+$/i.test(text) || /^0+$/.test(text)) {
    throw new BadRecord(`context.${name} must be ${digits} hexadecimal digits, not all zero`);
  }
  return text.toLowerCase();
}

function toNanos(timeMs: number): string {
  return String(BigInt(Math.round(timeMs * 1_000)) * 1_000n);
}

function takeEvents(record: SourceRecord): JsonValue[] {
  const events = unpack(record.take("events"));
  return (isJsonArray(events) ? events : []).map((item) => {
    if (!isJsonObject(item)) return { name: "event", attributes: keyValues({ event: item }) };
    const event = readRecord(item);
    const given = event.take("attributes");
    const timeMs = takeTime(event, "timestamp");
    const name = takeText(event, "name") ?? "event";
    const attributes = { ...(isJsonObject(given) ? given : {}), ...event.rest() };
    const time = timeMs === undefined ? {} : { timeUnixNano: toNanos(timeMs) };
    return { name, ...time, attributes: keyValues(attributes) };
  });
}

function keyValues(source: JsonObject): JsonValue[] {
  return toKeyValues(new Map(Object.entries(source).map(([key, value]) => [key, toPlain(value)])));
}

/** Collects attributes of both forms under their OpenInference names. */
function takeAttributes(
  record: SourceRecord,
  source: JsonObject,
  attributes: Map<string, JsonValue>,
): void {
  const inner = unpack(record.look("attributes"));
  if (isJsonObject(inner)) {
    record.take("attributes");
    for (const [key, value] of Object.entries(inner)) flatten(key, value, attributes);
  }
  for (const [name, value] of Object.entries(source)) {
    if (!name.startsWith(attributePrefix)) continue;
    record.take(name);
    flatten(name.slice(attributePrefix.length), value, attributes);
  }
}

// {"message": {"role": "user"}} and [{"message.role": "user"}] become the keys of OpenInference.
function flatten(key: string, value: JsonValue, into: Map<string, JsonValue>): void {
  if (value === null) return;
  const isText = jsonText.test(key);
  if (isText && typeof value === "object") into.set(key, JSON.stringify(value));
  else if (isJsonObject(value)) {
    for (const [name, inner] of Object.entries(value)) flatten(`${key}.${name}`, inner, into);
  } else if (isJsonArray(value) && value.some(isJsonObject)) {
    value.forEach((item, index) => {
      flatten(`${key}.${index}`, item, into);
    });
  } else into.set(key, value);
}

/** Returns scalars and lists of them as they are, anything deeper as JSON text. */
function toPlain(value: JsonValue): JsonValue {
  const isDeep =
    isJsonObject(value) || (isJsonArray(value) && value.some((item) => typeof item === "object"));
  return isDeep ? JSON.stringify(value) : value;
}

function toKeyValues(attributes: ReadonlyMap<string, JsonValue>): JsonValue[] {
  return Array.from(attributes, ([key, value]) => ({ key, value: toAny(value) }));
}

function toAny(value: JsonValue): JsonValue {
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") {
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  }
  if (typeof value === "string") return { stringValue: value };
  if (isJsonArray(value)) return { arrayValue: { values: value.map(toAny) } };
  return { stringValue: JSON.stringify(value) };
}
