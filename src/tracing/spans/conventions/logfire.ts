// Logfire: calls of OpenAI's and Anthropic's clients, with their requests and replies as JSON text.
// They become the GenAI attributes that its version "latest" sends.
// Source: PyPI logfire 5.4, instrument_openai and instrument_anthropic, version 1.

import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  omit,
} from "../../../base/json.ts";
import type { Draft } from "../draft.ts";
import type { Message } from "../messages.ts";
import { joinReplies } from "../responses.ts";
import { parseJsonText } from "../values.ts";
import type { Convention } from "./convention.ts";

export const logfire: Convention = {
  prepare: adoptCall,
};

const scopes: ReadonlySet<string> = new Set(["logfire.openai", "logfire.anthropic"]);

/** Keys of requests of the clients, and the attributes that they become. */
const ofRequest: readonly (readonly [key: string, attribute: string])[] = [
  ["messages", "gen_ai.input.messages"],
  // Anthropic's.
  ["system", "gen_ai.system_instructions"],
  // Embeddings have an input, completions a prompt.
  ["input", "gen_ai.input.messages"],
  ["prompt", "gen_ai.input.messages"],
];

const replyKey = "gen_ai.output.messages";

function adoptCall(draft: Draft): void {
  if (!scopes.has(draft.span.scope.name)) return;
  const attributes = new Map(draft.attributes);
  adoptRequest(attributes);
  adoptResponse(attributes);
  adoptEvents(attributes);
  draft.attributes = attributes;
}

function adoptRequest(attributes: Map<string, JsonValue>): void {
  const request = parseJsonText(attributes.get("request_data") ?? null);
  if (!isJsonObject(request)) return;
  const taken: string[] = [];
  for (const [key, attribute] of ofRequest) {
    const value = Object.hasOwn(request, key) ? (request[key] ?? null) : null;
    if (value === null || attributes.has(attribute)) continue;
    attributes.set(attribute, value);
    taken.push(key);
  }
  if (taken.length > 0) attributes.set("request_data", omit(request, taken));
}

function adoptResponse(attributes: Map<string, JsonValue>): void {
  const response = parseJsonText(attributes.get("response_data") ?? null);
  if (!isJsonObject(response) || attributes.has(replyKey)) return;
  const reply = replyOf(response);
  if (reply === undefined) return;
  attributes.set(replyKey, [reply]);
  const rest = omit(response, ["message", "text", "combined_chunk_content"]);
  attributes.set("response_data", rest);
}

// A completion has a text, a stream of Anthropic the text of its chunks.
function replyOf({ message, text, combined_chunk_content: chunks }: JsonObject) {
  if (message !== undefined) return isJsonObject(message) ? message : undefined;
  const content = text ?? chunks;
  return typeof content === "string" ? { role: "assistant", content } : undefined;
}

// The items of a call of the Responses API are listed as events, the reply at the end.
function adoptEvents(attributes: Map<string, JsonValue>): void {
  const events = parseJsonText(attributes.get("events") ?? null);
  if (!isJsonArray(events) || !events.every(isMessage)) return;
  if (attributes.has("gen_ai.input.messages") || attributes.has(replyKey)) return;
  const messages = joinReplies(events.map(toMessage));
  const last = messages.at(-1);
  const isReply = last?.["role"] === "assistant";
  const history = isReply ? messages.slice(0, -1) : messages;
  if (history.length > 0) attributes.set("gen_ai.input.messages", history);
  if (isReply) attributes.set(replyKey, [last]);
  attributes.delete("events");
}

function isMessage(event: JsonValue): event is JsonObject {
  return isJsonObject(event) && typeof event["event.name"] === "string" && "role" in event;
}

function toMessage(event: JsonObject): Message {
  const { "event.name": _, id, ...message } = event;
  return id === undefined ? message : { ...message, tool_call_id: id };
}
