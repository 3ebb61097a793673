// Session totals: what one event adds to its session, and sums of that. Called by the recorder,
// which keeps the sums in session_totals, and by sessions.ts, which reads them.
// Source: docs/spec.md, "Event record", rules 1 and 2; docs/decisions.md, 18.

import { type JsonObject, type JsonValue } from "../../base/json.ts";
import type { EventType } from "../events/event.ts";

/**
 * Sums over events. `num_costs` counts the events whose `metadata.cost` is a number: `cost`, in US
 * dollars, means nothing while it is 0. All but `num_feedback` leave the session event itself out.
 */
export type Totals = {
  readonly num_events: number;
  readonly num_model_events: number;
  readonly num_errors: number;
  readonly num_costs: number;
  readonly num_feedback: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly cost: number;
};

export const emptyTotals: Totals = {
  num_events: 0,
  num_model_events: 0,
  num_errors: 0,
  num_costs: 0,
  num_feedback: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  cost: 0,
};

/** Names of the sums, which are also the columns of session_totals. */
export const totalNames = Object.keys(emptyTotals) as readonly (keyof Totals)[];

type Countable = {
  readonly event_type: EventType;
  readonly error: string | null;
  readonly metadata: JsonObject;
  readonly feedback: JsonObject;
};

/**
 * Returns what an event adds to its session. Token counts may be whole numbers or numeric text
 * ("42"); anything else adds nothing. Input and output tokens stand in where prompt and completion
 * tokens are absent; the total, where absent, is their sum.
 */
export function totalsOf(event: Countable): Totals {
  const num_feedback = hasKeys(event.feedback) ? 1 : 0;
  if (event.event_type === "session") {
    return num_feedback === 0 ? emptyTotals : { ...emptyTotals, num_feedback };
  }
  const { metadata } = event;
  const prompt = countOf(metadata["prompt_tokens"]) ?? countOf(metadata["input_tokens"]);
  const completion = countOf(metadata["completion_tokens"]) ?? countOf(metadata["output_tokens"]);
  const cost = amountOf(metadata["cost"]);
  return {
    num_events: 1,
    num_model_events: event.event_type === "model" ? 1 : 0,
    num_errors: event.error === null ? 0 : 1,
    num_costs: cost === undefined ? 0 : 1,
    num_feedback,
    prompt_tokens: prompt ?? 0,
    completion_tokens: completion ?? 0,
    total_tokens: countOf(metadata["total_tokens"]) ?? (prompt ?? 0) + (completion ?? 0),
    cost: cost ?? 0,
  };
}

/** Returns `a + sign × b`, sum by sum. */
export function addTotals(a: Totals, b: Totals, sign: 1 | -1 = 1): Totals {
  const sum: Record<string, number> = {};
  for (const name of totalNames) sum[name] = a[name] + sign * b[name];
  return sum as Totals;
}

/** Keys of `metadata` that hold amounts. */
export const amountKeys = [
  "prompt_tokens",
  "input_tokens",
  "completion_tokens",
  "output_tokens",
  "total_tokens",
  "cost",
] as const;

/** Past this a number is no count and no price, and would spoil every sum it is in. */
const amountMax = 1e15;

/** Longest text of an amount: on a row of digits the pattern takes the square of the length. */
export const amountLengthMax = 100;

// A number, or a decimal text: exporters that know only text attributes send it so.
function amountOf(value: JsonValue | undefined): number | undefined {
  const isDecimal =
    typeof value === "string" && value.length <= amountLengthMax && decimalPattern.test(value);
  const amount = typeof value === "number" || isDecimal ? Number(value) : NaN;
  return Math.abs(amount) <= amountMax ? amount : undefined;
}

const decimalPattern = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;

/**
 * Reads a count of tokens: whole and not negative. Anything else is no count, and sums of whole
 * numbers are exact.
 */
export function countOf(value: JsonValue | undefined): number | undefined {
  const count = amountOf(value);
  return count !== undefined && Number.isInteger(count) && count >= 0 ? count : undefined;
}

function hasKeys(object: JsonObject): boolean {
  for (const _ in object) return true;
  return false;
}
