// Reads the traces of OTLP JSON to messages by hand, since Protobuf's JSON reader would refuse its
// hex ids and its senders' liberties. Source: OpenTelemetry protocol, "JSON Protobuf Encoding".

import type { ExportTraceServiceRequest } from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import {
  type InstrumentationScope,
  InstrumentationScopeSchema,
} from "../../../gen/opentelemetry/proto/common/v1/common_pb.js";
import {
  type Resource,
  ResourceSchema,
} from "../../../gen/opentelemetry/proto/resource/v1/resource_pb.js";
import {
  Span_SpanKindSchema,
  SpanSchema,
  Status_StatusCodeSchema,
  type ResourceSpans,
  type ScopeSpans,
  type Span,
  type Span_Event,
  type Span_Link,
  type Status,
} from "../../../gen/opentelemetry/proto/trace/v1/trace_pb.js";
import type { Reservation } from "../../base/byte-budget.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { messageBytesOf } from "../decode/json-message.ts";
import { reserveDecoded } from "../../base/decode/tally.ts";
import { type Rejected } from "../../tracing/spans/span.ts";
import {
  asObject,
  pick,
  readBytes,
  readEnum,
  readKeyValues,
  readList,
  readText,
  readUnsigned,
} from "./json-fields.ts";
import { type ItemsOptions, readItems, type Reading, readRequest } from "./json-request.ts";

/** Reads an export request; fails as `readRequest` does. */
export async function readJsonTraces(
  root: unknown,
  memory: Reservation,
): Promise<{
  readonly request: ExportTraceServiceRequest;
  readonly rejected: readonly Rejected[];
}> {
  const list = ["resourceSpans", "resource_spans"] as const;
  const { parts, rejected } = await readRequest(root, memory, list, readResourceSpans);
  const request: ExportTraceServiceRequest = {
    $typeName: "opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest",
    resourceSpans: parts,
  };
  return { request, rejected };
}

async function readResourceSpans(source: JsonObject, reading: Reading): Promise<ResourceSpans> {
  const resource = pick(source, "resource", "resource");
  reserveDecoded(messageBytesOf(ResourceSchema, resource), reading.memory);
  const scopeSpans: ScopeSpans[] = [];
  for (const one of readList(pick(source, "scopeSpans", "scope_spans"), "scopeSpans")) {
    scopeSpans.push(await readScopeSpans(one, reading));
  }
  return {
    $typeName: "opentelemetry.proto.trace.v1.ResourceSpans",
    resource: resource === undefined ? undefined : readResource(asObject(resource, "resource")),
    scopeSpans,
    schemaUrl: readText(pick(source, "schemaUrl", "schema_url"), "schemaUrl"),
  };
}

function readResource(source: JsonObject): Resource {
  return {
    $typeName: "opentelemetry.proto.resource.v1.Resource",
    attributes: readKeyValues(source["attributes"] ?? undefined),
    droppedAttributesCount: readCount(source),
    entityRefs: [],
  };
}

async function readScopeSpans(item: JsonValue, reading: Reading): Promise<ScopeSpans> {
  const source = asObject(item, "scopeSpans");
  const scope = pick(source, "scope", "scope");
  reserveDecoded(messageBytesOf(InstrumentationScopeSchema, scope), reading.memory);
  const spans = await readItems(source, reading, spanItems);
  return {
    $typeName: "opentelemetry.proto.trace.v1.ScopeSpans",
    scope: scope === undefined ? undefined : readScope(asObject(scope, "scope")),
    spans,
    schemaUrl: readText(pick(source, "schemaUrl", "schema_url"), "schemaUrl"),
  };
}

const spanItems: ItemsOptions<Span> = {
  list: ["spans", "spans"],
  what: "span",
  name: ["name", "name"],
  schema: SpanSchema,
  read: readSpan,
};

function readScope(source: JsonObject): InstrumentationScope {
  return {
    $typeName: "opentelemetry.proto.common.v1.InstrumentationScope",
    name: readText(source["name"] ?? undefined, "name"),
    version: readText(source["version"] ?? undefined, "version"),
    attributes: readKeyValues(source["attributes"] ?? undefined),
    droppedAttributesCount: readCount(source),
  };
}

function readSpan(source: JsonObject): Span {
  const status = pick(source, "status", "status");
  const start = pick(source, "startTimeUnixNano", "start_time_unix_nano");
  const end = pick(source, "endTimeUnixNano", "end_time_unix_nano");
  const traceState = pick(source, "traceState", "trace_state");
  const parent = pick(source, "parentSpanId", "parent_span_id");
  const events = readList(pick(source, "events", "events"), "events");
  const links = readList(pick(source, "links", "links"), "links");
  return {
    $typeName: "opentelemetry.proto.trace.v1.Span",
    traceId: readBytes(pick(source, "traceId", "trace_id"), "traceId"),
    spanId: readBytes(pick(source, "spanId", "span_id"), "spanId"),
    traceState: readText(traceState, "traceState"),
    parentSpanId: readBytes(parent, "parentSpanId"),
    flags: Number(readUnsigned(source["flags"] ?? undefined, "flags")),
    name: readText(source["name"] ?? undefined, "name"),
    kind: readEnum(source["kind"] ?? undefined, Span_SpanKindSchema, "kind"),
    startTimeUnixNano: readUnsigned(start, "startTimeUnixNano"),
    endTimeUnixNano: readUnsigned(end, "endTimeUnixNano"),
    attributes: readKeyValues(source["attributes"] ?? undefined),
    droppedAttributesCount: readCount(source),
    events: events.map(readEvent),
    droppedEventsCount: count(pick(source, "droppedEventsCount", "dropped_events_count")),
    links: links.map(readLink),
    droppedLinksCount: count(pick(source, "droppedLinksCount", "dropped_links_count")),
    status: status === undefined ? undefined : readStatus(asObject(status, "status")),
  };
}

function readEvent(item: JsonValue): Span_Event {
  const source = asObject(item, "events");
  const time = pick(source, "timeUnixNano", "time_unix_nano");
  return {
    $typeName: "opentelemetry.proto.trace.v1.Span.Event",
    timeUnixNano: readUnsigned(time, "timeUnixNano"),
    name: readText(source["name"] ?? undefined, "name"),
    attributes: readKeyValues(source["attributes"] ?? undefined),
    droppedAttributesCount: readCount(source),
  };
}

function readLink(item: JsonValue): Span_Link {
  const source = asObject(item, "links");
  return {
    $typeName: "opentelemetry.proto.trace.v1.Span.Link",
    traceId: readBytes(pick(source, "traceId", "trace_id"), "traceId"),
    spanId: readBytes(pick(source, "spanId", "span_id"), "spanId"),
    traceState: readText(pick(source, "traceState", "trace_state"), "traceState"),
    attributes: readKeyValues(source["attributes"] ?? undefined),
    droppedAttributesCount: readCount(source),
    flags: Number(readUnsigned(source["flags"] ?? undefined, "flags")),
  };
}

function readStatus(source: JsonObject): Status {
  return {
    $typeName: "opentelemetry.proto.trace.v1.Status",
    message: readText(source["message"] ?? undefined, "message"),
    code: readEnum(source["code"] ?? undefined, Status_StatusCodeSchema, "code"),
  };
}

function readCount(source: JsonObject): number {
  return count(pick(source, "droppedAttributesCount", "dropped_attributes_count"));
}

function count(value: JsonValue | undefined): number {
  return Number(readUnsigned(value, "count"));
}
