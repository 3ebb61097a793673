// Converts chat messages of all conventions to one form: `{role, content, tool_calls?,
// tool_call_id?, …}`, with tool calls as in the OpenAI API.
// Source: docs/spec.md, "Event record" (chat_history, outputs of a chat reply).

import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  setOwn,
  type MutableObject,
} from "../../base/json.ts";
import { isEmbedding, place, type Draft } from "./draft.ts";
import { itemsOf, parseJsonText } from "./values.ts";

/** A message; `finish_reason` is moved elsewhere before the message is placed. */
export type Message = JsonObject;

/**
 * Reads messages from a list of messages, JSON text of one, or plain text from `role`. Returns
 * undefined if the payload cannot be read as messages.
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
    else if (isJsonObject(item) && looksLikeMessage(item)) {
      for (const message of readMessage(item, role)) messages.push(message);
    } else return undefined;
  }
  return messages;
}

/**
 * Returns whether a payload, parsed if it was JSON text, contains only messages, so that it need
 * not be kept in addition to them.
 */
export function isOnlyMessages(payload: JsonValue): boolean {
  return !isJsonObject(payload) || !("messages" in payload) || Object.keys(payload).length === 1;
}

/**
 * Moves an attribute of messages to the history; returns false if there are no messages or the
 * history is already set.
 */
export function moveHistory(draft: Draft, attribute: string): boolean {
  const payload = parseJsonText(draft.left.get(attribute) ?? null);
  if (!placeHistory(draft, readMessages(payload, "user"))) return false;
  if (isOnlyMessages(payload)) draft.left.delete(attribute);
  return true;
}

/**
 * Moves an attribute of messages to the reply; returns false if there are no messages or the reply
 * is already set.
 */
export function moveReply(draft: Draft, attribute: string): boolean {
  const payload = parseJsonText(draft.left.get(attribute) ?? null);
  if (!placeReply(draft, readMessages(payload, "assistant"))) return false;
  if (isOnlyMessages(payload)) draft.left.delete(attribute);
  return true;
}

function looksLikeMessage(value: JsonObject): boolean {
  return "role" in value || "content" in value || "parts" in value || "tool_calls" in value;
}

/** Reads one message; each tool result in it becomes one, before what a user says in addition. */
export function readMessage(source: JsonObject, defaultRole: string): Message[] {
  const message: MutableObject = {};
  setOwn(message, "role", roleOf(source["role"], defaultRole));
  const parts = readParts(source);
  if (parts.content !== undefined) message["content"] = parts.content;
  if (parts.toolCalls.length > 0) message["tool_calls"] = parts.toolCalls;
  if (parts.reasoning !== undefined) message["reasoning"] = parts.reasoning;
  copyRest(message, source);
  const said = Object.keys(message).length > 1 || parts.toolResults.length === 0 ? [message] : [];
  const isAnswer = message["role"] === "user";
  return isAnswer ? [...parts.toolResults, ...said] : [...said, ...parts.toolResults];
}

// Gemini calls the assistant `model`; OpenLLMetry says `unknown` or nothing of streamed replies.
function roleOf(role: JsonValue | undefined, defaultRole: string): string {
  const isKnown = typeof role === "string" && role !== "" && role !== "unknown";
  return role === "model" ? "assistant" : isKnown ? role : defaultRole;
}

// Copies the other keys of a message. `parts` and `tool_calls` that are not lists were not read, so
// they are copied too.
function copyRest(message: MutableObject, source: JsonObject): void {
  for (const key in source) {
    const value = source[key] ?? null;
    const isList = typeof value === "object";
    const wasRead =
      key === "content" ||
      (key === "role" && typeof value === "string") ||
      (key === "parts" && isJsonArray(value)) ||
      (key === "tool_calls" && isList);
    if (wasRead || value === null) continue;
    setOwn(message, Object.hasOwn(message, key) ? `attribute.${key}` : key, value);
  }
}

