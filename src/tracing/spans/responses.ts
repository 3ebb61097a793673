// Converts items of OpenAI's Responses API to chat messages. The items of one reply are its
// reasoning, its tool calls and its texts. Source: the OpenAI API reference, Responses.

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
    for (const message of read) messages.push(message);
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
  const joined: MutableObject[] = [];
  for (const message of messages) {
    const before = joined.at(-1);
    const reply = before !== undefined && isSameReply(before, message) ? before : {};
    if (reply !== before) joined.push(reply);
    append(reply, message);
  }
  return joined;
}

/** Keys whose values are joined; all others have to say the same. */
const joinedKeys: ReadonlySet<string> = new Set(["content", "reasoning", "tool_calls"]);

function isSameReply(a: JsonObject, b: JsonObject): boolean {
  if (a["role"] !== "assistant" || b["role"] !== "assistant") return false;
  return Object.entries(b).every(
    ([key, value]) =>
      !Object.hasOwn(a, key) || joinedKeys.has(key) || isSameJson(a[key] ?? null, value),
  );
}

// The lists of a reply are its own and grow in place, since it may have as many items as its span
// has room for.
function append(reply: MutableObject, message: JsonObject): void {
  for (const [key, value] of Object.entries(message)) {
    const held = Object.hasOwn(reply, key) ? reply[key] : undefined;
    if (held === undefined) setOwn(reply, key, isJsonArray(value) ? [...value] : value);
    else if (!joinedKeys.has(key)) continue;
    else if (typeof held === "string" && typeof value === "string") {
      reply[key] = joinTexts(held, value);
    } else {
      const list = isJsonArray(held) ? (held as JsonValue[]) : [held];
      for (const one of isJsonArray(value) ? value : [value]) list.push(one);
      reply[key] = list;
    }
  }
}
