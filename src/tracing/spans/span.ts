// A finished OpenTelemetry span as plain values, independent of the wire format.
// Source: OpenTelemetry protocol, trace.proto.

import type { JsonValue } from "../../base/json.ts";

/** Attribute values by key, with the sender's types. */
export type Attributes = ReadonlyMap<string, JsonValue>;

export type SpanEvent = {
  readonly name: string;
  /** Unix milliseconds with fractions; undefined if the sender gave none. */
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
 * milliseconds with fractions to the microsecond; `endMs` is undefined if the sender gave none.
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
  /** Numbers of attributes, events and links that the sender left out. */
  readonly dropped: {
    readonly attributes: number;
    readonly events: number;
    readonly links: number;
  };
  readonly scope: SpanScope;
  readonly resource: Attributes;
};

/** Reason why a span or a log record is not stored; it names the span or the record. */
export type Rejected = { readonly reason: string };

/** A log record of a span, with the keys of its body among its attributes. */
export type SpanLog = {
  readonly traceId: string;
  readonly spanId: string;
  readonly event: SpanEvent;
};
