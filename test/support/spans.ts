// Spans for tests: a builder with defaults, and the events made from OTLP bodies.

import type { JsonObject, JsonValue } from "../../src/base/json.ts";
import type { Steps } from "../../src/base/paced.ts";
import type { EventWrite } from "../../src/tracing/events/event.ts";
import { toWrites, type SpanWrites } from "../../src/tracing/spans/record-spans.ts";
import type { Span } from "../../src/tracing/spans/span.ts";
import { createByteBudget } from "../../src/base/byte-budget.ts";
import type { ExportTraceServiceRequest } from "../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { parseExportRequest } from "../../src/transport/otlp/http.ts";
import { type ReadRequest, traces } from "../../src/transport/otlp/signals.ts";
import { readSpans } from "../../src/transport/otlp/spans.ts";

export type SpanParts = Partial<Omit<Span, "attributes" | "events" | "resource">> & {
  readonly attributes?: JsonObject;
  readonly resource?: JsonObject;
  readonly events?: readonly { readonly name: string; readonly attributes: JsonObject }[];
};

/** Returns a root span of one second that is empty except for `parts`. */
export function aSpan(parts: SpanParts = {}): Span {
  const { attributes = {}, resource = {}, events = [], ...rest } = parts;
  return {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    parentSpanId: undefined,
    traceState: "",
    name: "step",
    kind: undefined,
    startMs: 1_760_000_000_000,
    endMs: 1_760_000_001_000,
    status: "unset",
    statusMessage: "",
    links: [],
    dropped: { attributes: 0, events: 0, links: 0 },
    scope: { name: "", version: "", attributes: new Map() },
    ...rest,
    attributes: mapOf(attributes),
    resource: mapOf(resource),
    events: events.map((event) => ({
      name: event.name,
      timeMs: 1_760_000_000_500,
      attributes: mapOf(event.attributes),
    })),
  };
}

function mapOf(values: JsonObject): Map<string, JsonValue> {
  return new Map(Object.entries(values));
}

const memory = { grow: () => undefined, holder: undefined, bytes: () => 0 };

/** Runs work in steps without pauses. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Returns the writes of spans. */
export function writesOfSpans(spans: readonly Span[], source?: string): SpanWrites {
  return runAtOnce(toWrites(spans, { source, memory }));
}

/** Returns the event of one span. */
export function eventOf(parts: SpanParts, source?: string): EventWrite {
  const { writes } = writesOfSpans([aSpan(parts)], source);
  const event = writes.at(-1);
  if (event === undefined) throw new Error("the span was rejected");
  return event;
}

/** Reads an OTLP body with unlimited memory. */
export async function parseTraces(
  contentType: string,
  body: Uint8Array,
): Promise<ReadRequest & { readonly request: ExportTraceServiceRequest }> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const memory = createByteBudget(Infinity).open();
  const { request, rejected } = await parseExportRequest(traces, contentType, bytes, memory);
  return { request: request as ExportTraceServiceRequest, rejected };
}

/** Returns the writes of an OTLP body. */
export async function writesOf(contentType: string, body: Uint8Array): Promise<SpanWrites> {
  const { request, rejected } = await parseTraces(contentType, body);
  const read = runAtOnce(readSpans(request));
  const result = writesOfSpans(read.spans);
  return { ...result, rejected: [...rejected, ...read.rejected, ...result.rejected] };
}
