// Runs of LangSmith, as its bulk export and `list_runs` of its clients write them.
// Source: docs.langchain.com/langsmith/run-data-format.

import { isJsonObject, type JsonObject, type JsonValue, present } from "../../base/json.ts";
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

const format = "langsmith";

const eventTypes: Readonly<Record<string, string>> = {
  llm: "model",
  embedding: "model",
  tool: "tool",
  retriever: "tool",
};

/**
 * Maps a run, and the runs inside it, which clients write when they load them. The root of a trace
 * also names its session.
 */
export function mapLangSmith(source: JsonObject): Mapped {
  const { writes: own, inner, ...mapped } = mapRun(source);
  const writes = [...own];
  const left = [...inner];
  for (const child of left) {
    const run = mapRun(child);
    writes.push(...run.writes);
    left.push(...run.inner);
  }
  return { ...mapped, writes, records: 1 };
}

type Run = Omit<Mapped, "records"> & { readonly inner: readonly JsonObject[] };

function mapRun(source: JsonObject): Run {
  const record = readRecord(source);
  const id = takeId(record, "id");
  const traceId = takeText(record, "trace_id") ?? traceOf(record, id);
  const eventId = toEventId(format, traceId, id);
  const session_id = toSessionId(format, traceId);
  const parent = takeParent(record);
  const inner = takeInner(record, { trace_id: traceId, parent_run_id: id });
  const type = takeText(record, "run_type") ?? "chain";
  const event_type = eventTypes[type.toLowerCase()] ?? "chain";
  const start_time = takeTime(record, "start_time");
  if (start_time === undefined) throw new BadRecord("start_time is required");
  const times = present({ start_time, end_time: takeTime(record, "end_time") });
  const name = takeText(record, "name");
  const payload = takePayload(record, event_type === "model");
  const metrics = takeFeedback(record);
  const error = takeText(record, "error");
  const context = takeContext(record, { id, traceId, type, isModel: event_type === "model" });
  const event = present({
    event_type,
    event_id: eventId,
    session_id,
    parent_id: parent === undefined ? undefined : toEventId(format, traceId, parent),
    event_name: name,
    source: format,
    ...times,
    ...payload,
    error,
    metrics,
    ...context,
  });
  const writes: Write[] = [{ kind: "event", eventId, event }];
  if (parent === undefined) writes.unshift(toSession(session_id, { name, times }));
  return { writes, inner, mapped: record.taken(), raw: Object.keys(record.rest()) };
}

// A run inside another one may lack the ids that its place says.
function takeInner(record: SourceRecord, ids: JsonObject): readonly JsonObject[] {
  const runs = listOf(record.look("child_runs"));
  if (!runs?.every((run) => isJsonObject(run))) return [];
  record.take("child_runs");
  return runs.map((run) => ({ ...ids, ...withoutNulls(run) }));
}

function withoutNulls(run: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(run).filter(([, value]) => value !== null));
}

function toSession(
  id: string,
  { name, times }: { readonly name: string | undefined; readonly times: JsonObject },
): Write {
  const ids = { event_type: "session", event_id: id, session_id: id };
  const event = present({ ...ids, event_name: name, source: format, ...times, inputs: {} });
  return { kind: "event", eventId: id, event };
}

// Older dumps have no trace_id; the order begins with the root: 20240101T000000000000Z<uuid>.….
function traceOf(record: SourceRecord, id: string): string {
  const order = record.look("dotted_order");
  const root = typeof order === "string" ? /^\d{8}T\d+Z([0-9a-f-]{36})/i.exec(order) : null;
  if (root?.[1] !== undefined) return root[1];
  if (record.look("parent_run_id") === undefined) return id;
  throw new BadRecord("trace_id is required, or dotted_order");
}

// The last of parent_run_ids, which go from the root down, is the parent.
function takeParent(record: SourceRecord): string | undefined {
  const parent = takeText(record, "parent_run_id");
  const last = listOf(record.look("parent_run_ids"))?.at(-1);
  return parent ?? (typeof last === "string" && last !== "" ? last : undefined);
}

function takePayload(record: SourceRecord, isModel: boolean): JsonObject {
  const [inputs, outputs] = [record.take("inputs"), record.take("outputs")].map(unpack);
  if (!isModel) return { inputs: toBucket(inputs, "input"), outputs: toBucket(outputs, "output") };
  return { inputs: toModelInputs(inputs), outputs: toModelOutputs(outputs) };
}

// {correctness: {n: 2, avg: 0.5, …}}; all of it also stays raw.
function takeFeedback(record: SourceRecord): JsonObject | undefined {
  const stats = unpack(record.look("feedback_stats"));
  if (!isJsonObject(stats)) return undefined;
  const metrics: Record<string, JsonValue> = {};
  for (const [name, stat] of Object.entries(stats)) {
    const average = isJsonObject(stat) ? toNumber(stat["avg"]) : undefined;
    if (average !== undefined) metrics[name] = average;
  }
  return hasKeys(metrics) ? metrics : undefined;
}

type RunParts = {
  readonly id: string;
  readonly traceId: string;
  readonly type: string;
  readonly isModel: boolean;
};

// Costs and tokens of a chain are the sums of its model calls, so that they stay raw.
function takeContext(record: SourceRecord, { id, traceId, type, isModel }: RunParts): JsonObject {
  const extra = unpack(record.look("extra"));
  const {
    metadata: given,
    invocation_params: passed,
    ...others
  } = isJsonObject(extra) ? extra : {};
  if (isJsonObject(extra)) record.take("extra");
  const labels = unpack(given);
  const known = isJsonObject(labels) ? labels : {};
  const userId = known["user_id"];
  const tags = listOf(record.look("tags"));
  if (tags !== undefined) record.take("tags");
  const amounts = isModel ? takeAmounts(record) : {};
  const own = {
    trace_id: traceId,
    source_run_id: id,
    source_run_type: type,
    ...amounts,
    ...present({ tags, project_name: record.take("session_name") }),
  };
  const left = present({
    extra: hasKeys(others) ? others : undefined,
    ...(isModel ? {} : { invocation_params: passed }),
  });
  return present({
    config: isModel ? toConfig(known, unpack(passed)) : undefined,
    user_properties: typeof userId === "string" ? { user_id: userId } : undefined,
    metadata: toMetadata(format, { given: labels, own, raw: { ...record.rest(), ...left } }),
  });
}

// The details also have categories of other names, so they stay raw as well.
function takeAmounts(record: SourceRecord): JsonObject {
  const detail = (field: string, category: string) => {
    const details = unpack(record.look(field));
    return isJsonObject(details) ? toNumber(details[category]) : undefined;
  };
  return present({
    prompt_tokens: takeNumber(record, "prompt_tokens"),
    completion_tokens: takeNumber(record, "completion_tokens"),
    total_tokens: takeNumber(record, "total_tokens"),
    cache_read_input_tokens: detail("prompt_token_details", "cache_read"),
    cache_write_input_tokens: detail("prompt_token_details", "cache_creation"),
    reasoning_tokens: detail("completion_token_details", "reasoning"),
    cost: takeNumber(record, "total_cost"),
  });
}

function toConfig(labels: JsonObject, passed: JsonValue | undefined): JsonObject {
  const { model, model_name: named, ...hyperparameters } = isJsonObject(passed) ? passed : {};
  return present({
    model: labels["ls_model_name"] ?? model ?? named,
    provider: labels["ls_provider"],
    hyperparameters: hasKeys(hyperparameters) ? hyperparameters : undefined,
  });
}
