// Google ADK: requests and responses of Gemini's API, and payloads of tool calls, as JSON text.
// They become the GenAI attributes that its later releases send. Source: google-adk 1 and 2.

import {
  isEmpty,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type MutableObject,
  setOwn,
} from "../../../base/json.ts";
import type { Draft } from "../draft.ts";
import { isSameJson, parseJsonText } from "../values.ts";
import type { Convention } from "./convention.ts";

export const googleAdk: Convention = {
  fields: {
    "gcp.vertex.agent.session_id": ["metadata.session_id", "metadata.conversation_id"],
  },
  prepare: adoptPayloads,
};

type Reader = (value: JsonValue) => JsonValue | undefined;
/** Path of a value, the attribute that it becomes, and its conversion. */
type Line = readonly [string, string, Reader?];

const payloads: Readonly<Record<string, readonly Line[]>> = {
  "gcp.vertex.agent.llm_request": [
    ["model", "gen_ai.request.model"],
    ["contents", "gen_ai.input.messages", readContents],
    ["config.system_instruction", "gen_ai.system_instructions", readInstruction],
    ["config.tools", "gen_ai.tool.definitions", readTools],
    ["config.temperature", "gen_ai.request.temperature"],
    ["config.top_p", "gen_ai.request.top_p"],
    ["config.top_k", "gen_ai.request.top_k"],
    ["config.max_output_tokens", "gen_ai.request.max_tokens"],
    ["config.presence_penalty", "gen_ai.request.presence_penalty"],
    ["config.frequency_penalty", "gen_ai.request.frequency_penalty"],
    ["config.stop_sequences", "gen_ai.request.stop_sequences"],
    ["config.candidate_count", "gen_ai.request.choice.count"],
    ["config.seed", "gen_ai.request.seed"],
  ],
  "gcp.vertex.agent.llm_response": [
    ["content", "gen_ai.output.messages", (content) => readContents([content])],
    ["model_version", "gen_ai.response.model"],
    ["finish_reason", "gen_ai.response.finish_reasons", readReason],
    ["usage_metadata.prompt_token_count", "gen_ai.usage.input_tokens"],
    ["usage_metadata.candidates_token_count", "gen_ai.usage.output_tokens"],
    ["usage_metadata.total_token_count", "gen_ai.usage.total_tokens"],
    ["usage_metadata.cached_content_token_count", "gen_ai.usage.cache_read.input_tokens"],
    ["usage_metadata.thoughts_token_count", "gen_ai.usage.reasoning_tokens"],
  ],
};

/** Payloads of tool calls, which are read whole. */
const wholePayloads = [
  ["gcp.vertex.agent.tool_call_args", "gen_ai.tool.call.arguments"],
  ["gcp.vertex.agent.tool_response", "gen_ai.tool.call.result"],
] as const;

function adoptPayloads(draft: Draft): void {
  if (draft.span.scope.name !== "gcp.vertex.agent") return;
  const attributes = new Map(draft.attributes);
  for (const [key, lines] of Object.entries(payloads)) {
    const payload = parseJsonText(attributes.get(key) ?? null);
    if (!isJsonObject(payload)) continue;
    const rest = adopt(attributes, payload, lines);
    if (rest === undefined) attributes.delete(key);
    else attributes.set(key, rest);
  }
  for (const [key, attribute] of wholePayloads) {
    const payload = attributes.get(key);
    if (payload === undefined || attributes.has(attribute)) continue;
    attributes.set(attribute, payload);
    attributes.delete(key);
  }
  const reply = joinChunks(parseJsonText(attributes.get("gen_ai.output.messages") ?? null));
  if (reply !== undefined) attributes.set("gen_ai.output.messages", [reply]);
  draft.attributes = attributes;
}

/**
 * Joins the chunks of a streamed reply, which are listed as messages, into one message. Only the
 * last chunk has a finish reason; the answer is undefined for a list of another kind.
 */
export function joinChunks(messages: JsonValue): JsonObject | undefined {
  if (!isJsonArray(messages) || messages.length < 2 || !messages.every(isContent)) return undefined;
  const before = messages.slice(0, -1);
  const last = messages.at(-1);
  const areChunks = before.every((one) => (one["finish_reason"] ?? "") === "");
  if (!areChunks || last === undefined) return undefined;
  const parts = joinParts(before);
  // The last may repeat the whole.
  return isSameJson(parts, last["parts"]) ? last : { ...last, parts: joinParts([{ parts }, last]) };
}

function joinParts(messages: readonly JsonObject[]): JsonValue[] {
  const parts: JsonValue[] = [];
  for (const part of messages.flatMap((one) => one["parts"] ?? [])) {
    const before = parts.at(-1) ?? null;
    const joined = joinText(before, part);
    if (joined === undefined) parts.push(part);
    else parts[parts.length - 1] = joined;
  }
  return parts;
}

function joinText(a: JsonValue, b: JsonValue): JsonValue | undefined {
  if (!isJsonObject(a) || !isJsonObject(b)) return undefined;
  if (a["type"] !== b["type"] || a["thought"] !== b["thought"]) return undefined;
  // Gemini's own parts have a text and no type.
  const key = "text" in b ? "text" : "content";
  const isText = key === "text" || b["type"] === "text" || b["type"] === "reasoning";
  const { [key]: before } = a;
  const { [key]: after } = b;
  if (!isText || typeof before !== "string" || typeof after !== "string") return undefined;
  return { ...b, [key]: before + after };
}

// Sets the attributes that a payload names, and returns what it says in addition to them. What the
// span says itself counts.
function adopt(
  attributes: Map<string, JsonValue>,
  payload: JsonObject,
  lines: readonly Line[],
): JsonValue | undefined {
  const rest: MutableObject = {};
  for (const [key, value] of Object.entries(payload)) {
    setOwn(rest, key, isJsonObject(value) ? { ...value } : value);
  }
  for (const [path, attribute, read = (value: JsonValue) => value] of lines) {
    const [outer = "", inner] = path.split(".");
    const holder = inner === undefined ? rest : rest[outer];
    const key = inner ?? outer;
    if (!isJsonObject(holder) || !Object.hasOwn(holder, key)) continue;
    const value = read(holder[key] ?? null);
    if (value === undefined || value === null) continue;
    if (!attributes.has(attribute)) attributes.set(attribute, value);
    else if (!isSameJson(attributes.get(attribute), value)) continue;
    Reflect.deleteProperty(holder, key);
  }
  return withoutEmpty(rest);
}

function withoutEmpty(value: MutableObject): JsonValue | undefined {
  const entries = Object.entries(value).filter(([, one]) => !isJsonObject(one) || !isEmpty(one));
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

// Gemini calls the assistant `model`.
function readContents(contents: JsonValue): JsonValue | undefined {
  if (!isJsonArray(contents) || !contents.every(isContent)) return undefined;
  return contents.map((one) => (one["role"] === "model" ? { ...one, role: "assistant" } : one));
}

function isContent(value: JsonValue): value is JsonObject {
  return isJsonObject(value) && isJsonArray(value["parts"] ?? null);
}

function readInstruction(value: JsonValue): JsonValue {
  return isContent(value) ? (value["parts"] ?? null) : value;
}

function readTools(tools: JsonValue): JsonValue | undefined {
  if (!isJsonArray(tools)) return undefined;
  return tools.flatMap((tool) => {
    const declared = isJsonObject(tool) ? (tool["function_declarations"] ?? null) : null;
    return isJsonArray(declared) ? declared : [tool];
  });
}

function readReason(reason: JsonValue): JsonValue | undefined {
  return typeof reason === "string" ? [reason.toLowerCase()] : undefined;
}
