// Reads the answer of a model to a chat into choices of one form for all providers.
// Source: docs/decisions.md, 20.1.

import { createUuid } from "../../base/ids.ts";
import {
  isEmpty,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  present,
} from "../../base/json.ts";
import type { StreamPart, WholeAnswer } from "../calls/model-call.ts";
import type { ChatGatherer } from "../openai/answer-gatherer.ts";
import {
  type Choice,
  choicesOf,
  type ReadAnswer,
  readWholeAnswer,
  reasonsOf,
  textOf,
  toOutputs,
} from "../openai/answer.ts";

/** Next text of one choice. */
export type Delta = { readonly index: number; readonly content: string };

/** Answer to a chat, possibly incomplete. */
export type ChatAnswer = ReadAnswer & {
  /** Sorted by index. */
  readonly choices: readonly Choice[];
};

export function readWholeChat({ json, usage }: WholeAnswer): ChatAnswer {
  const read = readWholeAnswer("chat", json);
  return toChatAnswer({ ...read, usage: usage ?? read.usage }, choicesOf(json));
}

export function readGathered(gatherer: ChatGatherer): ChatAnswer {
  return toChatAnswer(gatherer.answer(), gatherer.choices());
}

function toChatAnswer(read: ReadAnswer, came: readonly Choice[]): ChatAnswer {
  const choices = came.map(toChatChoice);
  return { ...read, choices, outputs: toOutputs(choices), finishReasons: reasonsOf(choices) };
}

/** Returns the next texts in the parts of a stream. */
export function deltasOf(parts: readonly StreamPart[]): readonly Delta[] {
  return parts.flatMap(({ chunk }) => objectsIn(chunk?.["choices"]).flatMap(toDelta));
}

function toDelta({ index, delta }: JsonObject): readonly Delta[] {
  const content = isJsonObject(delta) ? textIn(delta) : "";
  return content === "" || typeof index !== "number" ? [] : [{ index, content }];
}

/** Finish reasons that servers like OpenAI's have under other names. */
const finishReasons: Readonly<Record<string, string>> = {
  length: "length",
  content_filter: "content_filter",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
};

function toChatChoice({ index, message, finishReason }: Choice): Choice {
  const refused = textOf(message["refusal"]) !== undefined;
  const end = refused && finishReason === "stop" ? "content_filter" : finishReason;
  const reason = end && (finishReasons[end] ?? "stop");
  return { index, message: isEmpty(message) ? {} : toChatMessage(message), finishReason: reason };
}

function toChatMessage(message: JsonObject): JsonObject {
  const calls = objectsIn(message["tool_calls"]).map(toToolCall);
  const text = textIn(message);
  const isMute = text === "" && (calls.length > 0 || (message["content"] ?? null) === null);
  return present({
    role: "assistant",
    content: isMute ? null : text,
    reasoning_content: textOf(message["reasoning_content"]) ?? textOf(message["reasoning"]),
    extra_content: message["extra_content"],
    tool_calls: calls.length > 0 ? calls : undefined,
  });
}

/** Returns the text of a message or delta, together with its refusal. */
function textIn({ content, refusal }: JsonObject): string {
  const texts = isJsonArray(content) ? objectsIn(content).map(({ text }) => text) : [content];
  return [...texts, refusal].filter((text) => typeof text === "string").join("");
}

/** Some servers give calls no id, and Gemini's signature has another name in requests. */
function toToolCall(call: JsonObject): JsonObject {
  const { id, extra_content: extra } = call;
  const google = isJsonObject(extra) ? extra["google"] : undefined;
  const signature = isJsonObject(google) ? google["thought_signature"] : undefined;
  const named = signature === undefined ? extra : { google: { thoughtSignature: signature } };
  return present({ ...call, id: textOf(id) ?? createUuid(), extra_content: named });
}

function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return isJsonArray(value) ? value.filter(isJsonObject) : [];
}
