// Items of OpenAI's Responses API as chat messages: one reply is a list of its reasoning, its calls
// and its text. Source: the OpenAI API reference, Responses.

import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type MutableObject,
  setOwn,
} from "../../base/json.ts";
import { joinTexts, type Message, readMessage, readToolCall } from "./messages.ts";
import { isSameJson } from "./values.ts";

/** Reads items as messages; undefined for another list. Calls of built-in tools are left out. */
export function readItems(items: JsonValue | undefined): Message[] | undefined {
  if (!isJsonArray(items) || items.length === 0) return undefined;
  const messages: Message[] = [];
  for (const item of items) {
    const read = isJsonObject(item) ? readItem(item) : undefined;
    if (read === undefined) return undefined;
    messages.push(...read);
  }
  return joinReplies(messages);
}

function readItem(item: JsonObject): Message[] | undefined {
  const { type, role, content, call_id: id, name } = item;
  if (type === "message" || (type === undefined && "content" in item)) {
    return typeof role === "string" ? readMessage({ role, content: content ?? null }, role) : [];
  }
  if (type === "reasoning") return readReasoning(item["summary"]) ?? readReasoning(content) ?? [];
  if (type === "function_call" && typeof name === "string") {
    const call = readToolCall({ id: id ?? null, name, arguments: item["arguments"] ?? "" });
    return [{ role: "assistant", tool_calls: [call] }];
  }
  if (type === "function_call_output") {
    const output = item["output"] ?? null;
    const text = typeof output === "string" ? output : JSON.stringify(output);
    return [{ role: "tool", content: text, tool_call_id: id ?? null }];
  }
  return typeof type === "string" && /_(call|call_output|reference)$/.test(type) ? [] : undefined;
}

function readReasoning(parts: JsonValue | undefined): Message[] | undefined {
  if (!isJsonArray(parts) || parts.length === 0) return undefined;
  const texts = parts.flatMap((part) => {
    const text = isJsonObject(part) ? part["text"] : undefined;
    return typeof text === "string" ? [text] : [];
  });
  return [{ role: "assistant", reasoning: texts.join("\n") }];
}

/** Joins messages of the assistant that follow each other, as the items of one reply do. */
export function joinReplies(messages: readonly Message[]): Message[] {
  const joined: Message[] = [];
  for (const message of messages) {
    const before = joined.at(-1);
    const both = before === undefined ? undefined : join(before, message);
    if (both === undefined) joined.push(message);
    else joined[joined.length - 1] = both;
  }
  return joined;
}

// Other keys of the messages have to say the same.
function join(a: Message, b: Message): Message | undefined {
  if (a["role"] !== "assistant" || b["role"] !== "assistant") return undefined;
  const both: MutableObject = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const held = both[key];
    const sum = held === undefined ? value : add(key, held, value);
    if (sum === undefined) return undefined;
    setOwn(both, key, sum);
  }
  return both;
}

function add(key: string, a: JsonValue, b: JsonValue): JsonValue | undefined {
  const areTexts = typeof a === "string" && typeof b === "string";
  if ((key === "content" || key === "reasoning") && areTexts) return joinTexts(a, b);
  if (key === "content" || key === "tool_calls") {
    return [...(isJsonArray(a) ? a : [a]), ...(isJsonArray(b) ? b : [b])];
  }
  return isSameJson(a, b) ? a : undefined;
}
