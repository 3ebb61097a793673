// Reads requests and answers of Anthropic's Messages API into the fields that are recorded.
// Source: the Anthropic API reference, Messages; docs/decisions.md, 21.9.

import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  omit,
} from "../../base/json.ts";
import { readMessage, readMessages } from "../../tracing/spans/messages.ts";
import { type ReadAnswer, textOf } from "../openai/answer.ts";
import { type Usage, usageFrom } from "../usage.ts";

/** Returns the conversation of a request: its system prompt and its messages. */
export function toChatHistory({ system, messages }: JsonObject): readonly JsonValue[] {
  const instructions = readMessages(toContent(system), "system") ?? [];
  const said = asList(messages).map(withoutSignatures);
  return [...instructions, ...(readMessages(said, "user") ?? said)];
}

/**
 * Returns a message without the signatures of its reasoning, by which only the provider reads it
 * again.
 */
function withoutSignatures(message: JsonValue): JsonValue {
  if (!isJsonObject(message) || !isJsonArray(message["content"])) return message;
  const content = message["content"].map((block) =>
    isJsonObject(block) && block["type"] === "thinking" ? omit(block, ["signature"]) : block,
  );
  return { ...message, content };
}

/** A system prompt is a text, or a list of blocks. */
function toContent(system: JsonValue | undefined): JsonValue | undefined {
  return isJsonArray(system) ? [{ role: "system", content: system }] : system;
}

function asList(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(value) ? value : [];
}

/** Reads an answer, which may be incomplete. */
export function readMessageAnswer(json: JsonObject): ReadAnswer {
  const { stop_reason: reason, content } = json;
  return {
    outputs: asList(content).length === 0 ? {} : toOutputs(asList(content)),
    finishReasons: typeof reason === "string" ? [reasons.get(reason) ?? reason] : [],
    responseModel: textOf(json["model"]),
    responseId: textOf(json["id"]),
    usage: readUsage(json["usage"]),
  };
}

/** Returns the one message of an answer. Blocks that are no message are recorded as they are. */
function toOutputs(content: readonly JsonValue[]): JsonObject {
  const said = withoutSignatures({ role: "assistant", content }) as JsonObject;
  const [first, ...others] = readMessage(said, "assistant");
  return first !== undefined && others.length === 0 ? first : said;
}

/** Reasons as chats name them. */
const reasons: ReadonlyMap<string, string> = new Map([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["tool_use", "tool_calls"],
  ["refusal", "content_filter"],
]);

/** Reasoning is part of the output; the API does not count it apart. */
function readUsage(usage: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(usage) || typeof usage["input_tokens"] !== "number") return undefined;
  const counts: { readonly [Part in keyof Usage]?: JsonValue | undefined } = {
    input: usage["input_tokens"],
    cacheRead: usage["cache_read_input_tokens"],
    cacheWrite: usage["cache_creation_input_tokens"],
    output: usage["output_tokens"],
  };
  return usageFrom((part) => {
    const count = Number(counts[part] ?? 0);
    return Number.isSafeInteger(count) && count > 0 ? count : 0;
  });
}
