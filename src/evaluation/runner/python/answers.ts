// Reads what a sandbox process answers. All of it is the word of an evaluator, so each member is
// checked and cut, and nothing else is taken. Called by sandbox.ts. Source: docs/sandbox.md.

import { isJsonObject, tryParseJson } from "../../../base/json.ts";
import type { JsonObject, JsonValue } from "../../../base/json.ts";
import { toStorableText } from "../../../base/storable-text.ts";

/** Why an evaluation has no value. */
export type FailureReason =
  /** The evaluator raised. */
  | "EXCEPTION"
  | "TIME_LIMIT"
  | "MEMORY_LIMIT"
  | "OUTPUT_LIMIT"
  /** What it returned is no result. */
  | "RESULT"
  /** Its process ended. */
  | "CRASH"
  /** Its process wrote what is no answer. */
  | "PROTOCOL"
  /** It cannot be run at all: a syntax error, or too long. */
  | "CODE";

export type PythonOutcome =
  | {
      readonly kind: "value";
      readonly value: JsonValue;
      /** At most 10,000 characters. */
      readonly explanation: string | undefined;
      /** What the evaluator printed. */
      readonly output: string;
    }
  | {
      readonly kind: "failure";
      readonly reason: FailureReason;
      /** For people: `ZeroDivisionError: division by zero`. */
      readonly message: string;
      /** Frames of the evaluator's own code; at most 10,000 characters. */
      readonly traceback?: string;
      readonly output: string;
    };

export type Inspection =
  | { readonly readsGroundTruth: boolean }
  | {
      readonly fault: {
        readonly message: string;
        /** From 1, as the column. */
        readonly line: number;
        readonly column: number;
      };
    };

/** What a process may say of itself; the others are found from outside. */
const toldReasons: readonly FailureReason[] = [
  "EXCEPTION",
  "MEMORY_LIMIT",
  "OUTPUT_LIMIT",
  "RESULT",
  "CRASH",
  "CODE",
];

const textCharactersMax = 10_000;
const messageCharactersMax = 2_000;

/** Returns undefined for what is no outcome. */
export function parseOutcome(body: string): PythonOutcome | undefined {
  const answer = tryParseJson(body);
  if (!isJsonObject(answer)) return undefined;
  const output = typeof answer["output"] === "string" ? toStorableText(answer["output"]) : "";
  if (answer["kind"] === "value") return parseValue(answer, output);
  return answer["kind"] === "failure" ? parseFailure(answer, output) : undefined;
}

function parseValue(answer: JsonObject, output: string): PythonOutcome | undefined {
  const { value } = answer;
  if (!["string", "number", "boolean"].includes(typeof value) || value === undefined) {
    return undefined;
  }
  return {
    kind: "value",
    value: typeof value === "string" ? toStorableText(value) : value,
    explanation: cutText(answer["explanation"], textCharactersMax),
    output,
  };
}

function parseFailure(answer: JsonObject, output: string): PythonOutcome | undefined {
  const reason = toldReasons.find((one) => one === answer["reason"]);
  if (reason === undefined) return undefined;
  const message = cutText(answer["message"], messageCharactersMax) ?? "";
  const traceback = cutText(answer["traceback"], textCharactersMax);
  return { kind: "failure", reason, message, ...(traceback && { traceback }), output };
}

/** Returns undefined for what is no inspection. */
export function parseInspection(body: string): Inspection | undefined {
  const answer = tryParseJson(body);
  if (!isJsonObject(answer)) return undefined;
  const { fault, readsGroundTruth } = answer;
  if (typeof readsGroundTruth === "boolean") return { readsGroundTruth };
  if (!isJsonObject(fault)) return undefined;
  return {
    fault: {
      message: cutText(fault["message"], messageCharactersMax) ?? "cannot be read",
      line: toPosition(fault["line"]),
      column: toPosition(fault["column"]),
    },
  };
}

function toPosition(value: JsonValue | undefined): number {
  return typeof value === "number" && value >= 1 ? Math.floor(value) : 1;
}

function cutText(value: JsonValue | undefined, charactersMax: number): string | undefined {
  if (typeof value !== "string") return undefined;
  return toStorableText(value.slice(0, charactersMax));
}
