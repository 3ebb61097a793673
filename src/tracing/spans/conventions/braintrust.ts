// Braintrust: the calls and steps that its SDK for Java traces, each field as JSON text.
// Source: Maven dev.braintrust:braintrust-sdk-java 0.3.

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { movePayload, placeOrKeep, take, type Draft } from "../draft.ts";
import { placeReply, readMessages } from "../messages.ts";
import { movePayloads } from "../model-payload.ts";
import { parseJsonText, parseScalarText, rename, toNumber } from "../values.ts";
import type { Convention } from "./convention.ts";

const inputKey = "braintrust.input_json";
const outputKey = "braintrust.output_json";
const metadataKey = "braintrust.metadata";

export const braintrust: Convention = {
  fields: {
    "braintrust.tags": "metadata.tags",
  },
  prepare: adoptCall,
  read(draft) {
    if (draft.eventType === "model") {
      readChoices(draft);
      movePayloads(draft, { input: inputKey, output: outputKey });
    } else {
      movePayload(draft, inputKey, "inputs", "input", parseScalarText);
      movePayload(draft, outputKey, "outputs", "result", parseScalarText);
      // A tool's answer to LangChain4j.
      movePayload(draft, "braintrust.output", "outputs", "result");
    }
    readMetadata(draft);
    readScores(draft);
  },
};

const settings = {
  model: "gen_ai.request.model",
  provider: "gen_ai.provider.name",
  max_tokens: "gen_ai.request.max_tokens",
  temperature: "gen_ai.request.temperature",
  top_p: "gen_ai.request.top_p",
  stop_sequences: "gen_ai.request.stop_sequences",
};

const amounts = {
  prompt_tokens: "gen_ai.usage.input_tokens",
  completion_tokens: "gen_ai.usage.output_tokens",
  tokens: "gen_ai.usage.total_tokens",
  prompt_cached_tokens: "gen_ai.usage.cache_read.input_tokens",
  prompt_cache_creation_tokens: "gen_ai.usage.cache_creation.input_tokens",
  completion_reasoning_tokens: "gen_ai.usage.reasoning.output_tokens",
  time_to_first_token: "gen_ai.response.time_to_first_chunk",
};

// The settings and amounts of a call get the names of the GenAI conventions. The metrics may have
// amounts without a field, so they stay as well.
function adoptCall(draft: Draft): void {
  const given = parseJsonText(draft.attributes.get(metadataKey) ?? null);
  if (draft.eventType !== "model" || !isJsonObject(given)) return;
  const used = parseJsonText(draft.attributes.get("braintrust.metrics") ?? null);
  const added = new Map<string, JsonValue>();
  rename(given, settings, added);
  if (isJsonObject(used)) rename(withCached(used, given), amounts, added);
  const { request_path: path } = given;
  const isEmbedding = typeof path === "string" && path.endsWith("embeddings");
  if (isEmbedding) added.set("gen_ai.operation.name", "embeddings");
  draft.attributes = new Map([...added, ...draft.attributes]);
}

// Anthropic's prompt is without the tokens read from or written to a cache.
function withCached(used: JsonObject, { provider }: JsonObject): JsonObject {
  if (provider !== "anthropic") return used;
  const cached =
    (toNumber(used["prompt_cached_tokens"]) ?? 0) +
    (toNumber(used["prompt_cache_creation_tokens"]) ?? 0);
  const { prompt_tokens: prompt = null, tokens = null } = used;
  const plus = (count: JsonValue) => (typeof count === "number" ? count + cached : count);
  return { ...used, prompt_tokens: plus(prompt), tokens: plus(tokens) };
}

// OpenAI's choices, each with its message and the reason why it ended.
function readChoices(draft: Draft): void {
  const choices = parseJsonText(draft.left.get(outputKey) ?? null);
  if (!isJsonArray(choices)) return;
  const messages = choices.map((choice) => {
    const { message, finish_reason: reason = null } = isJsonObject(choice) ? choice : {};
    return isJsonObject(message) ? { ...message, finish_reason: reason } : null;
  });
  if (placeReply(draft, readMessages(messages, "assistant"))) draft.left.delete(outputKey);
}

// The keys are the sender's own.
function readMetadata(draft: Draft): void {
  const metadata = parseJsonText(draft.left.get(metadataKey) ?? null);
  if (!isJsonObject(metadata)) return;
  draft.left.delete(metadataKey);
  for (const [key, value] of Object.entries(metadata)) {
    placeOrKeep(draft, "metadata", key, value, `${metadataKey}.${key}`);
  }
}

function readScores(draft: Draft): void {
  const key = "braintrust.scores";
  const scores = parseJsonText(take(draft, key) ?? null);
  if (isJsonObject(scores)) {
    for (const [name, score] of Object.entries(scores)) {
      placeOrKeep(draft, "metrics", name, score, `${key}.${name}`);
    }
  } else if (scores !== null) draft.left.set(key, scores);
}
