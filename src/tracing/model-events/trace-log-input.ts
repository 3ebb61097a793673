// Steps as LangChain handlers of older clients log them: trees of events, with times in
// microseconds. Source: the published clients of this API; docs/decisions.md, 44.6.

import type { TraceLog } from "../../../gen/waggle/compat/v0/tracing_pb.js";
import { createUuid } from "../../base/ids.ts";
import { parseTimeMs } from "../../base/iso-time.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { Steps } from "../../base/paced.ts";
import { type BatchItem, joinFault } from "../events/batch.ts";
import { buckets, timeMsMax } from "../events/event.ts";
import { fromEvent } from "../events/event-input.ts";
import type { EventInput } from "../events/parse-event.ts";

/** A step that is not read yet. */
type Step = {
  readonly index: number;
  /** Place in the log, such as `.children[0]`. */
  readonly within: string;
  readonly value: JsonValue;
  readonly parentId: string | undefined;
};

type ReadStep = { readonly input: EventInput; readonly children: readonly JsonValue[] };

/**
 * Returns the steps of logs as items of a batch, each before those below it. `faults` are those
 * that the transport found, by the index of the log; `reserve` is told how many children follow.
 */
export function* readLogs(
  logs: readonly TraceLog[],
  faults: ReadonlyMap<number, string>,
  reserve: (children: number) => void,
): Steps<readonly BatchItem[]> {
  const items: BatchItem[] = [];
  for (const [index, log] of logs.entries()) {
    yield;
    const fault = faults.get(index);
    if (fault !== undefined) {
      items.push({ index, fault: joinFault(`logs[${index}]`, fault) });
      continue;
    }
    const root = withId({ input: withMs(fromEvent(log)), children: log.children });
    items.push({ index, input: root.input });
    reserve(root.children.length);
    const open = childrenOf(root, index, "").toReversed();
    for (let step = open.pop(); step !== undefined; step = open.pop()) {
      yield;
      const { within } = step;
      const read = readStep(step);
      if (typeof read === "string") {
        items.push({ index, fault: joinFault(`logs[${index}]${within}`, read) });
        continue;
      }
      items.push({ index, within, input: read.input });
      reserve(read.children.length);
      for (const child of childrenOf(read, index, within).toReversed()) open.push(child);
    }
  }
  return items;
}

function childrenOf({ input, children }: ReadStep, index: number, within: string): Step[] {
  const parentId = input.event_id;
  return children.map((value, at) => ({
    index,
    within: `${within}.children[${at}]`,
    value,
    parentId,
  }));
}

/** Returns a step with an id for those below it to name. */
function withId(step: ReadStep): ReadStep {
  if (step.children.length === 0 || step.input.event_id) return step;
  return { ...step, input: { ...step.input, event_id: createUuid() } };
}

function withMs(input: EventInput): EventInput {
  return { ...input, start_time: toMs(input.start_time), end_time: toMs(input.end_time) };
}

/** A number that is too great for milliseconds of any event is microseconds. */
function toMs(time: number | undefined): number | undefined {
  return time !== undefined && Math.abs(time) >= timeMsMax ? time / 1_000 : time;
}

/** Reads a child step; returns a text with the fault if it is wrong. Nulls count as absent. */
function readStep({ value, parentId }: Step): ReadStep | string {
  if (!isJsonObject(value)) return "must be an object";
  const input: Record<string, unknown> = { parent_id: parentId };
  for (const field of buckets) if (isGiven(value[field])) input[field] = value[field];
  for (const [field, read] of readers) {
    const given = value[field];
    if (!isGiven(given)) continue;
    const got = read(given);
    if (got === undefined) return `${field}: has another type than that of an event`;
    input[field] = got;
  }
  const children = value["children"] ?? [];
  if (!isJsonArray(children)) return "children: must be an array";
  return withId({ input: withMs(input), children });
}

function isGiven(value: JsonObject[string] | undefined): boolean {
  return value !== undefined && value !== null;
}

const asText = (value: unknown) => (typeof value === "string" ? value : undefined);
const asNumber = (value: unknown) => (typeof value === "number" ? value : undefined);
const asTexts = (value: unknown) =>
  Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined;

/** Fields of an event beside its buckets, and how each is read. */
const readers: readonly (readonly [string, (value: unknown) => unknown])[] = [
  ["event_id", asText],
  ["event_name", asText],
  ["event_type", asText],
  ["source", asText],
  ["parent_id", asText],
  ["error", asText],
  ["children_ids", asTexts],
  ["start_time", parseTimeMs],
  ["end_time", parseTimeMs],
  ["duration", asNumber],
];
