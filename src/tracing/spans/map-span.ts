// Converts one span to an event: conventions read the attributes they know, the rest goes to
// metadata. A pure function of the span and its ids.
// Source: docs/spec.md, "Event record"; docs/otlp.md.

import {
  isEmpty,
  isJsonArray,
  type JsonObject,
  type JsonValue,
  type MutableObject,
} from "../../base/json.ts";
import { nameLengthMax } from "../../base/limits.ts";
import { buckets, type EventWrite } from "../events/event.ts";
import { braintrust } from "./conventions/braintrust.ts";
import type { Convention } from "./conventions/convention.ts";
import { genAi } from "./conventions/gen-ai.ts";
import { genAiLegacy } from "./conventions/gen-ai-legacy.ts";
import { geminiCli } from "./conventions/gemini-cli.ts";
import { genkit } from "./conventions/genkit.ts";
import { googleAdk } from "./conventions/google-adk.ts";
import { honeyhive } from "./conventions/honeyhive.ts";
import { langfuse } from "./conventions/langfuse.ts";
import { langSmith } from "./conventions/langsmith.ts";
import { langWatch } from "./conventions/langwatch.ts";
import { liteLlm } from "./conventions/litellm.ts";
import { logfire } from "./conventions/logfire.ts";
import { mastra } from "./conventions/mastra.ts";
import { mlflow } from "./conventions/mlflow.ts";
import { openInference } from "./conventions/openinference.ts";
import { pydanticAi } from "./conventions/pydantic-ai.ts";
import { springAi } from "./conventions/spring-ai.ts";
import { strands } from "./conventions/strands.ts";
import { traceloop } from "./conventions/traceloop.ts";
import { vercel } from "./conventions/vercel.ts";
import { createDraft, keep, place, type Draft } from "./draft.ts";
import { inferEventType } from "./event-type.ts";
import { compileFields, placeFields } from "./fields.ts";
import { placeFirstChunk } from "./first-chunk.ts";
import { firstText, identityKeys, type Identity } from "./identity.ts";
import type { Attributes, Span } from "./span.ts";
import { spanError } from "./span-error.ts";
import { isSameJson, toNumber } from "./values.ts";

/** Conventions of attributes; where several give a field, the first in this order wins. */
const conventions: readonly Convention[] = [
  honeyhive,
  langSmith,
  genAi,
  genAiLegacy,
  openInference,
  traceloop,
  vercel,
  pydanticAi,
  logfire,
  strands,
  googleAdk,
  geminiCli,
  langfuse,
  mastra,
  springAi,
  genkit,
  langWatch,
  liteLlm,
  braintrust,
  mlflow,
];

const fieldTables = conventions.map(({ fields: table = {} }) => table);
const usageTables = conventions.map(({ usage = {} }) => usage);
const fields = compileFields(fieldTables);
const fieldsAndUsage = compileFields([...fieldTables, ...usageTables]);

const nameKeys = ["honeyhive_event_name", "honeyhive.event_name"];
const sourceKeys = ["honeyhive.source", "traceloop.association.properties.source"];
const serviceKeys = ["service.name"];

/** Instrumentations whose input tokens are without those read from or written to a cache. */
const scopesWithoutCached: ReadonlySet<string> = new Set([
  "openlit.instrumentation.anthropic",
  "openlit.instrumentation.bedrock",
  "opentelemetry.instrumentation.bedrock",
  "@arizeai/openinference-instrumentation-bedrock",
]);

/** Resource attributes that describe the machine, not the application; not kept on each event. */
const machinePrefixes = ["process.", "host.", "os.", "telemetry."];

export type MapSpanOptions = {
  /** Source of a span whose attributes name none; by default the service's name. */
  readonly source?: string | undefined;
  /** Whether a span inside it records the same call of a model. */
  readonly isRepeated?: boolean;
};

