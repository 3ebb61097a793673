// A finished OpenTelemetry span as plain values, free of any wire format. Read from OTLP by
// transport/otlp/spans.ts and turned into an event by map-span.ts.
// Source: OpenTelemetry protocol, trace.proto.

import type { JsonValue } from "../../base/json.ts";

/** Attribute values by key, with the types the sender gave them. */
export type Attributes = ReadonlyMap<string, JsonValue>;

export type SpanEvent = {
  readonly name: string;
  /** Unix milliseconds with fractions; undefined when the sender gave none. */
  readonly timeMs: number | undefined;
  readonly attributes: Attributes;
};

export type SpanLink = {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState: string;
  readonly attributes: Attributes;
};

/** Name, version and attributes of the library that made a span. */
export type SpanScope = {
  readonly name: string;
  readonly version: string;
  readonly attributes: Attributes;
};

/**
 * One span. Ids are lower-case hex: 32 digits for the trace, 16 for a span. Times are Unix
 * milliseconds with fractions to the microsecond; `endMs` is undefined when the sender gave none.
 */
export type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly traceState: string;
  readonly name: string;
  /** `server`, `client`, `producer` or `consumer`; undefined for internal and unspecified. */
  readonly kind: string | undefined;
  readonly startMs: number;
  readonly endMs: number | undefined;
  readonly status: "unset" | "ok" | "error";
  readonly statusMessage: string;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  readonly links: readonly SpanLink[];
  /** How many of each the sender left out. */
  readonly dropped: {
    readonly attributes: number;
    readonly events: number;
    readonly links: number;
  };
  readonly scope: SpanScope;
  readonly resource: Attributes;
};

/** A span that cannot be stored, and why; the reason names the span. */
export type RejectedSpan = { readonly reason: string };

/** Shortens a span's name so that a reason stays readable, and quotes it. */
export function quoteName(name: string): string {
  const nameLengthMax = 80;
  return JSON.stringify(name.length > nameLengthMax ? `${name.slice(0, nameLengthMax)}…` : name);
}
