// OpenInference (Arize): flattened messages, documents and embeddings, input and output values.
// Source: OpenInference semantic conventions, 0.1.

import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  setOwn,
  type MutableObject,
  omit,
} from "../../../base/json.ts";
import {
  hasPrefix,
  keep,
  movePayload,
  place,
  placeOrKeep,
  take,
  takeItems,
  type Draft,
} from "../draft.ts";
import { hasHistory, hasReply, placeHistory, placeReply } from "../messages.ts";
import { moveHistory, readMessage, type Message } from "../messages.ts";
import { toModelInputs, toModelOutputs } from "../model-payload.ts";
import { joinReplies } from "../responses.ts";
import { isSameJson, itemsOf, parseJsonText } from "../values.ts";
import type { Convention } from "./convention.ts";

export const openInference: Convention = {
  fields: {
    "openinference.span.kind": "metadata.span_kind",
    "llm.request.model_name": "config.model",
    "llm.model_name": "config.model",
    "llm.response.model_name": "metadata.response_model",
    "embedding.model_name": "config.model",
    "reranker.model_name": "config.model",
    "llm.provider": ["config.provider", "metadata.provider"],
    "llm.system": "metadata.system",
    "llm.finish_reason": "metadata.finish_reason",
    "llm.prompt_template.version": "config.version",
    "reranker.query": "inputs.query",
    "reranker.top_k": "config.hyperparameters.top_k",
    "tool.name": "metadata.tool_name",
    "tool.description": "metadata.tool_description",
    "tool.id": "metadata.tool_call_id",
    "agent.name": "metadata.agent_name",
    "tag.tags": "metadata.tags",
    "input.mime_type": "metadata.input_mime_type",
    "output.mime_type": "metadata.output_mime_type",
  },
  usage: {
    "llm.token_count.prompt": "metadata.prompt_tokens",
    "llm.token_count.completion": "metadata.completion_tokens",
    "llm.token_count.total": "metadata.total_tokens",
    "llm.token_count.prompt_details.cache_read": "metadata.cache_read_input_tokens",
    "llm.token_count.prompt_details.cache_input": "metadata.cache_read_input_tokens",
    "llm.token_count.prompt_details.cache_write": "metadata.cache_write_input_tokens",
    "llm.token_count.completion_details.reasoning": "metadata.reasoning_tokens",
    "llm.cost.total": "metadata.cost",
  },
  read(draft) {
    const isResponse = isOfResponses(draft);
    readHistory(draft, isResponse);
    readReply(draft, isResponse);
    readParameters(draft, "llm.invocation_parameters");
    readParameters(draft, "embedding.invocation_parameters");
    readTemplate(draft);
    readTools(draft);
    readDocuments(draft);
    readEmbeddings(draft);
    readMetadata(draft);
    // The whole request and reply stay in addition to the messages read from them.
    if (!hasHistory(draft)) movePayload(draft, "input.value", "inputs", "input");
    if (!hasReply(draft)) movePayload(draft, "output.value", "outputs", "result");
  },
};

function readHistory(draft: Draft, isResponse: boolean): void {
  if (hasHistory(draft) || !hasPrefix(draft, "llm.input_messages.")) return;
  const read = isResponse ? readItem : readMessage;
  const messages = readMessageList(draft, "llm.input_messages.", "user", read);
  // LangGraph's root spans list only roles; the content is in the whole input.
  const isAllSilent = messages.every(isSilent);
  if (isAllSilent && moveHistory(draft, "input.value")) return;
  placeHistory(draft, isResponse ? joinReplies(messages) : fillHistory(draft, messages));
}

function readReply(draft: Draft, isResponse: boolean): void {
  if (hasReply(draft) || !hasPrefix(draft, "llm.output_messages.")) return;
  const messages = readMessageList(draft, "llm.output_messages.", "assistant", readMessage);
  // LiteLLM's instrumentation shows neither the request nor the reply of a call of this API.
  const isOfItems = isResponse || messages.some(isThought);
  placeReply(draft, isOfItems ? joinReplies(messages) : fillReply(draft, messages));
}

/** Returns whether a message is an item of reasoning, which is no choice of its own. */
function isThought(message: Message): boolean {
  return "reasoning" in message && !("content" in message) && !("tool_calls" in message);
}

function isSilent(message: Message): boolean {
  return Object.keys(message).length === 1;
}

/**
 * Returns whether a span with messages is a call of OpenAI's Responses API, whose instrumentation
 * lists each item of a reply as a message.
 */