type Parts = {
  content: JsonValue | undefined;
  reasoning: string | undefined;
  /** Calls listed beside the parts come first. */
  readonly toolCalls: JsonValue[];
  readonly toolResults: Message[];
};

// The content is text if it consists only of text; otherwise it is the unchanged parts.
function readParts(source: JsonObject): Parts {
  const toolCalls = itemsOf(source["tool_calls"]).map(readToolCall);
  const parts: Parts = { content: undefined, reasoning: undefined, toolCalls, toolResults: [] };
  const content = source["content"] ?? undefined;
  const listed = source["parts"];
  if (!isJsonArray(listed) && !isJsonArray(content)) {
    parts.content = content;
    return parts;
  }
  const list = isJsonArray(listed) ? [...partsOf(content), ...listed] : partsOf(content);
  const only = list.length === 1 ? textOfPart(list[0]) : undefined;
  if (only !== undefined) {
    parts.content = only;
    return parts;
  }
  const others: JsonValue[] = [];
  const listedIds = new Set(toolCalls.map(idOfCall));
  for (const part of list) readPart(part, { parts, others, listedIds });
  if (others.length === 0) return parts;
  const texts = others.map((part) => textOfPart(part));
  parts.content = texts.every((text) => text !== undefined) ? texts.join("\n") : others;
  return parts;
}

function partsOf(content: JsonValue | undefined): readonly JsonValue[] {
  if (content === undefined) return [];
  return isJsonArray(content) ? content : [content];
}

type ReadingParts = {
  readonly parts: Parts;
  /** Parts that stay in the content. */
  readonly others: JsonValue[];
  /** Ids of the calls beside the parts: LangChain gives a call of Anthropic in both places. */
  readonly listedIds: ReadonlySet<JsonValue>;
};

function idOfCall(call: JsonValue): JsonValue {
  return isJsonObject(call) ? (call["id"] ?? null) : null;
}

function readPart(source: JsonValue, { parts, others, listedIds }: ReadingParts): void {
  const part = isJsonObject(source) ? withType(source) : source;
  const type = isJsonObject(part) ? (part["type"] ?? null) : null;
  if (!isJsonObject(part)) others.push(part);
  else if (callTypes.has(type)) {
    const call = readToolCall(part);
    const id = idOfCall(call);
    if (id === null || !listedIds.has(id)) parts.toolCalls.push(call);
  } else if (resultTypes.has(type)) parts.toolResults.push(readToolResult(part));
  else if (reasoningTypes.has(type)) {
    const text = textOfPart(part, reasoningTypes);
    if (text === undefined) others.push(source);
    else parts.reasoning = joinTexts(parts.reasoning, readSummary(text));
  } else others.push(source);
}

/** Joins two texts by a line break; returns the second if there is no first. */
export function joinTexts(a: string | undefined, b: string): string {
  return a === undefined ? b : `${a}\n${b}`;
}

// OpenLLMetry sends the summaries of OpenAI's reasoning as JSON text.
function readSummary(text: string): string {
  const list = parseJsonText(text);
  if (!isJsonArray(list) || list.length === 0) return text;
  const texts = list.map((one) => textOfPart(one, summaryTypes));
  return texts.every((one) => one !== undefined) ? texts.join("\n") : text;
}

/** Keys that name the kind of a part without a type, as Bedrock and Gemini write parts. */
const typeOfKey: Readonly<Record<string, string>> = {
  toolUse: "tool_call",
  functionCall: "tool_call",
  function_call: "tool_call",
  toolResult: "tool_call_response",
  functionResponse: "tool_call_response",
  function_response: "tool_call_response",
};

function withType(part: JsonObject): JsonObject {
  if ("type" in part) return part;
  if (part["thought"] === true) {
    const { thought: _, ...rest } = part;
    return { ...rest, type: "reasoning" };
  }
  for (const key in part) {
    const inner = part[key];
    if (!Object.hasOwn(typeOfKey, key) || !isJsonObject(inner)) continue;
    const { [key]: _, ...rest } = part;
    return { ...rest, ...inner, type: typeOfKey[key] ?? null };
  }
  return part;
}

