// Genkit, for JavaScript and Go: its actions, whose input and output are JSON text of any value.
// Source: npm genkit 1.42, Go module github.com/firebase/genkit/go 1.4.

import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  omit,
} from "../../../base/json.ts";
import { movePayload, type Draft } from "../draft.ts";
import { isSameJson, itemsOf, parseScalarText, rename, toNumber } from "../values.ts";
import type { Convention } from "./convention.ts";

const inputKey = "genkit:input";
const outputKey = "genkit:output";

export const genkit: Convention = {
  fields: {
    "genkit:metadata:subtype": "metadata.span_kind",
  },
  prepare: adoptCall,
  read(draft) {
    movePayload(draft, inputKey, "inputs", "input", parseScalarText);
    movePayload(draft, outputKey, "outputs", "result", parseScalarText);
  },
};

/** Attributes of the GenAI conventions by the keys of a request's configuration. */
const settings: Readonly<Record<string, string>> = {
  temperature: "gen_ai.request.temperature",
  maxOutputTokens: "gen_ai.request.max_tokens",
  topP: "gen_ai.request.top_p",
  topK: "gen_ai.request.top_k",
  stopSequences: "gen_ai.request.stop_sequences",
};

const counts: Readonly<Record<string, string>> = {
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  totalTokens: "gen_ai.usage.total_tokens",
  thoughtsTokens: "gen_ai.usage.reasoning.output_tokens",
  cachedContentTokens: "gen_ai.usage.cache_read.input_tokens",
};

// What a call says is renamed to attributes of the GenAI conventions; the rest of its input and
// output stays. Steps around calls repeat their messages.
function adoptCall(draft: Draft): void {
  const name = draft.attributes.get("genkit:name");
  if (typeof name !== "string") return;
  const input = parseScalarText(draft.attributes.get(inputKey) ?? null);
  const output = parseScalarText(draft.attributes.get(outputKey) ?? null);
  const added = new Map<string, JsonValue>();
  const request = isJsonObject(input) ? adoptRequest(draft, input, added) : input;
  const response = isJsonObject(output) ? adoptResponse(draft, output, added) : output;
  if (draft.eventType === "model") adoptName(name, added);
  if ([...added.keys()].some((key) => draft.attributes.has(key))) return;
  const attributes = new Map([...draft.attributes, ...added]);
  // Genkit for Go repeats the request.
  const isRepeated = isJsonObject(response) && isSameJson(response["request"], input);
  if (attributes.has(inputKey)) attributes.set(inputKey, request);
  const answer = isRepeated ? omit(response, ["request"]) : response;
  if (attributes.has(outputKey)) attributes.set(outputKey, answer);
  draft.attributes = attributes;
}

// A model's name begins with that of its plugin: `googleai/gemini-2.5-flash`.
function adoptName(name: string, added: Map<string, JsonValue>): void {
  const slash = name.indexOf("/");
  added.set("gen_ai.request.model", name.slice(slash + 1));
  if (slash > 0) added.set("gen_ai.provider.name", name.slice(0, slash));
}

type Adopt = (draft: Draft, payload: JsonObject, added: Map<string, JsonValue>) => JsonObject;

const adoptRequest: Adopt = (draft, request, added) => {
  const { messages, config, tools, input: documents } = request;
  const taken: string[] = [];
  if (areMessages(messages)) {
    added.set("gen_ai.input.messages", messages.map(toMessage));
    taken.push("messages");
  }
  if (draft.eventType !== "model") return omit(request, taken);
  if (itemsOf(tools).length > 0) added.set("gen_ai.tool.definitions", tools ?? null);
  if (areMessages(documents)) {
    added.set("gen_ai.operation.name", "embeddings");
    added.set("gen_ai.input.messages", documents.map(toMessage));
    taken.push("input");
  }
  if (isJsonObject(config)) rename(config, settings, added);
  return omit(request, [...taken, "tools"]);
};

const adoptResponse: Adopt = (draft, response, added) => {
  const { message, finishReason, candidates, usage } = response;
  if (draft.eventType === "model" && isJsonObject(usage)) {
    rename(withThoughts(usage), counts, added);
  }
  const choices = itemsOf(candidates).filter(isJsonObject);
  const given = message === undefined ? choices : [{ message, finishReason: finishReason ?? null }];
  if (!areMessages(given.map((choice) => choice["message"] ?? null))) return response;
  added.set("gen_ai.output.messages", given.map(toReply));
  return omit(response, ["message", "finishReason", "candidates"]);
};

// The plugins for Gemini count its thoughts in the total alone.
function withThoughts(usage: JsonObject): JsonObject {
  const [input = 0, output = 0, thoughts = 0, total] = [
    "inputTokens",
    "outputTokens",
    "thoughtsTokens",
    "totalTokens",
  ].map((key) => toNumber(usage[key]));
  const areApart = thoughts > 0 && input + output + thoughts === total;
  return areApart ? { ...usage, outputTokens: output + thoughts } : usage;
}

function areMessages(values: JsonValue | undefined): values is readonly JsonObject[] {
  if (!isJsonArray(values) || values.length === 0) return false;
  return values.every((value) => isJsonObject(value) && isJsonArray(value["content"]));
}

function toReply({ message, finishReason }: JsonObject): JsonObject {
  const said = isJsonObject(message) ? toMessage(message) : {};
  return { ...said, finish_reason: finishReason ?? null };
}

// The signatures of a model's thoughts stand beside the parts, so that a text stays a text.
function toMessage({ content, ...rest }: JsonObject): JsonObject {
  const metadata: JsonValue[] = [];
  const parts = itemsOf(content).map((part) => {
    if (!isJsonObject(part) || !("text" in part || "reasoning" in part)) return toPart(part);
    if (isJsonObject(part["metadata"])) metadata.push(part["metadata"]);
    return toPart(omit(part, ["metadata"]));
  });
  return { ...rest, parts, ...(metadata.length > 0 ? { part_metadata: metadata } : {}) };
}

function toPart(part: JsonValue): JsonValue {
  if (!isJsonObject(part)) return part;
  const { toolRequest: call, toolResponse: result, reasoning, media, ...rest } = part;
  if (isJsonObject(call)) {
    const { ref, input, ...described } = call;
    return { ...rest, ...described, ...toId(ref), type: "tool_call", arguments: input ?? {} };
  }
  if (isJsonObject(result)) {
    const { ref, output, ...described } = result;
    const answer = { type: "tool_call_response", response: output ?? null };
    return { ...rest, ...described, ...toId(ref), ...answer };
  }
  if (typeof reasoning === "string") return { ...rest, type: "reasoning", text: reasoning };
  if (!isJsonObject(media)) return part;
  const { url } = media;
  const isImage = typeof url === "string" && url.startsWith("data:image/");
  return isImage
    ? { ...rest, type: "image_url", image_url: { url } }
    : { ...rest, ...media, type: "media" };
}

// Calls of Gemini have no id.
function toId(ref: JsonValue | undefined): JsonObject {
  return ref === undefined ? {} : { id: ref };
}
