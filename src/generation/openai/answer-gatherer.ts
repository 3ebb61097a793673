// Gathers a streamed answer while its parts pass. Source: docs/decisions.md, 21.1, 21.7.

import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  omit,
} from "../../base/json.ts";
import type { Keep } from "../calls/answer-memory.ts";
import type { StreamAnswer, StreamPart } from "../calls/model-call.ts";
import { ProviderError } from "../provider-error.ts";
import type { Connection } from "../provider.ts";
import { parseUsage, type Usage } from "../usage.ts";
import { type Choice, type ReadAnswer, reasonsOf, textOf, toOutputs } from "./answer.ts";
import { brokenOff, malformedFault, withoutChoices } from "./error.ts";
import { containerBytes, memoryOf } from "../../base/json-memory.ts";

export type AnswerGatherer = {
  /**
   * Yields the parts of a stream after it has read them. Fails with a ProviderError if the stream
   * is malformed, or stops before its end and before every choice is finished; with `needsFinish`
   * also if a choice is unfinished at the end.
   */
  follow(
    stream: StreamAnswer,
    connection: Connection,
    needsFinish?: boolean,
  ): AsyncGenerator<readonly StreamPart[]>;
  /** Whether the stream is complete: it sent its end, or every choice is finished. */
  isComplete(): boolean;
  isDone(): boolean;
  /** Returns what makes a complete answer a failure; undefined for a usable one. */
  failure(connection: Connection): ProviderError | undefined;
  answer(): ReadAnswer;
};

/** Gatherer of a chat. */
export type ChatGatherer = AnswerGatherer & { choices(): readonly Choice[] };

/** `choices` is the number that the request asks for; `keep` counts the gathered bytes. */
export function createAnswerGatherer(choices: number, keep: Keep): ChatGatherer {
  const gathered = new Map<number, Gathered>();
  let isDone = false;
  let reported: JsonValue | undefined;
  let usage: Usage | undefined;
  let model: string | undefined;
  let id: string | undefined;

  /** Returns false if the part has more choices than an answer may have. */
  function read({ chunk, isDone: isEnd, usage: own }: StreamPart): boolean {
    isDone ||= isEnd === true;
    usage = own ?? usage;
    if (!chunk) return true;
    model ??= textOf(chunk["model"]);
    id ??= textOf(chunk["id"]);
    if (isJsonObject(chunk["usage"])) reported = chunk["usage"];
    const { choices: came } = chunk;
    return !isJsonArray(came) || came.every((choice) => !isJsonObject(choice) || addChoice(choice));
  }

  function addChoice(choice: JsonObject): boolean {
    const index = typeof choice["index"] === "number" ? choice["index"] : 0;
    let one = gathered.get(index);
    if (!one) {
      if (gathered.size === choicesMax) return false;
      one = { message: {}, toolCalls: [], finishReason: undefined };
      gathered.set(index, one);
    }
    one.finishReason = textOf(choice["finish_reason"]) ?? one.finishReason;
    return !isJsonObject(choice["delta"]) || addDelta(one, choice["delta"], keep);
  }

  /** Returns whether at least this number of choices came, and all of them are finished. */
  function areFinished(count: number): boolean {
    const came = [...gathered.values()];
    return came.length >= count && came.every(({ finishReason }) => finishReason !== undefined);
  }

  function choicesSoFar(): readonly Choice[] {
    const sorted = [...gathered].toSorted(([a], [b]) => a - b);
    return sorted.map(([index, one]) => {
      return { index, message: toMessage(one), finishReason: one.finishReason };
    });
  }

  const isComplete = (): boolean => isDone || areFinished(choices);

  return {
    follow(stream, connection, needsFinish = false) {
      const isWhole = (): boolean => isComplete() && (!needsFinish || areFinished(1));
      return followParts(stream, connection, { read, isWhole });
    },

    isComplete,
    isDone: () => isDone,
    choices: choicesSoFar,
    failure: (connection) => (gathered.size === 0 ? withoutChoices(connection) : undefined),

    answer() {
      const came = choicesSoFar();
      return {
        outputs: toOutputs(came),
        finishReasons: reasonsOf(came),
        responseModel: model,
        responseId: id,
        usage: usage ?? parseUsage(reported),
      };
    },
  };
}

type Reading = {
  readonly read: (part: StreamPart) => boolean;
  /** Whether the stream may end. */
  readonly isWhole: () => boolean;
};

/** Yields the parts of a stream after they were read. See `AnswerGatherer`. */
export async function* followParts(
  { parts }: StreamAnswer,
  connection: Connection,
  { read, isWhole }: Reading,
): AsyncGenerator<readonly StreamPart[]> {
  try {
    for await (const batch of parts) {
      const bad = batch.findIndex((part) => !read(part));
      if (bad === -1) {
        yield batch;
        continue;
      }
      if (bad > 0) yield batch.slice(0, bad);
      throw malformedFault(connection, "with an invalid event");
    }
  } catch (error) {
    // A model that failed at its end is billed.
    if (error instanceof ProviderError) read({ usage: error.answer?.usage });
    throw error;
  }
  if (!isWhole()) throw brokenOff(connection);
}

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

type ToolCall = { readonly index: number; readonly call: Record<string, JsonValue> };

type Gathered = {
  readonly message: Record<string, JsonValue>;
  readonly toolCalls: ToolCall[];
  finishReason: string | undefined;
};

function addDelta(to: Gathered, delta: JsonObject, keep: Keep): boolean {
  const { tool_calls: toolCalls, ...rest } = delta;
  merge(to.message, rest, keep);
  return !isJsonArray(toolCalls) || toolCalls.every((call, at) => addToolCall(to, call, at, keep));
}

function addToolCall({ toolCalls }: Gathered, part: JsonValue, at: number, keep: Keep): boolean {
  if (!isJsonObject(part)) return true;
  const given = typeof part["index"] === "number" ? part["index"] : undefined;
  let one = toolCalls.findLast(({ index }) => index === (given ?? at));
  if (!one || isNext(part, one.call)) {
    if (toolCalls.length === toolCallsMax) return false;
    one = { index: given ?? (one ? toolCalls.length : at), call: {} };
    toolCalls.push(one);
  }
  merge(one.call, omit(part, ["index"]), keep);
  return true;
}

/**
 * Returns whether a part begins another call than the last one of its index. Some servers give all
 * calls one index, or none; others give each part of one call another id, but no name.
 */
function isNext(part: JsonObject, { id: last }: JsonObject): boolean {
  const { id, function: called } = part;
  const isNamed = isJsonObject(called) && textOf(called["name"]) !== undefined;
  return isNamed && textOf(id) !== undefined && textOf(last) !== undefined && id !== last;
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
  if (toolCalls.length === 0) return message;
  const calls = toolCalls.toSorted((a, b) => a.index - b.index).map(({ call }) => call);
  return { ...message, tool_calls: calls };
}