const callTypes: ReadonlySet<JsonValue> = new Set(["tool_call", "tool-call", "tool_use"]);
const resultTypes: ReadonlySet<JsonValue> = new Set([
  "tool_call_response",
  "tool-result",
  "tool_result",
]);
const reasoningTypes: ReadonlySet<JsonValue> = new Set(["reasoning", "thinking"]);
const summaryTypes: ReadonlySet<JsonValue> = new Set(["summary_text"]);
const textTypes: ReadonlySet<JsonValue> = new Set(["text", "input_text", "output_text"]);
/** Types of parts that stay as they are. */
const otherTypes: ReadonlySet<JsonValue> = new Set([
  "audio",
  "document",
  "file",
  "image",
  "image_url",
  "input_audio",
  "input_file",
  "input_image",
  "refusal",
]);

/**
 * Returns the parts in the content of a message, if it is the JSON text of a list of parts;
 * otherwise the content as it is. A list of anything else is what a person or a model said.
 */
export function parseParts(content: JsonValue): JsonValue {
  const list = parseJsonText(content);
  return isJsonArray(list) && list.length > 0 && list.every(isPart) ? list : content;
}

function isPart(source: JsonValue): boolean {
  if (!isJsonObject(source)) return false;
  const type = withType(source)["type"] ?? null;
  const isTyped = [callTypes, resultTypes, reasoningTypes, otherTypes].some((one) => one.has(type));
  return isTyped || textOfPart(source) !== undefined;
}

const textKeys = ["text", "content", "thinking", "reasoning"];

// A part with keys in addition to its text is not only text, unless they say nothing.
function textOfPart(part: JsonValue | undefined, types = textTypes): string | undefined {
  if (typeof part === "string") return part;
  if (!isJsonObject(part) || !types.has(part["type"] ?? "text")) return undefined;
  let text: JsonValue | undefined;
  for (const key in part) {
    if (key === "type" || isNothing(part[key])) continue;
    if (text !== undefined || !textKeys.includes(key)) return undefined;
    text = part[key];
  }
  return typeof text === "string" ? text : undefined;
}

function isNothing(value: JsonValue | undefined): boolean {
  return value === null || (isJsonArray(value) && value.length === 0);
}

/** Returns a tool call in the form of the OpenAI API, arguments as JSON text. */
export function readToolCall(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value;
  const rest: MutableObject = { ...value };
  const inner = isJsonObject(value["function"]) ? value["function"] : undefined;
  const described: MutableObject = { ...inner };
  if (inner !== undefined) delete rest["function"];
  const name = inner?.["name"] ?? takeFirst(rest, ["name", "toolName"]);
  if (typeof name !== "string") return value;
  const passed = inner?.["arguments"] ?? takeFirst(rest, ["arguments", "args", "input"]);
  const id = takeFirst(rest, ["id", "toolCallId", "toolUseId"]);
  const type = rest["type"] ?? "function";
  if (type === "function" || callTypes.has(type)) delete rest["type"];
  described["name"] = name;
  if (passed !== undefined) described["arguments"] = toText(passed);
  const call: MutableObject = { type: "function", function: described };
  return { ...(id === undefined ? {} : { id }), ...call, ...rest };
}

function readToolResult(part: JsonObject): Message {
  const { type: _, ...rest } = part;
  const source: MutableObject = rest;
  const id = takeFirst(source, ["id", "toolCallId", "toolUseId", "tool_use_id"]);
  const name = takeFirst(source, ["name", "toolName"]);
  const output = takeFirst(source, ["response", "result", "output", "content"]) ?? null;
  const message: MutableObject = { role: "tool", content: toText(unwrapOutput(output)) };
  if (id !== undefined) message["tool_call_id"] = id;
  if (name !== undefined) message["name"] = name;
  return { ...source, ...message };
}

