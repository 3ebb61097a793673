// An event under construction: its buckets, and the unread span attributes. Each convention takes
// the attributes it knows; the rest goes to metadata under its own keys, so nothing is lost.

import { isJsonObject, type JsonValue, setOwn, type MutableObject } from "../../base/json.ts";
import type { Bucket, EventType } from "../events/event.ts";
import { isIndex, isSameJson, itemsOf, parseJsonText, unflatten } from "./values.ts";
import type { Attributes, Span, SpanEvent } from "./span.ts";

export type Draft = {
  readonly span: Span;
  readonly eventType: EventType;
  /** Whether the event takes the span's counts of tokens and money; else they stay in metadata. */
  readonly hasUsage: boolean;
  /** The span's attributes, and those that conventions add from other places. */
  attributes: Attributes;
  /** Unread attributes; none before the tables of fields are applied. */
  readonly left: Map<string, JsonValue>;
  /** Unread span events. */
  events: readonly SpanEvent[];
  readonly buckets: { readonly [B in Bucket]: MutableObject };
};

/** Starts the draft of a span's event, with nothing read yet. */
export function createDraft(
  span: Span,
  eventType: EventType,
  { hasUsage }: Pick<Draft, "hasUsage">,
): Draft {
  return {
    span,
    eventType,
    hasUsage,
    attributes: span.attributes,
    left: new Map(),
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

const embeddingKeys = ["gen_ai.operation.name", "llm.request.type", "langfuse.observation.type"];

/**
 * Returns whether the span is a model's call that embeds texts, which are no chat. LiteLLM's proxy
 * says `aembedding`.
 */
export function isEmbedding(draft: Draft): boolean {
  if (draft.eventType !== "model") return false;
  return embeddingKeys.some((key) => {
    const value = draft.attributes.get(key);
    return typeof value === "string" && /^a?embeddings?$/i.test(value);
  });
}

/** Takes one attribute: returns its value and marks it as read. Null counts as absent. */
export function take(draft: Draft, key: string): JsonValue | undefined {
  const value = draft.left.get(key);
  if (value === undefined || value === null) return undefined;
  draft.left.delete(key);
  return value;
}

/** Takes every attribute under `prefix`, which ends in a dot, keyed by the rest of its key. */
export function takePrefix(draft: Draft, prefix: string): Map<string, JsonValue> {
  const taken = new Map<string, JsonValue>();
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
 * without gaps. Attributes under it without a number stay unread.
 */
export function takeItems(draft: Draft, prefix: string): readonly JsonValue[] {
  if (!hasPrefix(draft, prefix)) return [];
  const tree = unflatten(takePrefix(draft, prefix));
  for (const key of Object.keys(tree)) {
    if (!isIndex(key)) draft.left.set(prefix + key, tree[key] ?? null);
  }
  return itemsOf(tree);
}

/** Returns whether some unread attribute starts with `prefix`. */
export function hasPrefix(draft: Draft, prefix: string): boolean {
  for (const key of draft.left.keys()) {
    if (key.startsWith(prefix)) return true;
  }
  return false;
}

/** Sets a key of a bucket unless it is set; returns whether the key now has `value`. */
export function place(draft: Draft, bucket: Bucket, key: string, value: JsonValue): boolean {
  const target = draft.buckets[bucket];
  if (Object.hasOwn(target, key)) return isSameJson(target[key], value);
  setOwn(target, key, value);
  return true;
}

/**
 * Places a value read from several attributes. If the bucket has another value under `key`, keeps
 * this one in metadata under `name`.
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

/**
 * Moves an attribute, converted by `read`, to a key of a bucket; if the key is taken, the attribute
 * stays unread.
 */
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

/** Sets `key` of `metadata`; if it has another value, keeps this one under `attribute.<key>`. */
export function keep(draft: Draft, key: string, value: JsonValue): void {
  if (!place(draft, "metadata", key, value)) place(draft, "metadata", `attribute.${key}`, value);
}

// Places a step's whole input or output: the bucket gets the keys of an object. Other values, and
// objects with keys that have other values already, go under `otherwise`.
function placePayload(
  draft: Draft,
  bucket: "inputs" | "outputs",
  value: JsonValue,
  otherwise: string,
): boolean {
  const target = draft.buckets[bucket];
  if (isJsonObject(value) && Object.keys(value).every((key) => isFree(target, key, value[key]))) {
    for (const key of Object.keys(value)) setOwn(target, key, value[key] ?? null);
    return true;
  }
  return place(draft, bucket, otherwise, value);
}

function isFree(target: MutableObject, key: string, value: JsonValue | undefined): boolean {
  return !Object.hasOwn(target, key) || isSameJson(target[key], value);
}

/**
 * Moves an attribute with a step's whole input or output, converted by `read`: the keys of an
 * object to the bucket, other values to `otherwise`. If they are taken, the attribute stays unread.
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
