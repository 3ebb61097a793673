// Traces, observations and scores of Langfuse, in the names of its API (camelCase) and of its blob
// storage export (snake_case). Source: langfuse.com/docs, "Blob storage export field reference".

import { isJsonObject, type JsonObject, type JsonValue, present } from "../../base/json.ts";
import { tokenFields, toTokens } from "../../tracing/spans/conventions/langfuse.ts";
import { toBucket, toModelInputs, toModelOutputs } from "../../tracing/spans/model-payload.ts";
import { toNumber } from "../../tracing/spans/values.ts";
import type { Mapped, Write } from "./mapping.ts";
import {
  BadRecord,
  hasKeys,
  listOf,
  readRecord,
  type SourceRecord,
  takeId,
  takeNumber,
  takeText,
  takeTime,
  toEventId,
  toMetadata,
  toSessionId,
  unpack,
} from "./source-record.ts";

const format = "langfuse";

const eventTypes: Readonly<Record<string, string>> = {
  GENERATION: "model",
  EMBEDDING: "model",
  TOOL: "tool",
  RETRIEVER: "tool",
};

/** Maps a trace, an observation or a score; a trace may hold its observations and scores. */
export function mapLangfuse(source: JsonObject): Mapped {
  const record = readRecord(source, true);
  const writes = toWrites(record);
  const raw = Object.keys(record.rest());
  return { writes, records: 1, mapped: record.taken(), raw };
}

function toWrites(record: SourceRecord): readonly Write[] {
  if (record.look("start_time") !== undefined) return toObservation(record);
  const isScored = record.look("value") !== undefined || record.look("string_value") !== undefined;
  if (isScored && record.look("name") !== undefined) return [toScore(record)];
  if (record.look("trace_id") === undefined) return toTrace(record);
  throw new BadRecord("is no trace, observation or score: start_time or value is missing");
}

function toTrace(record: SourceRecord): readonly Write[] {
  const traceId = takeId(record, "id");
  const sessionId = toSessionId(format, traceId);
  const start_time = takeTime(record, "timestamp");
  if (start_time === undefined) throw new BadRecord("timestamp is required");
  const inner = [
    ...takeInner(record, "observations", traceId),
    ...takeInner(record, "scores", traceId),
  ];
  const latency = takeNumber(record, "latency");
  const event = present({
    event_type: "session",
    event_id: sessionId,
    session_id: sessionId,
    event_name: takeText(record, "name"),
    source: format,
    start_time,
    end_time: latency === undefined ? undefined : start_time + latency * 1_000,
    inputs: toBucket(unpack(record.take("input")), "input"),
    outputs: toBucket(unpack(record.take("output")), "output"),
    ...takeContext(record, { trace_id: traceId }),
  });
  return [{ kind: "event", eventId: sessionId, event }, ...inner];
}

/** Maps the records inside a trace; a list of ids stays as it is. */
function takeInner(record: SourceRecord, name: string, traceId: string): readonly Write[] {
  const items = listOf(record.look(name));
  if (!items?.every((item) => isJsonObject(item)) || items.length === 0) return [];
  record.take(name);
  return items.flatMap((item) => toWrites(readRecord({ traceId, ...item }, true)));
}

function toObservation(record: SourceRecord): readonly Write[] {
  const id = takeId(record, "id");
  const traceId = takeId(record, "trace_id");
  const parent = takeText(record, "parent_observation_id");
  const type = takeText(record, "type") ?? "SPAN";
  const event_type = eventTypes[type.toUpperCase()] ?? "chain";
  const isModel = event_type === "model";
  const session_id = toSessionId(format, traceId);
  const eventId = toEventId(format, traceId, id);
  const [input, output] = [record.take("input"), record.take("output")].map(unpack);
  const own = {
    trace_id: traceId,
    observation_id: id,
    observation_type: type,
    ...(isModel ? { ...takeUsage(record), ...takeCost(record) } : {}),
  };
  const event = present({
    event_type,
    event_id: eventId,
    session_id,
    parent_id: parent === undefined ? undefined : toEventId(format, traceId, parent),
    event_name: takeText(record, "name"),
    source: format,
    start_time: takeTime(record, "start_time"),
    end_time: takeTime(record, "end_time"),
    config: isModel ? takeConfig(record) : undefined,
    inputs: isModel ? toModelInputs(input) : toBucket(input, "input"),
    outputs: isModel ? toModelOutputs(output) : toBucket(output, "output"),
    error: takeError(record),
    ...takeContext(record, own),
  });
  const named = toNamedSession(record, session_id, event);
  return [...named, { kind: "event", eventId, event }];
}

// Rows of the newer export carry the names of their trace, which no other row describes.
function toNamedSession(
  record: SourceRecord,
  session_id: string,
  { parent_id, start_time }: JsonObject,
): readonly Write[] {
  const name = takeText(record, "trace_name");
  if (name === undefined || parent_id !== undefined) return [];
  const event = {
    event_type: "session",
    event_id: session_id,
    session_id,
    event_name: name,
    source: format,
    start_time: start_time ?? null,
    inputs: {},
  };
  return [{ kind: "event", eventId: session_id, event }];
}

