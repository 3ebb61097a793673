// Reads requests and answers of OpenAI's Responses API into the fields that are recorded: its items
// become the messages of a chat. Source: the OpenAI API reference, Responses; docs/decisions.md,
// 21.8.

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { readItems } from "../../tracing/spans/responses.ts";
import type { ProviderError } from "../provider-error.ts";
import type { Connection } from "../provider.ts";
import { parseUsage } from "../usage.ts";
import { type ReadAnswer, textOf } from "./answer.ts";
import { failedResponse } from "./error.ts";

/** Returns the conversation of a request: its instructions and its input. */
export function toChatHistory({ instructions, input }: JsonObject): readonly JsonValue[] {
  const text = textOf(instructions);
  const system = text === undefined ? [] : [{ role: "system", content: text }];
  return [...system, ...toMessages(input)];
}

function toMessages(input: JsonValue | undefined): readonly JsonValue[] {
  if (typeof input === "string") return [{ role: "user", content: input }];
  return readItems(input) ?? (isJsonArray(input) ? input : []);
}

/** Reads an answer, which may be incomplete. */
export function readResponse(json: JsonObject): ReadAnswer {
  const output = isJsonArray(json["output"]) ? json["output"] : [];
  return {
    outputs: toOutputs(output),
    finishReasons: reasonOf(json, output),
    responseModel: textOf(json["model"]),
    responseId: textOf(json["id"]),
    usage: parseUsage(toChatUsage(json["usage"])),
  };
}

/** Returns the one message of the answer. Items that are no messages are recorded as they are. */
function toOutputs(output: readonly JsonValue[]): JsonObject {
  if (output.length === 0) return {};
  const [first, ...others] = readItems(output) ?? [];
  return first !== undefined && others.length === 0 ? first : { output };
}

/** Reasons as chats name them. */
const reasons: ReadonlyMap<string, string> = new Map([["max_output_tokens", "length"]]);

function reasonOf(json: JsonObject, output: readonly JsonValue[]): readonly string[] {
  const { status, incomplete_details: details } = json;
  if (status === "incomplete") {
    const reason = (isJsonObject(details) && textOf(details["reason"])) || "incomplete";
    return [reasons.get(reason) ?? reason];
  }
  if (status !== "completed") return [];
  const isCall = output.some((item) => isJsonObject(item) && item["type"] === "function_call");
  return [isCall ? "tool_calls" : "stop"];
}

/** Returns a usage under the names that chats have. */
function toChatUsage(usage: JsonValue | undefined): JsonObject {
  if (!isJsonObject(usage)) return {};
  return {
    prompt_tokens: usage["input_tokens"] ?? null,
    completion_tokens: usage["output_tokens"] ?? null,
    total_tokens: usage["total_tokens"] ?? null,
    prompt_tokens_details: usage["input_tokens_details"] ?? null,
    completion_tokens_details: usage["output_tokens_details"] ?? null,
  };
}

/** Returns the failure that an answer reports, if it does. */
export function failureOfResponse(
  connection: Connection,
  { status, error }: JsonObject,
): ProviderError | undefined {
  return status === "failed" ? failedResponse(connection, error ?? null) : undefined;
}
