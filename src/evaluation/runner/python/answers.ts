// Parses the answers of a sandbox process. They are untrusted, so each member is checked and cut,
// and other members are dropped. Source: docs/sandbox.md.

import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from "../../../base/json.ts";
import { toStorableText } from "../../../base/storable-text.ts";

/** Reason why an evaluation has no value. */
export type FailureReason =
  /** The evaluator raised an exception. */
  | "EXCEPTION"
  | "TIME_LIMIT"
  | "MEMORY_LIMIT"
  | "OUTPUT_LIMIT"
  /** The returned value is not a valid result. */
  | "RESULT"
  /** The process ended. */
  | "CRASH"
  /** The process wrote something other than an answer. */
  | "PROTOCOL"
  /** The code cannot run at all: a syntax error, or too long. */
  | "CODE";

export type PythonOutcome =
  | {
      readonly kind: "value";
      readonly value: JsonValue;
      /** Explanation of at most 10,000 characters. */
      readonly explanation: string | undefined;
      /** Text that the evaluator printed. */
      readonly output: string;
    }
  | {
      readonly kind: "failure";
      readonly reason: FailureReason;
      /** Human-readable: `ZeroDivisionError: division by zero`. */
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
        /** Line from 1, and column from 1. */
        readonly line: number;
        readonly column: number;
      };
    };

/** Reasons that a process may report itself; the others are found from outside. */
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

/** Parses an outcome; returns undefined if the body is not one. */
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

/** Parses an inspection; returns undefined if the body is not one. */
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
