// Converts OTLP messages to spans: ids to hex, nanoseconds to milliseconds, typed attribute values
// to JSON. A span that cannot be stored is left out, with its reason.
// Source: OpenTelemetry protocol, trace.proto; docs/decisions.md, 37.1.

import { quoteText } from "../../base/quote-text.ts";
import type { ExportTraceServiceRequest } from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import type {
  InstrumentationScope,
  KeyValue,
} from "../../../gen/opentelemetry/proto/common/v1/common_pb.js";
import type { Resource } from "../../../gen/opentelemetry/proto/resource/v1/resource_pb.js";
import {
  type Span as OtlpSpan,
  type Span_Event as OtlpEvent,
  type Span_Link as OtlpLink,
  Span_SpanKind,
  Status_StatusCode,
} from "../../../gen/opentelemetry/proto/trace/v1/trace_pb.js";
import { listItemsMax, sharedAttributesBytesMax } from "../../base/limits.ts";
import type { Steps } from "../../base/paced.ts";
import type { Attributes, Rejected, Span, SpanEvent, SpanLink } from "../../tracing/spans/span.ts";
import {
  AttributeError,
  createValueCount,
  readAttributes,
  takeLength,
  type ValueCount,
} from "./attributes.ts";

export const traceIdBytes = 16;
export const spanIdBytes = 8;

/**
 * Maximum time, in the year 2255: microseconds are stored as integers that a double holds exactly.
 */
const timeMaxNs = BigInt(Number.MAX_SAFE_INTEGER) * 1000n;

/**
 * Returns the spans of a request in order, and the reasons for the spans left out. Attributes of a
 * resource or scope are read once and checked before the spans.
 */
export function* readSpans(request: ExportTraceServiceRequest): Steps<{
  readonly spans: readonly Span[];
  readonly rejected: readonly Rejected[];
}> {
  const spans: Span[] = [];
  const rejected: Rejected[] = [];
  for (const { resource, scopeSpans } of request.resourceSpans) {
    const ofResource = readResource(resource);
    for (const { scope, spans: otlpSpans } of scopeSpans) {
      const shared = readShared(ofResource, scope);
      for (const span of otlpSpans) {
        const read = "reason" in shared ? shared : readSpan(span, shared);
        if ("reason" in read) {
          rejected.push({ reason: `span ${quoteText(span.name)}: ${read.reason}` });
        } else spans.push(read);
        yield;
      }
    }
  }
  return { spans, rejected };
}

/** Attributes that the spans of one resource share, and the bytes left for those of its scopes. */
type OfResource = { readonly resource: Attributes; readonly left: number };

/** Resource and scope that the spans of one scope share. */
type Shared = Pick<Span, "resource" | "scope">;

const tooManyShared =
  `the attributes of its resource and scope take more than ${sharedAttributesBytesMax} bytes, ` +
  "which each span would be stored with";

function readResource(resource: Resource | undefined): OfResource | Rejected {
  const pairs = resource?.attributes ?? [];
  const left = takeLength(pairs, sharedAttributesBytesMax);
  if (left < 0) return { reason: tooManyShared };
  const attributes = readOrReject(pairs, "resource");
  return "reason" in attributes ? attributes : { resource: attributes, left };
}

function readShared(
  ofResource: OfResource | Rejected,
  scope: InstrumentationScope | undefined,
): Shared | Rejected {
  if ("reason" in ofResource) return ofResource;
  const { name = "", version = "", attributes: pairs = [] } = scope ?? {};
  const left = takeLength(pairs, ofResource.left - name.length - version.length);
  if (left < 0) return { reason: tooManyShared };
  const attributes = readOrReject(pairs, "scope");
  if ("reason" in attributes) return attributes;
  return { resource: ofResource.resource, scope: { name, version, attributes } };
}

function readOrReject(pairs: readonly KeyValue[], of: string): Attributes | Rejected {
  try {
    return readAttributes(pairs, createValueCount());
  } catch (error) {
    if (error instanceof AttributeError) return { reason: `${of} ${error.message}` };
    throw error;
  }
}