/** Maps a span to the event with its ids. */
export function mapSpan(
  span: Span,
  ids: Identity,
  { source, isRepeated = false }: MapSpanOptions,
): EventWrite {
  const isSession = ids.eventId === ids.sessionId;
  const eventType = isSession ? "session" : inferEventType(span);
  // A wrapper repeats the tokens of the calls inside it.
  const isWrapper = eventType === "chain" || (eventType === "session" && !isSession);
  const draft = createDraft(span, eventType, { hasUsage: !isWrapper && !isRepeated });
  for (const convention of conventions) convention.prepare?.(draft);
  placeFields(draft, draft.hasUsage ? fieldsAndUsage : fields);
  dropIdentity(draft, ids);
  const name = takeText(draft, nameKeys) ?? spanName(span);
  const error = spanError(draft);
  const duration = takeDuration(draft);
  const spanSource = sourceOf(draft, source);
  for (const convention of conventions) convention.read?.(draft);
  placeFirstChunk(draft);
  deriveFields(draft);
  describeSpan(draft);
  keepRest(draft);
  const event: MutableEvent = {
    event_id: ids.eventId,
    session_id: ids.sessionId,
    event_type: eventType,
  };
  if (name !== "") event.event_name = name;
  if (spanSource !== undefined) event.source = spanSource;
  if (ids.parentId !== undefined && !isSession) event.parent_id = ids.parentId;
  if (error !== undefined) event.error = error;
  setTimes(event, span, duration);
  setBuckets(event, draft);
  return event;
}

/** Returns a span's name; for one of Logfire, whose name is a template, the text made of it. */
export function spanName({ name, attributes }: Span): string {
  if (attributes.get("logfire.msg_template") !== name) return name;
  const text = attributes.get("logfire.msg");
  const isName = typeof text === "string" && text !== "" && text.length <= nameLengthMax;
  return isName ? text : name;
}

type MutableEvent = { -readonly [Field in keyof EventWrite]: EventWrite[Field] };

function dropIdentity(draft: Draft, ids: Identity): void {
  for (const key of identityKeys) {
    const value = draft.left.get(key);
    const used = value === ids.sessionId || value === ids.eventId || value === ids.parentId;
    if (used) draft.left.delete(key);
  }
}

function takeText(draft: Draft, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = draft.left.get(key);
    if (typeof value !== "string" || value === "") continue;
    draft.left.delete(key);
    return value;
  }
  return undefined;
}

function sourceOf(draft: Draft, source: string | undefined): string | undefined {
  const said = firstText(draft.span, sourceKeys);
  for (const key of sourceKeys) if (draft.left.get(key) === said) draft.left.delete(key);
  const own = said ?? source;
  if (own !== undefined && own !== "") return own;
  // SDKs without a configured name send `unknown_service:<program>`.
  const service = firstText(draft.span, serviceKeys);
  return service?.startsWith("unknown_service") === true ? undefined : service;
}

function takeDuration(draft: Draft): number | undefined {
  const given = draft.left.get("honeyhive_duration_ms");
  if (typeof given !== "number") return undefined;
  draft.left.delete("honeyhive_duration_ms");
  return given;
}

function setTimes(event: MutableEvent, span: Span, duration: number | undefined): void {
  const { startMs, endMs } = span;
  event.start_time = startMs;
  if (endMs !== undefined) event.end_time = endMs;
  if (duration !== undefined) event.duration = duration;
  else if (endMs !== undefined) {
    // Clamped, because a clock set back during the span must not give a negative duration.
    event.duration = Math.max(0, roundToMicroseconds(endMs - startMs));
  }
}

function roundToMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

// Derives fields from others: the model's name, the provider, the sum of tokens.
function deriveFields(draft: Draft): void {
  const { config, metadata } = draft.buckets;
  const model = metadata["response_model"] ?? config["model"];
  if (model !== undefined) place(draft, "metadata", "model_name", model);
  const system = metadata["system"];
  if (draft.eventType === "model" && typeof system === "string" && system !== "") {
    place(draft, "config", "provider", system);
  }
  if (draft.eventType === "model" && "chat_history" in draft.buckets.inputs) {
    place(draft, "config", "type", "chat");
  }
  const reasons = metadata["finish_reasons"];
  const reason = isJsonArray(reasons) ? reasons[0] : undefined;
  if (reason !== undefined) place(draft, "metadata", "finish_reason", reason);
  addCachedTokens(draft);
  // Counts may be numeric text (docs/spec.md, "Event record").
  const prompt = toNumber(metadata["prompt_tokens"]);
  const completion = toNumber(metadata["completion_tokens"]);
  if (prompt !== undefined && completion !== undefined) {
    place(draft, "metadata", "total_tokens", prompt + completion);
  }
}

