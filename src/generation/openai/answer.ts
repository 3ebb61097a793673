// Reads whole answers of the OpenAI API into the fields that are recorded.
// Source: docs/spec.md, "Event record"; docs/decisions.md, 21.1.

import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  omit,
} from "../../base/json.ts";
import type { Operation } from "../calls/model-call.ts";
import { parseUsage, type Usage } from "../usage.ts";

export type ReadAnswer = {
  readonly outputs: JsonObject;
  /** Finish reasons of the choices that have one. */
  readonly finishReasons: readonly string[];
  /** Provider's name of the model, possibly a dated version of the requested one. */
  readonly responseModel: string | undefined;
  readonly responseId: string | undefined;
  readonly usage: Usage | undefined;
};

export type Choice = {
  readonly index: number;
  readonly message: JsonObject;
  readonly finishReason: string | undefined;
};

/** Returns whether a JSON value is an answer of the operation. */
export function isAnswer(operation: Operation, json: unknown): json is JsonObject {
  return isJsonObject(json) && isJsonArray(json[listNames[operation]]);
}

/** Members that hold what was asked for. */
const listNames = {
  chat: "choices",
  embedding: "data",
  response: "output",
  message: "content",
} as const;

/** Reads an answer for which `isAnswer` returns true. */
export function readWholeAnswer(operation: "chat" | "embedding", json: JsonObject): ReadAnswer {
  const choices = operation === "chat" ? choicesOf(json) : [];
  return {
    outputs: operation === "chat" ? toOutputs(choices) : embeddingOutputs(json),
    finishReasons: reasonsOf(choices),
    responseModel: textOf(json["model"]),
    responseId: textOf(json["id"]),
    usage: parseUsage(json["usage"]),
  };
}

/** Returns the message of a single choice; of several choices, all messages with finish reasons. */
export function toOutputs(choices: readonly Choice[]): JsonObject {
  const [first] = choices;
  if (choices.length <= 1) return first ? toRecorded(first.message) : {};
  return {
    choices: choices.map(({ index, message, finishReason }) => ({
      index,
      ...toRecorded(message),
      finish_reason: finishReason ?? null,
    })),
  };
}

export function reasonsOf(choices: readonly Choice[]): string[] {
  return choices.flatMap(({ finishReason }) => finishReason ?? []);
}

/** Omits null members and the data of audio, whose transcript is kept. */
function toRecorded(message: JsonObject): JsonObject {
  const said = Object.entries(message).filter(
    ([key, value]) => value !== null || key === "content",
  );
  const recorded: Record<string, JsonValue> = Object.fromEntries(said);
  if (isJsonObject(recorded["audio"])) recorded["audio"] = omit(recorded["audio"], ["data"]);
  return recorded;
}

/** Returns the choices of a whole answer. */
export function choicesOf(json: JsonObject): readonly Choice[] {
  const choices = isJsonArray(json["choices"]) ? json["choices"] : [];
  return choices.filter(isJsonObject).map((choice, at) => ({
    index: typeof choice["index"] === "number" ? choice["index"] : at,
    message: isJsonObject(choice["message"]) ? choice["message"] : {},
    finishReason: textOf(choice["finish_reason"]),
  }));
}

const bytesPerFloat = 4;

function embeddingOutputs(json: JsonObject): JsonObject {
  const data = isJsonArray(json["data"]) ? json["data"] : [];
  const [first] = data;
  const vector = isJsonObject(first) ? first["embedding"] : undefined;
  if (isJsonArray(vector)) return { count: data.length, dimensions: vector.length };
  if (typeof vector !== "string") return { count: data.length };
  return { count: data.length, dimensions: Buffer.byteLength(vector, "base64") / bytesPerFloat };
}

/** Returns a non-empty text, or undefined. */
export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
