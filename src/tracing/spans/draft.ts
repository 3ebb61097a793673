// An event in the making: the buckets being filled, and the span attributes nobody has read yet.
// Every convention takes what it knows; what is left at the end goes to metadata under its own
// key, so that nothing a span carried is lost. Used by map-span.ts and conventions/.

import { isJsonObject, type JsonValue, setOwn, type MutableObject } from "../../base/json.ts";
import type { Bucket, EventType } from "../events/event.ts";
import { isIndex, isSameJson, itemsOf, parseJsonText, unflatten } from "./values.ts";
import type { Span, SpanEvent } from "./span.ts";

export type Draft = {
  readonly span: Span;
  readonly eventType: EventType;
  /** Attributes not read so far. */
  readonly left: Map<string, JsonValue>;
  /** First segments of the attributes' keys: what spares looking through all for a prefix. */
  readonly families: ReadonlySet<string>;
  /** Span events not read so far. */
  events: readonly SpanEvent[];
  readonly buckets: { readonly [B in Bucket]: MutableObject };
};

/** Starts the draft of a span's event, with nothing read yet. */
export function createDraft(span: Span, eventType: EventType): Draft {
  return {
    span,
    eventType,
    left: new Map(span.attributes),
    families: familiesOf(span),
    events: span.events,
    buckets: {
      config: {},
      inputs: {},
      outputs: {},
      metadata: {},
      metrics: {},
      feedback: {},
      user_properties: {},
    },
  };
}

// The operation details of GenAI join the attributes later, from a span event.
function familiesOf(span: Span): Set<string> {
  const families = new Set<string>();
  for (const key of span.attributes.keys()) families.add(familyOf(key));
  for (const event of span.events)
    for (const key of event.attributes.keys()) families.add(familyOf(key));
  return families;
}

function familyOf(key: string): string {
  const dot = key.indexOf(".");
  return dot === -1 ? key : key.slice(0, dot);
}

/** Takes one attribute: returns its value and marks it as read. Null counts as absent. */
export function take(draft: Draft, key: string): JsonValue | undefined {
  const value = draft.left.get(key);
  if (value === undefined || value === null) return undefined;
  draft.left.delete(key);
  return value;
}

/** Takes every attribute under `prefix`, which ends in a dot, keyed by what follows it. */
export function takePrefix(draft: Draft, prefix: string): Map<string, JsonValue> {
  const taken = new Map<string, JsonValue>();
  if (!draft.families.has(familyOf(prefix))) return taken;
  for (const [key, value] of draft.left) {
    if (key.length > prefix.length && key.startsWith(prefix)) {
      taken.set(key.slice(prefix.length), value);
      draft.left.delete(key);
    }
  }
  return taken;
}

/**
 * Takes the items numbered under `prefix`, which ends in a dot: `0`, `1.name` and so on, in order,
 * gaps closed. What is not numbered there stays unread.
 */
export function takeItems(draft: Draft, prefix: string): readonly JsonValue[] {
  const tree = unflatten(takePrefix(draft, prefix));
  for (const key of Object.keys(tree)) {
    if (!isIndex(key)) draft.left.set(prefix + key, tree[key] ?? null);
  }
  return itemsOf(tree);
}

/** Tells whether some unread attribute starts with `prefix`, which holds a dot. */
export function hasPrefix(draft: Draft, prefix: string): boolean {
  if (!draft.families.has(familyOf(prefix))) return false;
  for (const key of draft.left.keys()) {
    if (key.startsWith(prefix)) return true;
  }
  return false;
}

/** Sets a key of a bucket unless it is set; tells whether the bucket now says `value` there. */
export function place(draft: Draft, bucket: Bucket, key: string, value: JsonValue): boolean {
  const target = draft.buckets[bucket];
  if (Object.hasOwn(target, key)) return isSameJson(target[key], value);
  setOwn(target, key, value);
  return true;
}

/**
 * Places what was read from several attributes; where the bucket says otherwise under `key`, keeps
 * it in metadata under `name`.
 */
export function placeOrKeep(
  draft: Draft,
  bucket: Bucket,
  key: string,
  value: JsonValue,
  name: string,
): void {
  if (!place(draft, bucket, key, value)) keep(draft, name, value);
}

/** Moves an attribute, read by `read`, to a key of a bucket; where it cannot, it stays unread. */
export function move(
  draft: Draft,
  attribute: string,
  bucket: Bucket,
  key: string,
  read: (value: JsonValue) => JsonValue = parseJsonText,
): void {
  const value = draft.left.get(attribute);
  if (value === undefined || value === null) return;
  if (place(draft, bucket, key, read(value))) draft.left.delete(attribute);
}

/** Sets `key` of `metadata`; where another value stands there, keeps this one beside it. */
export function keep(draft: Draft, key: string, value: JsonValue): void {
  if (!place(draft, "metadata", key, value)) place(draft, "metadata", `attribute.${key}`, value);
}

// A step's whole input or output: an object gives the bucket its keys; anything else, and an object
// whose keys are already taken, stands under `otherwise`.
function placePayload(
  draft: Draft,
  bucket: "inputs" | "outputs",
  value: JsonValue,
  otherwise: string,
): boolean {
  const target = draft.buckets[bucket];
  if (isJsonObject(value) && Object.keys(value).every((key) => !Object.hasOwn(target, key))) {
    for (const key of Object.keys(value)) setOwn(target, key, value[key] ?? null);
    return true;
  }
  return place(draft, bucket, otherwise, value);
}

/**
 * Moves an attribute that holds a step's whole input or output, read by `read`: the keys of an
 * object to the bucket, anything else to `otherwise` there; where it cannot, it stays unread.
 */
export function movePayload(
  draft: Draft,
  key: string,
  bucket: "inputs" | "outputs",
  otherwise: string,
  read: (value: JsonValue) => JsonValue = parseJsonText,
): void {
  const value = draft.left.get(key);
  if (value === undefined || value === null) return;
  if (placePayload(draft, bucket, read(value), otherwise)) draft.left.delete(key);
}
