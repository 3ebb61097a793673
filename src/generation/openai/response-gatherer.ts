// Gathers a streamed answer of the Responses API while its events pass. The last event holds all of
// it; a stream that breaks off leaves the items that came. Source: the OpenAI API reference,
// Responses, "Streaming events"; docs/decisions.md, 21.7, 21.8.

import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { memoryOf } from "../../base/json-memory.ts";
import type { Keep } from "../calls/answer-memory.ts";
import type { StreamPart } from "../calls/model-call.ts";
import { type AnswerGatherer, followParts } from "./answer-gatherer.ts";
import { failureOfResponse, readResponse } from "./response.ts";

/** Maximum items of an answer; one with more is malformed. */
const itemsMax = 1_024;

/** Members of an item that its deltas extend, by the type of event. */
const texts: ReadonlyMap<string, keyof Item["texts"]> = new Map([
  ["response.output_text.delta", "content"],
  ["response.refusal.delta", "content"],
  ["response.reasoning_summary_text.delta", "reasoning"],
  ["response.reasoning_text.delta", "reasoning"],
  ["response.function_call_arguments.delta", "arguments"],
]);

type Item = {
  /** As the stream began it, or as it ended it. */
  item: JsonObject;
  isWhole: boolean;
  readonly texts: { content: string; reasoning: string; arguments: string };
};

/** `keep` counts the gathered bytes. */
export function createResponseGatherer(keep: Keep): AnswerGatherer {
  const items = new Map<number, Item>();
  let response: JsonObject = {};
  let isDone = false;

  function itemAt(index: number): Item | undefined {
    const known = items.get(index);
    if (known || items.size === itemsMax) return known;
    const made = { item: {}, isWhole: false, texts: { content: "", reasoning: "", arguments: "" } };
    items.set(index, made);
    return made;
  }

  /** Returns false if the answer has too many items. */
  function read({ chunk, isDone: isEnd }: StreamPart): boolean {
    isDone ||= isEnd === true;
    if (!chunk) return true;
    const { type, response: told, output_index: index, item: sent, delta } = chunk;
    if (isJsonObject(told)) {
      response = told;
      if (isDone) keep(memoryOf(response));
    }
    if (typeof index !== "number" || typeof type !== "string") return true;
    const one = itemAt(index);
    if (!one) return false;
    const text = texts.get(type);
    if (text !== undefined && typeof delta === "string") {
      keep(delta.length);
      one.texts[text] += delta;
    } else if (isJsonObject(sent)) {
      keep(memoryOf(sent));
      one.item = sent;
      one.isWhole = type === "response.output_item.done";
    }
    return true;
  }

  /** Returns the answer, as far as it came. */
  function gathered(): JsonObject {
    if (isDone) return response;
    const sorted = [...items].toSorted(([a], [b]) => a - b);
    return { ...response, output: sorted.map(([, item]) => toItem(item)) };
  }

  return {
    follow: (stream, connection) =>
      followParts(stream, connection, { read, isWhole: () => isDone }),
    isComplete: () => isDone,
    isDone: () => isDone,
    failure: (connection) => failureOfResponse(connection, gathered()),
    answer: () => readResponse(gathered()),
  };
}

function toItem({
  item,
  isWhole,
  texts: { content, reasoning, arguments: args },
}: Item): JsonValue {
  if (isWhole) return item;
  return {
    ...item,
    ...(content !== "" && { content: [{ type: "output_text", text: content }] }),
    ...(reasoning !== "" && { summary: [{ type: "summary_text", text: reasoning }] }),
    ...(args !== "" && { arguments: args }),
  };
}