function isOfResponses(draft: Draft): boolean {
  const prefixes = ["llm.input_messages.", "llm.output_messages."];
  if (!prefixes.some((prefix) => hasPrefix(draft, prefix))) return false;
  const output = parseJsonText(draft.left.get("output.value") ?? null);
  if (isJsonObject(output)) return output["object"] === "response";
  const input = parseJsonText(draft.left.get("input.value") ?? null);
  return isJsonObject(input) && "input" in input && !("messages" in input);
}

// LangChain.js leaves contents that are lists, and the ids of calls, out of the messages; the whole
// input and output have them.
function fillHistory(draft: Draft, messages: readonly Message[]): readonly Message[] {
  if (draft.eventType !== "model" || !messages.some(lacks)) return messages;
  const whole = toModelInputs(parseJsonText(draft.left.get("input.value") ?? null))["chat_history"];
  if (!isJsonArray(whole) || whole.length !== messages.length) return messages;
  return messages.map((one, index) => (lacks(one) ? fill(one, whole[index] ?? null) : one));
}

function fillReply(draft: Draft, messages: readonly Message[]): readonly Message[] {
  const [only] = messages;
  if (draft.eventType !== "model" || messages.length !== 1 || only === undefined) return messages;
  if (!lacks(only)) return messages;
  return [fill(only, toModelOutputs(parseJsonText(draft.left.get("output.value") ?? null)))];
}

function lacks(message: Message): boolean {
  const isOfNoCall = message["role"] === "tool" && message["tool_call_id"] === undefined;
  return isSilent(message) || isOfNoCall || callsWithoutId(message).length > 0;
}

function callsWithoutId({ tool_calls: calls }: JsonObject): readonly JsonValue[] {
  return itemsOf(calls).filter((call) => isJsonObject(call) && call["id"] === undefined);
}

function fill(message: Message, whole: JsonValue): Message {
  if (!isJsonObject(whole) || whole["role"] !== message["role"]) return message;
  const filled: MutableObject = { ...message };
  for (const key of ["content", "reasoning", "tool_calls", "tool_call_id"]) {
    const value = whole[key] ?? null;
    const isEmpty = value === null || value === "" || (isJsonArray(value) && value.length === 0);
    const isFree = !Object.hasOwn(filled, key) || key === "tool_calls";
    if (!isEmpty && isFree) filled[key] = value;
  }
  return filled;
}

function readMessageList(
  draft: Draft,
  prefix: string,
  role: string,
  read: typeof readMessage,
): Message[] {
  // The signatures of what Claude and Gemini thought are not said: they stay under their own keys.
  const signatures = [...draft.left].filter(([key]) => isSignature(key, prefix));
  for (const [key] of signatures) draft.left.delete(key);
  const items = takeItems(draft, prefix);
  for (const [key, value] of signatures) draft.left.set(key, value);
  return items.flatMap((item) => read(toMessage(unwrap(item, "message")), role));
}

function isSignature(key: string, prefix: string): boolean {
  return key.startsWith(prefix) && key.endsWith(".message_content.signature");
}

// The Agents SDK for JavaScript lists reasoning as a message without a role.
function readItem(item: JsonObject, role: string): Message[] {
  const { parts } = item;
  if ("role" in item || !isJsonArray(parts)) return readMessage(item, role);
  const reasoning = parts.map((part) =>
    isJsonObject(part) ? { ...part, type: "reasoning" } : part,
  );
  return readMessage({ ...item, role: "assistant", parts: reasoning }, role);
}

// Reads `message.contents.0.message_content.text` and
// `message.tool_calls.0.tool_call.function.name`.
function toMessage(item: JsonObject): JsonObject {
  const { contents, tool_calls: calls, ...message } = item;
  const read: MutableObject = { ...message };
  if (contents !== undefined) {
    const parts = itemsOf(contents).map((part) => toPart(unwrap(part, "message_content")));
    if (parts.length > 0) read["parts"] = parts;
    // Agno's spans have the text in both.
    if (parts.some(({ text }) => text === read["content"])) delete read["content"];
  }
  if (calls !== undefined) {
    read["tool_calls"] = itemsOf(calls).map((call) => unwrap(call, "tool_call"));
  }
  return read;
}

// A call among the contents is wrapped like those beside them. The id of OpenAI's reasoning stands
// in the whole output.
function toPart(part: JsonObject): JsonObject {
  const { tool_call: call, ...rest } = part;
  if (isJsonObject(call)) return { ...call, ...rest };
  return part["type"] === "reasoning" ? omit(part, ["id"]) : part;
}

// If an item has own keys in addition to the wrapped ones, the wrapped ones win.
function unwrap(item: JsonValue, name: string): JsonObject {
  if (!isJsonObject(item)) return { content: item };
  const inner = item[name];
  if (!isJsonObject(inner)) return item;
  const unwrapped: MutableObject = { ...inner };
  for (const [key, value] of Object.entries(omit(item, [name]))) {
    setOwn(unwrapped, Object.hasOwn(inner, key) ? `attribute.${key}` : key, value);
  }
  return unwrapped;
}

