// Chat messages in one form, whichever convention wrote them: `{role, content, tool_calls?,
// tool_call_id?, …}` with tool calls as the OpenAI API has them. Used by conventions/.
// Source: docs/spec.md, "Event record" (chat_history, outputs of a chat reply).

import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { place, type Draft } from "./draft.ts";
import { itemsOf, parseJsonText, setOwn, type MutableObject } from "./values.ts";

/** A message; `finish_reason` is moved out before it is placed. */
export type Message = JsonObject;

/**
 * Reads messages from a list of them, JSON text of one, or a plain text (which `role` said).
 * Returns undefined where there is nothing that reads as messages.
 */
export function readMessages(payload: JsonValue | undefined, role: string): Message[] | undefined {
  if (payload === undefined || payload === null) return undefined;
  const value = parseJsonText(payload);
  if (typeof value === "string") return [{ role, content: value }];
  if (isJsonObject(value) && Array.isArray(value["messages"])) {
    return readMessages(value["messages"], role);
  }
  if (isJsonObject(value) && looksLikeMessage(value)) return readMessage(value, role);
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const messages: Message[] = [];
  for (const item of value as readonly JsonValue[]) {
    if (typeof item === "string") messages.push({ role, content: item });
    else if (isJsonObject(item) && looksLikeMessage(item))
      messages.push(...readMessage(item, role));
    else return undefined;
  }
  return messages;
}

function looksLikeMessage(value: JsonObject): boolean {
  return "role" in value || "content" in value || "parts" in value || "tool_calls" in value;
}

/** Reads one message; one with several tool results becomes one message for each. */
export function readMessage(source: JsonObject, defaultRole: string): Message[] {
  const message: MutableObject = {};
  setOwn(message, "role", typeof source["role"] === "string" ? source["role"] : defaultRole);
  const parts = readParts(source);
  if (parts.content !== undefined) message["content"] = parts.content;
  const calls = [...itemsOf(source["tool_calls"]).map(readToolCall), ...parts.toolCalls];
  if (calls.length > 0) message["tool_calls"] = calls;
  if (parts.reasoning !== undefined) message["reasoning"] = parts.reasoning;
  for (const key of Object.keys(source)) {
    if (readKeys.has(key) || Object.hasOwn(message, key)) continue;
    const value = source[key];
    if (value !== null && value !== undefined) setOwn(message, key, value);
  }
  if (parts.toolResults.length === 0) return [message];
  const hasMore = Object.hasOwn(message, "content") || calls.length > 0;
  return hasMore ? [message, ...parts.toolResults] : parts.toolResults;
}

const readKeys = new Set(["role", "content", "parts", "tool_calls"]);

type Parts = {
  content: JsonValue | undefined;
  reasoning: string | undefined;
  readonly toolCalls: JsonValue[];
  readonly toolResults: Message[];
};

// Content is a text where it is nothing but text, and the parts as they came where it is not.
function readParts(source: JsonObject): Parts {
  const parts: Parts = { content: undefined, reasoning: undefined, toolCalls: [], toolResults: [] };
  const list = Array.isArray(source["parts"]) ? source["parts"] : source["content"];
  if (!Array.isArray(list)) {
    parts.content = source["content"] ?? undefined;
    return parts;
  }
  const others: JsonValue[] = [];
  for (const part of list as readonly JsonValue[]) readPart(part, parts, others);
  if (others.length === 0) return parts;
  const texts = others.map(textOfPart);
  parts.content = texts.every((text) => text !== undefined) ? texts.join("\n") : others;
  return parts;
}

function readPart(part: JsonValue, parts: Parts, others: JsonValue[]): void {
  const type = isJsonObject(part) ? part["type"] : undefined;
  if (!isJsonObject(part)) others.push(part);
  else if (type === "tool_call" || type === "tool-call") parts.toolCalls.push(readToolCall(part));
  else if (type === "tool_call_response" || type === "tool-result") {
    parts.toolResults.push(readToolResult(part));
  } else if (type === "reasoning" || type === "thinking") {
    const text = textOfPart({ ...part, type: "text" });
    if (text === undefined) others.push(part);
    else parts.reasoning = parts.reasoning === undefined ? text : `${parts.reasoning}\n${text}`;
  } else others.push(part);
}

