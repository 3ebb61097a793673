// Records the messages and scores that instrumentations send as log records of a model's call: they
// become inputs, outputs and metrics of the event of the call's span, which may be stored before or
// after them.
// Source: OpenTelemetry semantic conventions, gen-ai-events; docs/otlp.md, "Messages in logs".

import type { ProjectId } from "../../base/ids.ts";
import { isJsonArray, isJsonObject, type JsonValue } from "../../base/json.ts";
import { addedHistoryBytesMax } from "../../base/limits.ts";
import { createPacer } from "../../base/pacer.ts";
import { runPaced, type Steps } from "../../base/paced.ts";
import { quoteText } from "../../base/quote-text.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import type { EventWrite } from "../events/event.ts";
import { weighFields } from "../events/event-limits.ts";
import { type History, readHistories } from "../events/history-store.ts";
import { assertInTime, type Recorder } from "../events/record.ts";
import { genAi, operationDetails, scoreOf } from "./conventions/gen-ai.ts";
import { choiceEvent, genAiLegacy, messageEvents } from "./conventions/gen-ai-legacy.ts";
import { createDraft } from "./draft.ts";
import { compileFields, placeFields } from "./fields.ts";
import { deriveEventId } from "./identity.ts";
import type { Rejected, Span, SpanEvent, SpanLog } from "./span.ts";
import type { TracesOptions } from "./record-spans.ts";
import { valueBytes } from "./span-limits.ts";
import { isSameJson } from "./values.ts";

export type SpanLogs = {
  /**
   * Stores the messages of every valid record and resolves after commit with the reasons for the
   * others. Messages whose span is not stored yet wait for it, unseen. Sending the last request
   * again changes nothing. Throws OVERLOADED if the messages do not fit into memory, and
   * DATABASE_UNAVAILABLE past the deadline, after which the calls stored before it stay.
   */
  record(
    projectId: ProjectId,
    logs: readonly SpanLog[],
    options: SpanLogsOptions,
  ): Promise<readonly Rejected[]>;
};

export type SpanLogsOptions = Omit<TracesOptions, "source">;

/** Maximum calls whose earlier messages are read at once. */
const appendedMax = 100;

export function createSpanLogs({
  database,
  recorder,
}: {
  readonly database: Database;
  readonly recorder: Pick<Recorder, "record">;
}): SpanLogs {
  async function store(
    projectId: ProjectId,
    calls: readonly CallLogs[],
    { organization, memory }: SpanLogsOptions,
  ): Promise<readonly Rejected[]> {
    if (calls.length === 0) return [];
    const writes = calls.map(({ write }) => write);
    const costs = calls.map(({ cost }) => cost);
    const origin = { bytes: memory.bytes(), organization };
    const refused = await recorder.record(projectId, writes, { kind: "enrich", costs, ...origin });
    return Array.from(refused, ([index, cause]) => rejectCall(calls[index], cause));
  }

  /**
   * Stores calls whose messages may come in several requests, as a processor sends them that does
   * not gather records: messages that are not among those stored are added to them.
   */
  function append(
    projectId: ProjectId,
    calls: readonly CallLogs[],
    options: SpanLogsOptions,
  ): Promise<readonly Rejected[]> {
    const run = async (sql: Sql): Promise<readonly Rejected[]> => {
      const ids = calls.map(({ write }) => write.event_id);
      const histories = await readHistories(sql, projectId, ids);
      const rejected: Rejected[] = [];
      const grown = calls.flatMap((call) => {
        const before = histories.get(call.write.event_id);
        const added = before === undefined ? call : addHistory(call, before);
        if (!("reason" in added)) return [added];
        rejected.push(added);
        return [];
      });
      return [...rejected, ...(await store(projectId, grown, options))];
    };
    return database.transaction(run, { owner: projectId });
  }

  return {
    async record(projectId, logs, options) {
      const receivedAtMs = Date.now();
      const steps = toCalls(logs, options);
      const { calls, rejected } = await runPaced(steps, createPacer(options.memory.holder));
      const whole = calls.filter(({ isPart }) => !isPart);
      const parts = calls.filter(({ isPart }) => isPart);
      const unstored = [...rejected, ...(await store(projectId, whole, options))];
      for (let at = 0; at < parts.length; at += appendedMax) {
        assertInTime({ receivedAtMs });
        const some = parts.slice(at, at + appendedMax);
        unstored.push(...(await append(projectId, some, options)));
      }
      return unstored;
    },
  };
}

/** Messages of one call. */
type CallLogs = {
  readonly spanId: string;
  readonly write: EventWrite;
  readonly cost: number;
  /** Whether the history may go on in another request. */
  readonly isPart: boolean;
};

function rejectCall(call: CallLogs | undefined, cause: string): Rejected {
  return { reason: `log records of span ${call?.spanId}: ${cause}` };
}