/** Parameters with a separate field, or that repeat the messages. */
const notHyperparameters: Readonly<Record<string, string>> = {
  model: "model",
  tools: "tools",
  tool_choice: "tool_choice",
  response_format: "response_format",
};

function readParameters(draft: Draft, key: string): void {
  const value = take(draft, key);
  if (value === undefined) return;
  const parameters = parseJsonText(value);
  if (!isJsonObject(parameters)) {
    draft.left.set(key, value);
    return;
  }
  const { config } = draft.buckets;
  const given = config["hyperparameters"];
  const hyperparameters: MutableObject = isJsonObject(given) ? { ...given } : {};
  for (const [name, parameter] of Object.entries(parameters)) {
    if (parameter === null) continue;
    const field = Object.hasOwn(notHyperparameters, name) ? notHyperparameters[name] : undefined;
    if (field !== undefined) placeOrKeep(draft, "config", field, parameter, `${key}.${name}`);
    else if (!Object.hasOwn(hyperparameters, name)) setOwn(hyperparameters, name, parameter);
    else if (!isSameJson(hyperparameters[name], parameter))
      keep(draft, `${key}.${name}`, parameter);
  }
  if (Object.keys(hyperparameters).length > 0) config["hyperparameters"] = hyperparameters;
}

function readTemplate(draft: Draft): void {
  const template = take(draft, "llm.prompt_template.template");
  if (template !== undefined) {
    const value = parseJsonText(template);
    const messages = Array.isArray(value) ? value : [{ role: "user", content: value }];
    if (!place(draft, "config", "template", messages)) {
      draft.left.set("llm.prompt_template.template", template);
    }
  }
  movePayload(draft, "llm.prompt_template.variables", "inputs", "variables");
}

function readTools(draft: Draft): void {
  const tools = takeItems(draft, "llm.tools.");
  if (tools.length === 0) return;
  placeOrKeep(draft, "config", "tools", tools.map(readTool), "llm.tools");
}

function readTool(item: JsonValue): JsonValue {
  const tool = unwrap(item, "tool");
  const { json_schema: schema } = tool;
  return schema === undefined ? tool : parseJsonText(schema);
}

const documentLists: readonly (readonly [string, "inputs" | "outputs"])[] = [
  ["retrieval.documents.", "outputs"],
  ["reranker.input_documents.", "inputs"],
  ["reranker.output_documents.", "outputs"],
  ["input.documents.", "inputs"],
  ["output.documents.", "outputs"],
];

function readDocuments(draft: Draft): void {
  for (const [prefix, bucket] of documentLists) {
    if (!hasPrefix(draft, prefix) || Object.hasOwn(draft.buckets[bucket], "documents")) continue;
    const documents = takeItems(draft, prefix).map((item) => {
      const document = unwrap(item, "document");
      const { metadata } = document;
      return metadata === undefined ? document : { ...document, metadata: parseJsonText(metadata) };
    });
    if (documents.length > 0) place(draft, bucket, "documents", documents);
  }
}

function readEmbeddings(draft: Draft): void {
  const name = "embedding.embeddings";
  const wrapped = takeItems(draft, `${name}.`);
  if (wrapped.length === 0) return;
  const items = wrapped.map((item) => unwrap(item, "embedding"));
  const texts = items.map((item) => item["text"] ?? null);
  const vectors = items.map((item) => item["vector"] ?? null);
  if (texts.some((text) => text !== null)) placeOrKeep(draft, "inputs", "texts", texts, name);
  if (vectors.some((vector) => vector !== null)) {
    placeOrKeep(draft, "outputs", "embeddings", vectors, name);
  }
  const rest = items.map((item) => omit(item, ["text", "vector"]));
  if (rest.some((item) => Object.keys(item).length > 0)) keep(draft, name, rest);
}

// Reads `metadata`, a JSON object with the sender's own keys.
function readMetadata(draft: Draft): void {
  const value = draft.left.get("metadata");
  if (value === undefined) return;
  const metadata = parseJsonText(value);
  if (!isJsonObject(metadata)) return;
  draft.left.delete("metadata");
  const { ls_provider: provider } = metadata;
  if (draft.eventType === "model" && typeof provider === "string") {
    place(draft, "config", "provider", provider);
  }
  for (const [key, one] of Object.entries(metadata)) {
    if (!draft.left.has(key)) draft.left.set(key, one);
    else draft.left.set(`metadata.${key}`, one);
  }
}
