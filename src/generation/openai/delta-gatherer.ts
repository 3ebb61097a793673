// Builds the choices of a streamed answer from their deltas.
// Source: the OpenAI API reference, "Streaming"; docs/decisions.md, 21.

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { containerBytes, memoryOf } from "../../base/json-memory.ts";
import type { Keep } from "../calls/answer-memory.ts";
import { type Choice, textOf, without } from "./answer.ts";

export type DeltaGatherer = {
  /**
   * Adds the choices of one chunk. Returns false if there are more than an answer may have; fails
   * if they do not fit into memory.
   */
  add(choices: JsonValue | undefined): boolean;
  /** Returns the choices so far, sorted by index. */
  choices(): Choice[];
};

/** Maximum choices of the OpenAI API; an answer with more is malformed. */
const choicesMax = 128;
const toolCallsMax = 1_024;
const partsMax = 10_000;

/** Members of a delta whose texts are appended to each other. */
const runningTexts: ReadonlySet<string> = new Set([
  "content",
  "refusal",
  "reasoning",
  "reasoning_content",
  "arguments",
  "transcript",
]);

type Gathered = {
  readonly message: Record<string, JsonValue>;
  readonly toolCalls: Map<number, Record<string, JsonValue>>;
  finishReason: string | undefined;
};

/** Creates a gatherer; `keep` counts the gathered bytes. */
export function createDeltaGatherer(keep: Keep): DeltaGatherer {
  const gathered = new Map<number, Gathered>();

  function addChoice(choice: JsonObject): boolean {
    const index = typeof choice["index"] === "number" ? choice["index"] : 0;
    let one = gathered.get(index);
    if (!one) {
      if (gathered.size === choicesMax) return false;
      one = { message: {}, toolCalls: new Map(), finishReason: undefined };
      gathered.set(index, one);
    }
    one.finishReason = textOf(choice["finish_reason"]) ?? one.finishReason;
    return !isJsonObject(choice["delta"]) || addDelta(one, choice["delta"], keep);
  }

  return {
    add: (choices) =>
      !isJsonArray(choices) ||
      choices.every((choice) => !isJsonObject(choice) || addChoice(choice)),
    choices: () =>
      [...gathered]
        .toSorted(([a], [b]) => a - b)
        .map(([index, one]) => ({
          index,
          message: toMessage(one),
          finishReason: one.finishReason,
        })),
  };
}

function addDelta(to: Gathered, delta: JsonObject, keep: Keep): boolean {
  const { tool_calls: toolCalls, ...rest } = delta;
  merge(to.message, rest, keep);
  return !isJsonArray(toolCalls) || toolCalls.every((call, at) => addToolCall(to, call, at, keep));
}

function addToolCall({ toolCalls }: Gathered, call: JsonValue, at: number, keep: Keep): boolean {
  if (!isJsonObject(call)) return true;
  const index = typeof call["index"] === "number" ? call["index"] : at;
  let one = toolCalls.get(index);
  if (!one) {
    if (toolCalls.size === toolCallsMax) return false;
    one = {};
    toolCalls.set(index, one);
  }
  merge(one, without(call, "index"), keep);
  return true;
}

/** Merges a part: running texts and lists are appended, objects merged, other values replaced. */
function merge(to: Record<string, JsonValue>, part: JsonObject, keep: Keep): void {
  for (const key in part) {
    // Assigning this name would set the prototype.
    if (key === "__proto__") continue;
    const value = part[key];
    const before = to[key];
    if (value === undefined || (value === null && before !== undefined)) continue;
    if (before === undefined) keep(key.length + containerBytes);
    if (typeof value === "string" && typeof before === "string" && runningTexts.has(key)) {
      keep(value.length);
      to[key] = before + value;
    } else if (isJsonArray(value)) {
      const items = isJsonArray(before) ? (before as JsonValue[]) : [];
      const added = value.slice(0, partsMax - items.length);
      if (added.length > 0) keep(memoryOf(added));
      items.push(...added);
      to[key] = items;
    } else if (isJsonObject(value)) {
      const into = isJsonObject(before) ? (before as Record<string, JsonValue>) : {};
      merge(into, value, keep);
      to[key] = into;
    } else {
      keep(Math.max(0, lengthOf(value) - lengthOf(before)));
      to[key] = value;
    }
  }
}

function lengthOf(value: JsonValue | undefined): number {
  return typeof value === "string" ? value.length : 0;
}

function toMessage({ message, toolCalls }: Gathered): JsonObject {
  if (toolCalls.size === 0) return message;
  const calls = [...toolCalls].toSorted(([a], [b]) => a - b).map(([, call]) => call);
  return { ...message, tool_calls: calls };
}