// Bedrock counts cached tokens in the total, but not in the input; Strands and OpenInference pass
// its counts on. `input_tokens` keeps the sender's count.
function addCachedTokens(draft: Draft): void {
  const { metadata } = draft.buckets;
  const [prompt, completion, total, read = 0, written = 0] = [
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "cache_read_input_tokens",
    "cache_write_input_tokens",
  ].map((field) => toNumber(metadata[field]));
  const cached = read + written;
  if (prompt === undefined || cached === 0) return;
  const isInTotal = total === prompt + (completion ?? 0) + cached;
  if (!isInTotal && !scopesWithoutCached.has(draft.span.scope.name)) return;
  place(draft, "metadata", "input_tokens", prompt);
  metadata["prompt_tokens"] = prompt + cached;
  if (total !== undefined && !isInTotal) metadata["total_tokens"] = total + cached;
}

function describeSpan(draft: Draft): void {
  const { span } = draft;
  keep(draft, "trace_id", span.traceId);
  keep(draft, "span_id", span.spanId);
  if (span.parentSpanId !== undefined) keep(draft, "parent_span_id", span.parentSpanId);
  keep(draft, "has_otlp_lineage", true);
  if (span.scope.name !== "") {
    // The HoneyHive SDK numbers its scopes; the number has no meaning.
    keep(draft, "instrumentor", span.scope.name.replace(/\.\d{6,}$/, ""));
    keep(draft, "scope", scopeOf(span));
  }
  if (span.kind !== undefined) keep(draft, "otel_span_kind", span.kind);
  if (span.traceState !== "") keep(draft, "trace_state", span.traceState);
  if (draft.events.length > 0) keep(draft, "span_events", draft.events.map(eventOf));
  if (span.links.length > 0) keep(draft, "span_links", span.links.map(linkOf));
  for (const kind of ["attributes", "events", "links"] as const) {
    if (span.dropped[kind] > 0) keep(draft, `dropped_${kind}_count`, span.dropped[kind]);
  }
}

function scopeOf({ scope }: Span): JsonObject {
  const described: MutableObject = { name: scope.name };
  if (scope.version !== "") described["version"] = scope.version;
  if (scope.attributes.size > 0) described["attributes"] = Object.fromEntries(scope.attributes);
  return described;
}

function eventOf(event: Span["events"][number]): JsonObject {
  const described: MutableObject = { name: event.name };
  if (event.timeMs !== undefined) described["time"] = event.timeMs;
  if (event.attributes.size > 0) described["attributes"] = Object.fromEntries(event.attributes);
  return described;
}

function linkOf(link: Span["links"][number]): JsonObject {
  const described: MutableObject = { trace_id: link.traceId, span_id: link.spanId };
  if (link.traceState !== "") described["trace_state"] = link.traceState;
  if (link.attributes.size > 0) described["attributes"] = Object.fromEntries(link.attributes);
  return described;
}

function keepRest(draft: Draft): void {
  draft.left.forEach((value, key) => {
    keep(draft, key, value);
  });
  applicationAttributes(draft.span.resource).forEach((value, key) => {
    if (!isSameJson(draft.span.attributes.get(key), value)) keep(draft, key, value);
  });
}

// Cached, because all spans of a resource share its attributes.
const applicationOf = new WeakMap<Attributes, Attributes>();

/** Returns the attributes of a resource that are stored with the event of each of its spans. */
export function applicationAttributes(resource: Attributes): Attributes {
  const known = applicationOf.get(resource);
  if (known !== undefined) return known;
  const kept = new Map<string, JsonValue>();
  for (const [key, value] of resource) {
    if (machinePrefixes.some((prefix) => key.startsWith(prefix))) continue;
    if (!identityKeys.includes(key) && !sourceKeys.includes(key)) kept.set(key, value);
  }
  applicationOf.set(resource, kept);
  return kept;
}

// Sets the buckets that are not empty. Metadata never is, and a look into it would list its keys.
function setBuckets(event: MutableEvent, draft: Draft): void {
  for (const bucket of buckets) {
    const values = draft.buckets[bucket];
    if (bucket === "metadata" || !isEmpty(values)) event[bucket] = values;
  }
}