/** Returns the call with the messages of `before` ahead of its own, unless it repeats them. */
function addHistory(call: CallLogs, before: History): CallLogs | Rejected {
  const { inputs = {} } = call.write;
  const own = inputs["chat_history"];
  if (own === undefined || !isJsonArray(own)) return call;
  if (before === "too long") {
    const cause = `has more than ${addedHistoryBytesMax} bytes of messages already`;
    return rejectCall(call, `${cause}: send those of a call in one request`);
  }
  const isRepeated =
    before.length >= own.length && isSameJson(before.slice(before.length - own.length), own);
  const chat_history = isRepeated ? before : [...before, ...own];
  const write = { ...call.write, inputs: { ...inputs, chat_history } };
  const weighed = weighFields(write);
  return "fault" in weighed ? rejectCall(call, weighed.fault) : { ...call, write, ...weighed };
}

function* toCalls(
  logs: readonly SpanLog[],
  { memory }: SpanLogsOptions,
): Steps<{ readonly calls: readonly CallLogs[]; readonly rejected: readonly Rejected[] }> {
  const rejected: Rejected[] = [];
  const bySpan = new Map<string, SpanLog[]>();
  for (const log of logs) {
    const { traceId, spanId, event } = log;
    if (isRead(event)) {
      const key = `${traceId} ${spanId}`;
      const others = bySpan.get(key);
      if (others === undefined) bySpan.set(key, [log]);
      else others.push(log);
    } else {
      const reason =
        "is not an event of the GenAI conventions with messages or a score, so it is not stored";
      rejected.push({ reason: `log record ${quoteText(event.name)}: ${reason}` });
    }
    yield;
  }
  const calls: CallLogs[] = [];
  for (const ofSpan of bySpan.values()) {
    const [first] = ofSpan;
    if (first === undefined) continue;
    const events = ofSpan.map(({ event }) => event);
    const { traceId, spanId } = first;
    const told = readBuckets(first, events);
    if (Object.keys(told).length === 0) continue;
    const write = { event_id: deriveEventId(traceId, spanId), ...told };
    const weighed = weighFields(write);
    const isPart = events.some(({ name }) => messageEvents.has(name));
    if ("fault" in weighed) {
      rejected.push({ reason: `log records of span ${spanId}: ${weighed.fault}` });
    } else {
      memory.grow(weighed.values * valueBytes);
      calls.push({ spanId, write, cost: weighed.cost, isPart });
    }
    yield;
  }
  return { calls, rejected };
}

function isRead(event: SpanEvent): boolean {
  const { name } = event;
  const hasMessages = name === operationDetails || name === choiceEvent || messageEvents.has(name);
  return hasMessages || scoreOf(event) !== undefined;
}

/** Conventions whose events carry messages or scores. */
const conventions = [genAi, genAiLegacy];

/** The span's own attributes fill single fields. */
const noFields = compileFields([]);

function readBuckets(
  { traceId, spanId }: SpanLog,
  events: readonly SpanEvent[],
): Pick<EventWrite, "inputs" | "outputs" | "config" | "metrics"> {
  const draft = createDraft(bareSpan({ traceId, spanId, events }), "model", { hasUsage: false });
  for (const convention of conventions) convention.prepare?.(draft);
  placeFields(draft, noFields);
  for (const convention of conventions) convention.read?.(draft);
  const { inputs, outputs, config, metrics } = draft.buckets;
  const { tools } = config;
  const history = inputs["chat_history"];
  const hasInputs = isJsonArray(history) && !history.every(isBare);
  return {
    ...(hasInputs && { inputs }),
    ...(!isBare(outputs) && { outputs }),
    ...(tools !== undefined && { config: { tools } }),
    ...(Object.keys(metrics).length > 0 && { metrics }),
  };
}

/** Keys of a message that stay where a program does not let its instrumentation send contents. */
const bareKeys: ReadonlySet<string> = new Set(["role", "tool_call_id", "finish_reason"]);

/** Returns whether a message has no content, nor arguments of the calls in it. */
function isBare(message: JsonValue): boolean {
  if (!isJsonObject(message)) return false;
  return Object.entries(message).every(([key, value]) =>
    key === "tool_calls" && isJsonArray(value) ? value.every(isBareCall) : bareKeys.has(key),
  );
}

function isBareCall(call: JsonValue): boolean {
  const called = isJsonObject(call) ? call["function"] : undefined;
  return called !== undefined && isJsonObject(called) && called["arguments"] === undefined;
}

function bareSpan(parts: Pick<Span, "traceId" | "spanId" | "events">): Span {
  return {
    parentSpanId: undefined,
    traceState: "",
    name: "",
    kind: undefined,
    startMs: 0,
    endMs: undefined,
    status: "unset",
    statusMessage: "",
    attributes: new Map(),
    links: [],
    dropped: { attributes: 0, events: 0, links: 0 },
    scope: { name: "", version: "", attributes: new Map() },
    resource: new Map(),
    ...parts,
  };
}
