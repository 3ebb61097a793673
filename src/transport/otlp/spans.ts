// OTLP messages to spans: ids to hex, nanoseconds to milliseconds, typed attribute values to JSON.
// A span that cannot be stored is left out with its reason. Called by handlers.ts.
// Source: OpenTelemetry protocol, trace.proto; docs/decisions.md, 37.

import type { ExportTraceServiceRequest } from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import type { InstrumentationScope } from "../../../gen/opentelemetry/proto/common/v1/common_pb.js";
import {
  Span_SpanKind,
  Status_StatusCode,
} from "../../../gen/opentelemetry/proto/trace/v1/trace_pb.js";
import type { Span as OtlpSpan } from "../../../gen/opentelemetry/proto/trace/v1/trace_pb.js";
import {
  quoteName,
  type Attributes,
  type RejectedSpan,
  type Span,
  type SpanScope,
} from "../../tracing/spans/span.ts";
import { AttributeError, readAttributes } from "./attributes.ts";

const traceIdBytes = 16;
const spanIdBytes = 8;

/** Microseconds are stored as integers that a double holds exactly: until the year 2255. */
const timeMaxNs = BigInt(Number.MAX_SAFE_INTEGER) * 1000n;

const noAttributes: Attributes = new Map();

/** Returns the spans of a request in order, and why the others are left out. */
export function readSpans(request: ExportTraceServiceRequest): {
  readonly spans: readonly Span[];
  readonly rejected: readonly RejectedSpan[];
} {
  const spans: Span[] = [];
  const rejected: RejectedSpan[] = [];
  for (const { resource, scopeSpans } of request.resourceSpans) {
    const resourceAttributes = lenient(() => readAttributes(resource?.attributes ?? []));
    for (const { scope, spans: otlpSpans } of scopeSpans) {
      const spanScope = readScope(scope);
      for (const span of otlpSpans) {
        const read = readSpan(span, spanScope, resourceAttributes);
        if ("reason" in read) {
          rejected.push({ reason: `span ${quoteName(span.name)}: ${read.reason}` });
        } else spans.push(read);
      }
    }
  }
  return { spans, rejected };
}

function readSpan(
  span: OtlpSpan,
  scope: SpanScope,
  resource: Attributes | AttributeError,
): Span | RejectedSpan {
  const reason = faultOf(span);
  if (reason !== undefined) return { reason };
  if (resource instanceof AttributeError) return { reason: `resource ${resource.message}` };
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
      ...statusOf(span),
      attributes: readAttributes(span.attributes),
      events: span.events.map((event) => ({
        name: event.name,
        timeMs: event.timeUnixNano === 0n ? undefined : toMs(event.timeUnixNano),
        attributes: readAttributes(event.attributes),
      })),
      links: span.links.map((link) => ({
        traceId: toHex(link.traceId),
        spanId: toHex(link.spanId),
        traceState: link.traceState,
        attributes: readAttributes(link.attributes),
      })),
      dropped: {
        attributes: span.droppedAttributesCount,
        events: span.droppedEventsCount,
        links: span.droppedLinksCount,
      },
      scope,
      resource,
    };
  } catch (error) {
    if (error instanceof AttributeError) return { reason: error.message };
    throw error;
  }
}

function faultOf(span: OtlpSpan): string | undefined {
  if (!isId(span.traceId, traceIdBytes)) return "trace id is not 16 bytes other than zero";
  if (!isId(span.spanId, spanIdBytes)) return "span id is not 8 bytes other than zero";
  if (span.startTimeUnixNano === 0n) return "start time is missing";
  if (span.startTimeUnixNano > timeMaxNs) return "start time is past the year 2255";
  if (span.endTimeUnixNano > timeMaxNs) return "end time is past the year 2255";
  return undefined;
}

function isId(bytes: Uint8Array, length: number): boolean {
  return bytes.length === length && bytes.some((byte) => byte !== 0);
}

const kindNames: Readonly<Partial<Record<Span_SpanKind, string>>> = {
  [Span_SpanKind.SERVER]: "server",
  [Span_SpanKind.CLIENT]: "client",
  [Span_SpanKind.PRODUCER]: "producer",
  [Span_SpanKind.CONSUMER]: "consumer",
};

function statusOf({ status }: OtlpSpan): Pick<Span, "status" | "statusMessage"> {
  const statusMessage = status?.message ?? "";
  if (status?.code === Status_StatusCode.ERROR) return { status: "error", statusMessage };
  return { status: status?.code === Status_StatusCode.OK ? "ok" : "unset", statusMessage };
}

function readScope(scope: InstrumentationScope | undefined): SpanScope {
  if (scope === undefined) return { name: "", version: "", attributes: noAttributes };
  const attributes = lenient(() => readAttributes(scope.attributes));
  return {
    name: scope.name,
    version: scope.version,
    attributes: attributes instanceof AttributeError ? noAttributes : attributes,
  };
}

function lenient(read: () => Attributes): Attributes | AttributeError {
  try {
    return read();
  } catch (error) {
    if (error instanceof AttributeError) return error;
    throw error;
  }
}

function toMs(nanoseconds: bigint): number {
  return Number(nanoseconds / 1000n) / 1000;
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}