function readSpan(span: OtlpSpan, shared: Shared): Span | Rejected {
  const reason = faultOf(span);
  if (reason !== undefined) return { reason };
  const count = createValueCount();
  try {
    return {
      traceId: toHex(span.traceId),
      spanId: toHex(span.spanId),
      parentSpanId: isId(span.parentSpanId, spanIdBytes) ? toHex(span.parentSpanId) : undefined,
      traceState: span.traceState,
      name: span.name,
      kind: kindNames[span.kind],
      startMs: toMs(span.startTimeUnixNano),
      endMs: span.endTimeUnixNano === 0n ? undefined : toMs(span.endTimeUnixNano),
      status: statusOf(span.status?.code),
      statusMessage: span.status?.message ?? "",
      attributes: readAttributes(span.attributes, count),
      events: readEvents(span.events, count),
      links: readLinks(span.links, count),
      dropped: {
        attributes: span.droppedAttributesCount,
        events: span.droppedEventsCount,
        links: span.droppedLinksCount,
      },
      scope: shared.scope,
      resource: shared.resource,
    };
  } catch (error) {
    if (error instanceof AttributeError) return { reason: error.message };
    throw error;
  }
}

function readEvents(events: readonly OtlpEvent[], count: ValueCount): readonly SpanEvent[] {
  const read: SpanEvent[] = [];
  for (const { name, timeUnixNano, attributes } of events) {
    const timeMs = timeUnixNano === 0n ? undefined : toMs(timeUnixNano);
    read.push({ name, timeMs, attributes: readAttributes(attributes, count) });
  }
  return read;
}

function readLinks(links: readonly OtlpLink[], count: ValueCount): readonly SpanLink[] {
  const read: SpanLink[] = [];
  for (const { traceId, spanId, traceState, attributes } of links) {
    const ids = { traceId: toHex(traceId), spanId: toHex(spanId) };
    read.push({ ...ids, traceState, attributes: readAttributes(attributes, count) });
  }
  return read;
}

function faultOf(span: OtlpSpan): string | undefined {
  if (!isId(span.traceId, traceIdBytes)) return "trace id is not 16 bytes other than zero";
  if (!isId(span.spanId, spanIdBytes)) return "span id is not 8 bytes other than zero";
  if (span.startTimeUnixNano === 0n) return "start time is missing";
  if (span.startTimeUnixNano > timeMaxNs) return "start time is past the year 2255";
  if (span.endTimeUnixNano > timeMaxNs) return "end time is past the year 2255";
  return (
    lengthFaultOf("attributes", span.attributes) ??
    lengthFaultOf("events", span.events) ??
    lengthFaultOf("links", span.links)
  );
}

export function lengthFaultOf(name: string, list: readonly unknown[]): string | undefined {
  return list.length > listItemsMax ? `${name}: has more than ${listItemsMax} items` : undefined;
}

export function isId(bytes: Uint8Array, length: number): boolean {
  return bytes.length === length && bytes.some(isNotZero);
}

function isNotZero(byte: number): boolean {
  return byte !== 0;
}

const kindNames: Readonly<Partial<Record<Span_SpanKind, string>>> = {
  [Span_SpanKind.SERVER]: "server",
  [Span_SpanKind.CLIENT]: "client",
  [Span_SpanKind.PRODUCER]: "producer",
  [Span_SpanKind.CONSUMER]: "consumer",
};

function statusOf(code: Status_StatusCode | undefined): Span["status"] {
  if (code === Status_StatusCode.ERROR) return "error";
  return code === Status_StatusCode.OK ? "ok" : "unset";
}

export function toMs(nanoseconds: bigint): number {
  return Number(nanoseconds / 1000n) / 1000;
}

export function toHex(bytes: Uint8Array): string {
  const isBuffer = bytes instanceof Buffer;
  const buffer = isBuffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.toString("hex");
}
