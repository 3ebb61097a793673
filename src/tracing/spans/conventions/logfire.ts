// Logfire: calls of OpenAI's and Anthropic's clients, with their requests and replies as JSON text,
// which become the GenAI attributes of its version "latest", and runs of the OpenAI Agents SDK.
// Source: PyPI logfire 5.4: instrument_openai and _anthropic, version 1, instrument_openai_agents.

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
import { parseJsonText, rename } from "../values.ts";
import type { Convention } from "./convention.ts";

export const logfire: Convention = {
  prepare: adoptCall,
};

/** Scope of the runs of agents. */
export const agentsScope = "logfire.openai_agents";

const scopes: ReadonlySet<string> = new Set(["logfire.openai", "logfire.anthropic", agentsScope]);

const historyKey = "gen_ai.input.messages";
const replyKey = "gen_ai.output.messages";

/** Keys of requests of the clients, and the attributes that they become. */
const ofRequest: readonly (readonly [key: string, attribute: string])[] = [
  ["messages", historyKey],
  // Anthropic's.
  ["system", "gen_ai.system_instructions"],
  // Embeddings have an input, completions a prompt.
  ["input", historyKey],
  ["prompt", historyKey],
];

function adoptCall(draft: Draft): void {
  if (!scopes.has(draft.span.scope.name)) return;
  const attributes = new Map(draft.attributes);
  const isOfAgents = draft.span.scope.name === agentsScope;
  if (isOfAgents && draft.eventType === "tool") adoptTool(attributes);
  adoptRequest(attributes);
  adoptResponse(attributes);
  // The reply of a call stands behind its messages.
  if (isOfAgents) splitReply(attributes, attributes.get(historyKey) ?? null);
  adoptEvents(attributes);
  draft.attributes = attributes;
}

const ofTool = { input: "gen_ai.tool.call.arguments", output: "gen_ai.tool.call.result" };

function adoptTool(attributes: Map<string, JsonValue>): void {
  rename(Object.fromEntries(attributes), ofTool, attributes);
  for (const key of Object.keys(ofTool)) attributes.delete(key);
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
  if (attributes.has(historyKey) || attributes.has(replyKey)) return;
  const messages = joinReplies(events.map(toMessage));
  attributes.set(historyKey, messages);
  splitReply(attributes, messages);
  attributes.delete("events");
}

// Messages that end with one of the model have the reply.
function splitReply(attributes: Map<string, JsonValue>, messages: JsonValue): void {
  const last = isJsonArray(messages) ? messages.at(-1) : undefined;
  const isReply = isJsonObject(last) && last["role"] === "assistant" && !attributes.has(replyKey);
  if (!isReply || !isJsonArray(messages)) return;
  attributes.set(historyKey, messages.slice(0, -1));
  attributes.set(replyKey, [last]);
}

function isMessage(event: JsonValue): event is JsonObject {
  return isJsonObject(event) && typeof event["event.name"] === "string" && "role" in event;
}

function toMessage(event: JsonObject): Message {
  const { "event.name": _, id, ...message } = event;
  return id === undefined ? message : { ...message, tool_call_id: id };
}
