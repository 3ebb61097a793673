// Vercel AI SDK: `ai.*` attributes of its calls, requests and tool calls. Its newer releases send
// the GenAI conventions instead. Source: AI SDK telemetry guide, releases 3 to 7.

import {
  isJsonArray,
  isJsonObject,
  type JsonValue,
  type MutableObject,
} from "../../../base/json.ts";
import { move, movePayload, take, type Draft } from "../draft.ts";
import { hasHistory, hasReply, placeHistory, placeReply } from "../messages.ts";
import { readMessages, readToolCall, type Message } from "../messages.ts";
import { parseJsonText, parseScalarText } from "../values.ts";
import type { Convention } from "./convention.ts";

export const vercel: Convention = {
  fields: {
    "ai.model.id": "config.model",
    "ai.model.provider": ["config.provider", "metadata.provider"],
    "ai.operationId": "metadata.operation_name",
    "ai.settings.temperature": "config.hyperparameters.temperature",
    "ai.settings.topP": "config.hyperparameters.top_p",
    "ai.settings.topK": "config.hyperparameters.top_k",
    "ai.settings.maxTokens": "config.hyperparameters.max_tokens",
    "ai.settings.maxOutputTokens": "config.hyperparameters.max_tokens",
    "ai.settings.presencePenalty": "config.hyperparameters.presence_penalty",
    "ai.settings.frequencyPenalty": "config.hyperparameters.frequency_penalty",
    "ai.settings.stopSequences": "config.hyperparameters.stop",
    "ai.settings.seed": "config.hyperparameters.seed",
    "ai.response.id": "metadata.response_id",
    "ai.response.model": "metadata.response_model",
    "ai.response.finishReason": "metadata.finish_reason",
    "ai.toolCall.name": "metadata.tool_name",
    "ai.toolCall.id": "metadata.tool_call_id",
    "ai.telemetry.metadata.userId": "metadata.user_id",
    "ai.telemetry.metadata.sessionId": "metadata.session_id",
    "ai.telemetry.metadata.tags": "metadata.tags",
    "ai.settings.context.userId": "metadata.user_id",
    "ai.settings.context.sessionId": "metadata.session_id",
    "ai.settings.context.tags": "metadata.tags",
  },
  usage: {
    "ai.usage.promptTokens": "metadata.prompt_tokens",
    "ai.usage.completionTokens": "metadata.completion_tokens",
    "ai.usage.inputTokens": ["metadata.input_tokens", "metadata.prompt_tokens"],
    "ai.usage.outputTokens": ["metadata.output_tokens", "metadata.completion_tokens"],
    "ai.usage.totalTokens": "metadata.total_tokens",
    "ai.usage.tokens": ["metadata.prompt_tokens", "metadata.total_tokens"],
    "ai.usage.reasoningTokens": "metadata.reasoning_tokens",
    "ai.usage.outputTokenDetails.reasoningTokens": "metadata.reasoning_tokens",
    "ai.usage.cachedInputTokens": "metadata.cache_read_input_tokens",
    "ai.usage.inputTokenDetails.cacheReadTokens": "metadata.cache_read_input_tokens",
    "ai.usage.inputTokenDetails.cacheWriteTokens": "metadata.cache_write_input_tokens",
  },
  prepare: readResult,
  read(draft) {
    readPrompt(draft, "ai.prompt.messages");
    readPrompt(draft, "ai.prompt");
    readReply(draft);
    move(draft, "ai.prompt.tools", "config", "tools", readTools);
    move(draft, "ai.prompt.toolChoice", "config", "tool_choice");
    movePayload(draft, "ai.toolCall.args", "inputs", "input", parseScalarText);
    movePayload(draft, "ai.toolCall.result", "outputs", "result", parseScalarText);
    for (const key of ["ai.value", "ai.values"]) move(draft, key, "inputs", "texts", readTexts);
    for (const key of ["ai.embedding", "ai.embeddings"]) {
      move(draft, key, "outputs", "embeddings", readTexts);
    }
  },
};

// The AI SDK 7 writes JSON text for every result, where others write a text as it is.
function readResult(draft: Draft): void {
  const key = "gen_ai.tool.call.result";
  const text = draft.attributes.get(key);
  if (draft.span.scope.name !== "gen_ai" || text === undefined) return;
  draft.attributes = new Map(draft.attributes).set(key, parseScalarText(text));
}

// Each tool is separate JSON text.
function readTools(tools: JsonValue): JsonValue {
  const value = parseJsonText(tools);
  return isJsonArray(value) ? value.map(parseJsonText) : value;
}

// The prompt is a list of messages, or an object of `system`, `prompt` and `messages`.
function readPrompt(draft: Draft, key: string): void {
  const raw = draft.left.get(key);
  if (raw === undefined || hasHistory(draft)) return;
  const value = parseJsonText(raw);
  const messages = isJsonObject(value) ? readPromptObject(value) : readMessages(value, "user");
  if (!placeHistory(draft, messages)) return;
  const isWhole = !isJsonObject(value) || Object.keys(value).every((one) => promptKeys.has(one));
  if (isWhole) draft.left.delete(key);
}

const promptKeys: ReadonlySet<string> = new Set(["system", "instructions", "messages", "prompt"]);

function readPromptObject(value: { readonly [key: string]: JsonValue }): Message[] | undefined {
  const system = value["system"] ?? value["instructions"];
  const rest = readMessages(value["messages"], "user") ?? readSaid(value["prompt"], "user");
  if (rest === undefined) return undefined;
  return [...(readSaid(system, "system") ?? []), ...rest];
}

// A text is what was said, even if it is JSON: the SDK sends messages as a list.
function readSaid(value: JsonValue | undefined, role: string): Message[] | undefined {
  return typeof value === "string" ? [{ role, content: value }] : readMessages(value, role);
}

function readReply(draft: Draft): void {
  if (hasReply(draft)) return;
  const message: MutableObject = { role: "assistant" };
  const text = take(draft, "ai.response.text") ?? take(draft, "ai.response.object");
  if (text !== undefined) message["content"] = text;
  const calls = parseJsonText(draft.left.get("ai.response.toolCalls") ?? null);
  if (isJsonArray(calls)) {
    draft.left.delete("ai.response.toolCalls");
    message["tool_calls"] = calls.map(readToolCall);
  }
  const reasoning = take(draft, "ai.response.reasoning");
  if (reasoning !== undefined) message["reasoning"] = reasoning;
  if (Object.keys(message).length > 1) placeReply(draft, [message]);
}

// The value is one JSON text, or an array of JSON texts.
function readTexts(value: JsonValue): JsonValue {
  return (isJsonArray(value) ? value : [value]).map(parseScalarText);
}
