// Gathers a streamed answer of the Messages API while its events pass. The first event holds the
// message without its content; deltas hold the content. Source: the Anthropic API reference,
// "Streaming messages"; docs/decisions.md, 21.7, 21.9.

import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from "../../base/json.ts";
import { memoryOf } from "../../base/json-memory.ts";
import type { Keep } from "../calls/answer-memory.ts";
import type { StreamPart } from "../calls/model-call.ts";
import { type AnswerGatherer, followParts } from "../openai/answer-gatherer.ts";
import { readMessageAnswer } from "./message.ts";

/** Maximum blocks of an answer; one with more is malformed. */
const blocksMax = 1_024;

/** Members of a delta that hold text, and the member of the block that they extend. */
const texts = {
  text: "text",
  thinking: "thinking",
  partial_json: "input",
} as const;

type Block = { readonly begun: JsonObject; readonly texts: Record<string, string> };

/** `keep` counts the gathered bytes. */
export function createMessageGatherer(keep: Keep): AnswerGatherer {
  const blocks = new Map<number, Block>();
  let message: JsonObject = {};
  let isDone = false;

  /** Returns false if the answer has too many blocks. */
  function read({ chunk, isDone: isEnd }: StreamPart): boolean {
    isDone ||= isEnd === true;
    if (!chunk) return true;
    const { message: begun, index, content_block: block, delta, usage } = chunk;
    if (isJsonObject(begun)) {
      keep(memoryOf(begun));
      message = begun;
    }
    if (typeof index === "number" && isJsonObject(block)) {
      if (blocks.size === blocksMax) return false;
      keep(memoryOf(block));
      blocks.set(index, { begun: block, texts: {} });
    } else if (typeof index === "number" && isJsonObject(delta)) {
      extend(blocks.get(index), delta);
    } else if (isJsonObject(delta)) {
      // Each event tells the counts up to it; a count that it leaves out stays as it was.
      const before = message["usage"];
      const told = { ...(isJsonObject(before) && before), ...(isJsonObject(usage) && usage) };
      message = { ...message, ...delta, usage: told };
    }
    return true;
  }

  function extend(block: Block | undefined, delta: JsonObject): void {
    for (const [name, member] of Object.entries(texts)) {
      const text = delta[name];
      if (!block || typeof text !== "string") continue;
      keep(text.length);
      block.texts[member] = (block.texts[member] ?? "") + text;
    }
  }

  function gathered(): JsonObject {
    const sorted = [...blocks].toSorted(([a], [b]) => a - b);
    return { ...message, content: sorted.map(([, block]) => toBlock(block)) };
  }

  return {
    follow: (stream, connection) =>
      followParts(stream, connection, { read, isWhole: () => isDone }),
    isComplete: () => isDone,
    isDone: () => isDone,
    failure: () => undefined,
    answer: () => readMessageAnswer(gathered()),
  };
}

function toBlock({ begun, texts: { input, ...said } }: Block): JsonValue {
  const own = { ...begun, ...said };
  // The arguments of a tool that broke off are text.
  return input === undefined ? own : { ...own, input: tryParseJson(input) ?? input };
}
