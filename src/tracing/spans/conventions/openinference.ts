// OpenInference (Arize): flattened messages, documents and embeddings, input and output values.
// Source: OpenInference semantic conventions, 0.1.

import { isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { hasPrefix, place, movePayload, take, takePrefix, type Draft } from "../draft.ts";
import { hasHistory, hasReply, placeHistory, placeReply } from "../messages.ts";
import { readMessage, type Message } from "../messages.ts";
import { itemsOf, parseJsonText, setOwn, unflatten, type MutableObject } from "../values.ts";
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
    readMessageList(draft, "llm.input_messages.", "user", hasHistory, placeHistory);
    readMessageList(draft, "llm.output_messages.", "assistant", hasReply, placeReply);
    readParameters(draft, "llm.invocation_parameters");
    readParameters(draft, "embedding.invocation_parameters");
    readTemplate(draft);
    readTools(draft);
    readDocuments(draft);
    readEmbeddings(draft);
    readMetadata(draft);
    // The whole request and reply stay beside the messages read from them.
    if (!hasHistory(draft)) movePayload(draft, "input.value", "inputs", "input");
    if (!hasReply(draft)) movePayload(draft, "output.value", "outputs", "result");
  },
};

function readMessageList(
  draft: Draft,
  prefix: string,
  role: string,
  isDone: (draft: Draft) => boolean,
  put: (draft: Draft, messages: readonly Message[] | undefined) => boolean,
): void {
  if (isDone(draft) || !hasPrefix(draft, prefix)) return;
  const items = itemsOf(unflatten(takePrefix(draft, prefix)));
  put(
    draft,
    items.flatMap((item) => readMessage(toMessage(unwrap(item, "message")), role)),
  );
}

// `message.contents.0.message_content.text` and `message.tool_calls.0.tool_call.function.name`.
function toMessage(item: JsonObject): JsonObject {
  const { contents, tool_calls: calls, ...message } = item;
  const read: MutableObject = { ...message };
  if (contents !== undefined) {
    const parts = itemsOf(contents).map((part) => unwrap(part, "message_content"));
    if (parts.length > 0) read["parts"] = parts;
  }
  if (calls !== undefined) {
    read["tool_calls"] = itemsOf(calls).map((call) => unwrap(call, "tool_call"));
  }
  return read;
}

function unwrap(item: JsonValue, name: string): JsonObject {
  if (!isJsonObject(item)) return { content: item };
  const inner = item[name];
  return isJsonObject(inner) ? { ...omit(item, name), ...inner } : item;
}

function omit(item: JsonObject, name: string): JsonObject {
  const { [name]: _, ...rest } = item;
  return rest;
}

/** Parameters that have a place of their own, or repeat the messages. */
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
    if (field !== undefined) place(draft, "config", field, parameter);
    else if (!Object.hasOwn(hyperparameters, name)) setOwn(hyperparameters, name, parameter);
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
  if (!hasPrefix(draft, "llm.tools.0.")) return;
  const tools = itemsOf(unflatten(takePrefix(draft, "llm.tools."))).map((item) => {
    const tool = unwrap(item, "tool");
    const { json_schema: schema } = tool;
    return schema === undefined ? tool : parseJsonText(schema);
  });
  // What a request was sent with is the better copy; this one is built from it.
  if (!Object.hasOwn(draft.buckets.config, "tools")) place(draft, "config", "tools", tools);
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
    const documents = itemsOf(unflatten(takePrefix(draft, prefix))).map((item) => {
      const document = unwrap(item, "document");
      const { metadata } = document;
      return metadata === undefined ? document : { ...document, metadata: parseJsonText(metadata) };
    });
    place(draft, bucket, "documents", documents);
  }
}

function readEmbeddings(draft: Draft): void {
  const prefix = "embedding.embeddings.";
  if (!hasPrefix(draft, prefix)) return;
  const items = itemsOf(unflatten(takePrefix(draft, prefix))).map((item) =>
    unwrap(item, "embedding"),
  );
  const texts = items.map((item) => item["text"] ?? null);
  const vectors = items.map((item) => item["vector"] ?? null);
  if (texts.some((text) => text !== null)) place(draft, "inputs", "texts", texts);
  if (vectors.some((vector) => vector !== null)) place(draft, "outputs", "embeddings", vectors);
}

// A JSON object of the sender's own keys.
function readMetadata(draft: Draft): void {
  const value = draft.left.get("metadata");
  if (value === undefined) return;
  const metadata = parseJsonText(value);
  if (!isJsonObject(metadata)) return;
  draft.left.delete("metadata");
  for (const [key, one] of Object.entries(metadata)) {
    if (!draft.left.has(key)) draft.left.set(key, one);
    else draft.left.set(`metadata.${key}`, one);
  }
}