function takeConfig(record: SourceRecord): JsonObject {
  const parameters = unpack(record.look("model_parameters"));
  if (isJsonObject(parameters)) record.take("model_parameters");
  const internal = takeText(record, "provided_model_name") ?? takeText(record, "model");
  return present({
    model: internal,
    hyperparameters: isJsonObject(parameters) && hasKeys(parameters) ? parameters : undefined,
  });
}

// `usage_details` also has categories of its own names, so it stays raw as well.
function takeUsage(record: SourceRecord): JsonObject {
  const [details, usage] = [record.look("usage_details"), record.look("usage")].map(unpack);
  const amounts: Record<string, number> = {
    ...(isJsonObject(usage) ? toTokens(usage) : {}),
    ...(isJsonObject(details) ? toTokens(details) : {}),
  };
  for (const field of tokenFields) {
    const amount = amounts[field] ?? takeNumber(record, field);
    if (amount !== undefined) amounts[field] = amount;
  }
  return amounts;
}

function takeCost(record: SourceRecord): JsonObject {
  const details = unpack(record.look("cost_details"));
  const total = isJsonObject(details) ? toNumber(details["total"]) : undefined;
  const sums = [takeNumber(record, "total_cost"), takeNumber(record, "calculated_total_cost")];
  return present({ cost: total ?? sums.find((sum) => sum !== undefined) });
}

function takeError(record: SourceRecord): string | undefined {
  if (record.look("level") !== "ERROR") return undefined;
  record.take("level");
  return takeText(record, "status_message") ?? "error";
}

const contextFields = [
  "environment",
  "release",
  "version",
  "session_id",
  "prompt_name",
  "prompt_version",
  "completion_start_time",
] as const;

/** Takes what traces and observations have alike: user, tags, labels, metadata, and all else. */
function takeContext(record: SourceRecord, own: JsonObject): JsonObject {
  const userId = takeText(record, "user_id");
  const tags = listOf(record.look("tags"));
  if (tags !== undefined) record.take("tags");
  const labels = contextFields.map((name) => [name, record.take(name)] as const);
  const given = record.take("metadata");
  const known = present({ ...own, ...Object.fromEntries(labels), tags });
  return present({
    user_properties: userId === undefined ? undefined : { user_id: userId },
    metadata: toMetadata(format, { given, own: known, raw: record.rest() }),
  });
}

function toScore(record: SourceRecord): Write {
  const id = takeId(record, "id");
  const name = takeId(record, "name");
  const { traceId, observationId } = takeScored(record);
  if (traceId === undefined) {
    throw new BadRecord(
      "is a score of no trace: scores of sessions and dataset runs have no event",
    );
  }
  const value = takeValue(record);
  const comment = takeText(record, "comment");
  const mark = `langfuse_score_${id}`;
  const eventId =
    observationId === undefined
      ? toSessionId(format, traceId)
      : toEventId(format, traceId, observationId);
  const explanation = comment === undefined ? {} : { [`${name}_explanation`]: comment };
  const kept = present({ name, value, comment, ...record.rest() });
  return {
    kind: "update",
    eventId,
    mark,
    update: { metrics: { [name]: value, ...explanation }, feedback: { [mark]: kept } },
  };
}

type Scored = {
  readonly traceId?: string | undefined;
  readonly observationId?: string | undefined;
};

// The third version of the API has a subject, {kind, id}, in place of the two ids.
function takeScored(record: SourceRecord): Scored {
  const traceId = takeText(record, "trace_id");
  const subject = unpack(record.look("subject"));
  if (!isJsonObject(subject)) {
    return { traceId, observationId: takeText(record, "observation_id") };
  }
  record.take("subject");
  const inner = readRecord(subject, true);
  const kind = inner.look("kind");
  const id = takeText(inner, "id");
  if (kind === "trace") return { traceId: id };
  if (kind !== "observation") return {};
  return { traceId: takeText(inner, "trace_id") ?? traceId, observationId: id };
}

/** Data types whose value is text; the number beside it is an index, or always 0. */
const textTypes: ReadonlySet<JsonValue | undefined> = new Set([
  "CATEGORICAL",
  "CORRECTION",
  "TEXT",
]);

// What stands beside the value stays raw: it is in the export, and the feedback has all of it.
function takeValue(record: SourceRecord): JsonValue {
  const type = record.look("data_type");
  if (type === "BOOLEAN") return Number(record.take("value")) === 1;
  const text = record.look("string_value");
  if (textTypes.has(type) && typeof text === "string") return text;
  const value = record.take("value");
  if (value === undefined) throw new BadRecord("value is required");
  return typeof value === "string" && !textTypes.has(type) ? (toNumber(value) ?? value) : value;
}