/** Removes the first of `keys` with a value from `source` and returns the value. */
function takeFirst(source: MutableObject, keys: readonly string[]): JsonValue | undefined {
  for (const key of keys) {
    const value = source[key];
    if (value === undefined || value === null) continue;
    // The copy is ours, and small.
    // oxlint-disable-next-line typescript/no-dynamic-delete
    delete source[key];
    return value;
  }
  return undefined;
}

/**
 * Returns what a tool answered, without what senders put around it: the text of a list of texts,
 * the value of Bedrock's `[{json}]` and of Vercel's `{type: "text" | "json", value}`.
 */
export function unwrapOutput(output: JsonValue): JsonValue {
  if (isJsonArray(output)) {
    const [first] = output;
    const isJson = output.length === 1 && isJsonObject(first) && isOnlyKey(first, "json");
    if (isJson) return first["json"] ?? null;
    const texts = output.map((part) =>
      isJsonObject(part) && "text" in part ? textOfPart(part) : undefined,
    );
    return texts.length > 0 && texts.every((text) => text !== undefined)
      ? texts.join("\n")
      : output;
  }
  const wrapped = isJsonObject(output) && typeof output["type"] === "string" && "value" in output;
  return wrapped ? (output["value"] ?? null) : output;
}

function isOnlyKey(value: JsonObject, key: string): boolean {
  return key in value && Object.keys(value).length === 1;
}

function toText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Puts messages into `inputs`; returns false if another convention already did. */
export function placeHistory(draft: Draft, messages: readonly Message[] | undefined): boolean {
  if (messages === undefined || messages.length === 0) return false;
  if (isEmbedding(draft)) return placeTexts(draft, messages);
  if (Object.hasOwn(draft.buckets.inputs, "chat_history")) return false;
  return place(draft, "inputs", "chat_history", messages.map(withoutFinishReason));
}

function placeTexts(draft: Draft, messages: readonly Message[]): boolean {
  if (Object.hasOwn(draft.buckets.inputs, "texts")) return false;
  const texts = messages.map((message) => message["content"] ?? null);
  return place(draft, "inputs", "texts", texts);
}

/**
 * Puts a reply into `outputs`: the first message, and several in `outputs.choices`; of an agent's
 * run, with its results of tools, the last, and all in `outputs.messages`. Returns false if another
 * convention already did.
 */
export function placeReply(draft: Draft, messages: readonly Message[] = []): boolean {
  const last = messages.at(-1);
  const isRun = last?.["role"] === "assistant" && messages.some(({ role }) => role === "tool");
  const reply = isRun ? last : messages[0];
  if (reply === undefined || hasReply(draft)) return false;
  for (const key in reply) {
    if (key !== "finish_reason") place(draft, "outputs", key, reply[key] ?? null);
  }
  if (messages.length > 1) {
    place(draft, "outputs", isRun ? "messages" : "choices", messages.map(withoutFinishReason));
  }
  const reasons = messages.map((message) => message["finish_reason"]);
  if (reasons.every((reason) => typeof reason === "string" && reason !== "")) {
    if (!draft.left.has("gen_ai.response.finish_reasons")) {
      place(draft, "metadata", "finish_reasons", reasons as string[]);
    }
  }
  return true;
}

/** Returns whether a convention has filled the history. */
export function hasHistory(draft: Draft): boolean {
  return Object.hasOwn(draft.buckets.inputs, "chat_history");
}

/** Returns whether a convention has filled the reply. */
export function hasReply(draft: Draft): boolean {
  const { outputs } = draft.buckets;
  return Object.hasOwn(outputs, "role") || Object.hasOwn(outputs, "content");
}

function withoutFinishReason(message: Message): Message {
  if (!("finish_reason" in message)) return message;
  const { finish_reason: _, ...rest } = message;
  return rest;
}
