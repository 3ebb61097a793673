// Ids of a span's event, its parent and its session, derived from the span alone: a retry finds the
// same record, and a child may come before its parent.
// Source: docs/spec.md, "Logging"; docs/decisions.md, 5 and 6.

import { deriveUuid, formatUuid, isRecordId } from "../../base/ids.ts";
import type { JsonValue } from "../../base/json.ts";
import type { Steps } from "../../base/paced.ts";
import type { Attributes, Span } from "./span.ts";
import { findUpwards, type Upwards } from "./upwards.ts";

/** Keys that name a session for the API; an invalid value makes the span invalid. */
const sessionKeys = ["honeyhive.session_id", "traceloop.association.properties.session_id"];
/** Keys that name a conversation for other purposes; an invalid value is ignored. */
const conversationKeys = [
  "gen_ai.conversation.id",
  "session.id",
  "gcp.vertex.agent.session_id",
  // The AI SDK until 6. Version 7 has its context on some spans alone: exports in several requests
  // would divide the trace.
  "ai.telemetry.metadata.sessionId",
  "mastra.metadata.sessionId",
  // LangSmith's names of a thread. Its SDKs hand the metadata of a run on to the runs inside it.
  "langsmith.metadata.session_id",
  "langsmith.metadata.thread_id",
  "langsmith.metadata.conversation_id",
];
/**
 * Ids of replies of OpenAI's Responses API. Microsoft's Agent Framework names the reply before as
 * the conversation: on some spans of a trace, and another at each turn.
 */
const responseId = /^resp_[0-9A-Za-z]{32,}$/;
const eventKeys = ["honeyhive_event_id", "honeyhive.event_id"];
const parentKeys = ["honeyhive.parent_id", "traceloop.association.properties.parent_id"];

/** Keys whose value became an id of the event and therefore need not stay in metadata. */
export const identityKeys = [...sessionKeys, ...eventKeys, ...parentKeys];

/** Ids of one span's event; `parentId` is undefined if the parent is the session. */
export type Identity = {
  readonly eventId: string;
  readonly parentId: string | undefined;
  readonly sessionId: string;
};

/** Returns the event id of a span without one: always the same for the same trace and span. */
export function deriveEventId(traceId: string, spanId: string): string {
  return deriveUuid(`otlp span ${traceId} ${spanId}`);
}

/** Returns the session id of a trace without one: the trace id in UUID form. */
export function deriveSessionId(traceId: string): string {
  return formatUuid(traceId);
}

/**
 * Returns the ids of every span of one request, or the reason why it cannot have any. A span
 * without a session joins the session of its nearest ancestor in the request, else the session of
 * the trace's earliest span with one, else the session derived from the trace id.
 */
export function* identifySpans(
  spans: readonly Span[],
): Steps<Map<Span, Identity | { reason: string }>> {
  const traces = Map.groupBy(spans, (span) => span.traceId);
  const identities = new Map<Span, Identity | { reason: string }>();
  for (const [traceId, trace] of traces) yield* identifyTrace(traceId, trace, identities);
  return identities;
}

type Given = {
  readonly span: Span;
  readonly sessionId: string | undefined;
  readonly eventId: string;
  readonly parentId: string | undefined;
};

function* identifyTrace(
  traceId: string,
  spans: readonly Span[],
  identities: Map<Span, Identity | { reason: string }>,
): Steps<void> {
  const bySpanId = new Map<string, Given>();
  const given: Given[] = [];
  for (const span of spans) {
    const read = readGiven(span);
    if ("reason" in read) {
      identities.set(span, read);
    } else {
      given.push(read);
      bySpanId.set(span.spanId, read);
    }
    yield;
  }
  const earliest = earliestSession(given);
  const ofTrace = earliest ?? deriveSessionId(traceId);
  const nearestSession: Upwards<Given, string> = {
    parentOf: ({ span }) => bySpanId.get(span.parentSpanId ?? ""),
    answerOf: ({ sessionId }) => sessionId,
    found: new Map(),
  };
  for (const one of given) {
    const nearest = earliest === undefined ? undefined : findUpwards(one, nearestSession);
    const parentId = one.parentId ?? parentOf(one.span, bySpanId);
    identities.set(one.span, {
      eventId: one.eventId,
      parentId: parentId === one.eventId ? undefined : parentId,
      sessionId: nearest ?? ofTrace,
    });
    yield;
  }
}

function readGiven(span: Span): Given | { reason: string } {
  const sessionId = firstText(span, sessionKeys);
  const eventId = firstText(span, eventKeys);
  const parentId = firstText(span, parentKeys);
  const reason =
    idFaultOf(span, sessionKeys, sessionId) ??
    idFaultOf(span, eventKeys, eventId) ??
    idFaultOf(span, parentKeys, parentId);
  if (reason !== undefined) return { reason };
  return {
    span,
    sessionId: sessionId ?? conversationOf(span),
    eventId: eventId ?? deriveEventId(span.traceId, span.spanId),
    parentId,
  };
}

/** Returns a fault if `text`, the first text of `keys`, is not an id. */
function idFaultOf(
  span: Span,
  keys: readonly string[],
  text: string | undefined,
): string | undefined {
  if (text === undefined || isRecordId(text)) return undefined;
  const holds = (attributes: Attributes) => (key: string) => textOf(attributes.get(key)) === text;
  const key = keys.find(holds(span.attributes)) ?? keys.find(holds(span.resource));
  return `${key} is not an id of 1 to 128 printable characters`;
}

// A parent in this request may have an explicit id; any other parent is known by its span id only.
function parentOf(span: Span, bySpanId: ReadonlyMap<string, Given>): string | undefined {
  if (span.parentSpanId === undefined) return undefined;
  const parent = bySpanId.get(span.parentSpanId);
  return parent?.eventId ?? deriveEventId(span.traceId, span.parentSpanId);
}

function conversationOf(span: Span): string | undefined {
  for (const key of conversationKeys) {
    const text = textOf(span.attributes.get(key)) ?? textOf(span.resource.get(key));
    if (text !== undefined && isRecordId(text) && !responseId.test(text)) return text;
  }
  return undefined;
}

function earliestSession(given: readonly Given[]): string | undefined {
  let earliest: Given | undefined;
  for (const one of given) {
    if (one.sessionId === undefined) continue;
    if (earliest === undefined || comesBefore(one.span, earliest.span)) earliest = one;
  }
  return earliest?.sessionId;
}

function comesBefore(a: Span, b: Span): boolean {
  return a.startMs === b.startMs ? a.spanId < b.spanId : a.startMs < b.startMs;
}

/** Returns the text or number of the first key that has one: of the span, else its resource. */
export function firstText(span: Span, keys: readonly string[]): string | undefined {
  return firstIn(span.attributes, keys) ?? firstIn(span.resource, keys);
}

function firstIn(attributes: Attributes, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = textOf(attributes.get(key));
    if (text !== undefined) return text;
  }
  return undefined;
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}
