// Limits of spans in addition to those of every event (events/event-limits.ts), checked before
// mapping, because mapping itself takes memory and time. Source: docs/decisions.md, 36.3 and 37.2.

import { isJsonArray, type JsonValue } from "../../base/json.ts";
import { copiedBytesMax, eventValuesMax, keyLengthMax, nameLengthMax } from "../../base/limits.ts";
import type { Steps } from "../../base/paced.ts";
import { lengthFaultOf } from "../events/event-limits.ts";
import { applicationAttributes } from "./map-span.ts";
import type { Attributes, Span, SpanLink, SpanScope } from "./span.ts";

/** Returns the reason why a span cannot become an event; undefined if it can. */
export function spanFaultOf(span: Span): string | undefined {
  return (
    nameFaultOf("name", span.name) ??
    nameFaultOf("trace state", span.traceState) ??
    linkFaultOf(span.links) ??
    keyFaultOf(span.attributes)
  );
}

function linkFaultOf(links: readonly SpanLink[]): string | undefined {
  for (const { traceState } of links) {
    const fault = nameFaultOf("trace state of a link", traceState);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Returns a fault if a text is too long for a name. */
export function nameFaultOf(label: string, text: string | undefined): string | undefined {
  const fault = lengthFaultOf(text, nameLengthMax);
  return fault === undefined ? undefined : `${label} ${fault}`;
}

// A dotted key may become an object for each of its parts.
function keyFaultOf(attributes: Attributes): string | undefined {
  let partsMax = 0;
  for (const key of attributes.keys()) {
    const fault = lengthFaultOf(key, keyLengthMax);
    if (fault !== undefined) return `key of an attribute ${fault}`;
    partsMax += key.length + 1;
  }
  if (partsMax <= eventValuesMax || partsOf(attributes.keys()) <= eventValuesMax) return undefined;
  return `keys of attributes have more than ${eventValuesMax} parts`;
}

function partsOf(keys: Iterable<string>): number {
  let parts = 0;
  for (const key of keys) {
    for (let dot = 0; dot !== -1; dot = key.indexOf(".", dot + 1)) parts += 1;
  }
  return parts;
}

/** Bytes of memory of a value of an event, in addition to its text. */
export const valueBytes = 64;

/** Bytes stored with spans in addition to their own. */
export type Copies = {
  /** Total of the accepted spans. */
  readonly bytes: number;
  /** Reasons for rejecting the other spans. */
  readonly rejected: ReadonlyMap<Span, string>;
};

/**
 * Counts the bytes that resource, scope and source add to the stored spans, and rejects the spans
 * that exceed the limit of a request. Each resource is measured once.
 */
export function* limitCopies(spans: readonly Span[], source: string): Steps<Copies> {
  const sizes = new Map<Attributes | SpanScope, number>();
  let own = 0;
  for (const span of spans) {
    own += lengthOfSpan(span);
    yield;
  }
  const { least, most } = copiedBytesMax;
  const bytesMax = Math.min(most, Math.max(least, 10 * own));
  const rejected = new Map<Span, string>();
  let bytes = 0;
  for (const span of spans) {
    const copied = source.length + sizeOf(sizes, span.resource) + sizeOf(sizes, span.scope);
    if (bytes + copied > bytesMax) rejected.set(span, reasonOf(copied, bytesMax));
    else bytes += copied;
    yield;
  }
  return { bytes, rejected };
}

function reasonOf(copied: number, bytesMax: number): string {
  return (
    `the attributes of its resource and scope take ${copied} bytes, for all spans of the request ` +
    `more than ${bytesMax}; send fewer spans at once, or smaller attributes`
  );
}

function sizeOf(
  sizes: Map<Attributes | SpanScope, number>,
  shared: Attributes | SpanScope,
): number {
  let size = sizes.get(shared);
  if (size === undefined) {
    size = "name" in shared ? lengthOfScope(shared) : lengthOfAll(applicationAttributes(shared));
    sizes.set(shared, size);
  }
  return size;
}

function lengthOfScope({ name, version, attributes }: SpanScope): number {
  return name.length + version.length + lengthOfAll(attributes);
}

function lengthOfAll(attributes: Attributes): number {
  return JSON.stringify([...attributes]).length;
}

/** Returns the approximate bytes of a span's own content. */
function lengthOfSpan({ name, attributes, events }: Span): number {
  let length = name.length + lengthOfPairs(attributes);
  for (const event of events) length += lengthOfPairs(event.attributes);
  return length;
}

// `keys` and `get`, because a pair of each entry would be an object.
function lengthOfPairs(attributes: Attributes): number {
  let length = 0;
  for (const key of attributes.keys()) length += key.length + lengthOfValue(attributes.get(key));
  return length;
}

function lengthOfValue(value: JsonValue | undefined): number {
  if (typeof value === "string" || isJsonArray(value)) return value.length;
  return 8;
}