function textOfPart(part: JsonValue): string | undefined {
  if (typeof part === "string") return part;
  if (!isJsonObject(part)) return undefined;
  const type = part["type"];
  if (type !== undefined && type !== "text" && type !== "input_text" && type !== "output_text") {
    return undefined;
  }
  const text = part["text"] ?? part["content"] ?? part["thinking"];
  return typeof text === "string" ? text : undefined;
}

/** Returns a tool call in the form of the OpenAI API, arguments as JSON text. */
export function readToolCall(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value;
  const named = isJsonObject(value["function"]) ? value["function"] : value;
  const name = named["name"] ?? value["toolName"];
  const passed = named["arguments"] ?? value["args"] ?? value["input"];
  const id = value["id"] ?? value["toolCallId"];
  if (typeof name !== "string") return value;
  const described: MutableObject = { name };
  if (passed !== undefined && passed !== null) described["arguments"] = toText(passed);
  const call: MutableObject = { type: "function", function: described };
  return typeof id === "string" ? { id, ...call } : call;
}

function readToolResult(part: JsonObject): Message {
  const id = part["id"] ?? part["toolCallId"];
  const name = part["name"] ?? part["toolName"];
  const output = part["response"] ?? part["result"] ?? part["output"] ?? null;
  const message: MutableObject = { role: "tool", content: toText(unwrapOutput(output)) };
  if (typeof id === "string") message["tool_call_id"] = id;
  if (typeof name === "string") message["name"] = name;
  return message;
}

// Vercel wraps a tool's output as {type: "text" | "json", value}.
function unwrapOutput(output: JsonValue): JsonValue {
  const wrapped = isJsonObject(output) && typeof output["type"] === "string" && "value" in output;
  return wrapped ? (output["value"] ?? null) : output;
}

function toText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Puts messages into `inputs.chat_history`; false where another convention already did. */
export function placeHistory(draft: Draft, messages: readonly Message[] | undefined): boolean {
  if (messages === undefined || messages.length === 0) return false;
  if (Object.hasOwn(draft.buckets.inputs, "chat_history")) return false;
  return place(draft, "inputs", "chat_history", messages.map(withoutFinishReason));
}

/**
 * Puts a reply into `outputs`: role, content and tool calls of the first message, and all of them
 * in `outputs.choices` where there are several. False where another convention already did.
 */
export function placeReply(draft: Draft, messages: readonly Message[] | undefined): boolean {
  const [first] = messages ?? [];
  if (messages === undefined || first === undefined) return false;
  if (hasReply(draft)) return false;
  for (const [key, value] of Object.entries(withoutFinishReason(first))) {
    place(draft, "outputs", key, value);
  }
  if (messages.length > 1) {
    place(draft, "outputs", "choices", messages.map(withoutFinishReason));
  }
  const reasons = messages.map((message) => message["finish_reason"]);
  if (reasons.every((reason) => typeof reason === "string" && reason !== "")) {
    if (!draft.left.has("gen_ai.response.finish_reasons")) {
      place(draft, "metadata", "finish_reasons", reasons as string[]);
    }
  }
  return true;
}

/** Tells whether some convention has filled the history. */
export function hasHistory(draft: Draft): boolean {
  return Object.hasOwn(draft.buckets.inputs, "chat_history");
}

/** Tells whether some convention has filled the reply. */
export function hasReply(draft: Draft): boolean {
  const { outputs } = draft.buckets;
  return Object.hasOwn(outputs, "role") || Object.hasOwn(outputs, "content");
}

function withoutFinishReason(message: Message): Message {
  if (!("finish_reason" in message)) return message;
  const { finish_reason: _, ...rest } = message;
  return rest;
}
