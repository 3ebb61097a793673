// Session totals: the amounts that one event adds to its session, and their sums.
// Source: docs/spec.md, "Event record", rules 1 and 2; docs/decisions.md, 18.1.

import { isEmpty, type JsonObject, type JsonValue } from "../../base/json.ts";
import { type EventType, isSession } from "../events/event.ts";

/**
 * Sums over events. `num_costs` counts the events whose `metadata.cost` is a number; while it is 0,
 * `cost` (US dollars) has no meaning. All but `num_feedback` exclude the session event itself.
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

/** Names of the sums that a session shows in its metadata, unless its sender wrote the key. */
export const shownTotalNames = [
  ...(["num_events", "num_model_events", "prompt_tokens", "completion_tokens"] as const),
  ...(["total_tokens", "cost"] as const),
];

type Countable = {
  readonly event_id?: string;
  readonly session_id?: string;
  readonly event_type: EventType;
  readonly error: string | null;
  readonly metadata: JsonObject;
  readonly feedback: JsonObject;
};

/**
 * Returns the amounts that an event adds to its session. Token counts may be whole numbers or
 * numeric text ("42"); other values add nothing. Input and output tokens replace absent prompt and
 * completion tokens; an absent total is their sum.
 */
export function totalsOf(event: Countable): Totals {
  const num_feedback = isEmpty(event.feedback) ? 0 : 1;
  if (isSession(event)) {
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
  // Spelt out: a loop over the names took 0.25 µs an event.
  return {
    num_events: a.num_events + sign * b.num_events,
    num_model_events: a.num_model_events + sign * b.num_model_events,
    num_errors: a.num_errors + sign * b.num_errors,
    num_costs: a.num_costs + sign * b.num_costs,
    num_feedback: a.num_feedback + sign * b.num_feedback,
    prompt_tokens: a.prompt_tokens + sign * b.prompt_tokens,
    completion_tokens: a.completion_tokens + sign * b.completion_tokens,
    total_tokens: a.total_tokens + sign * b.total_tokens,
    cost: a.cost + sign * b.cost,
  };
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
export type AmountKey = (typeof amountKeys)[number];

/**
 * Maximum of an amount. A larger number is neither a count nor a price and would spoil every sum.
 */
export const amountMax = 1e15;

/** Maximum length of an amount's text: the pattern takes quadratic time on a run of digits. */
export const amountLengthMax = 100;

// Reads a number, or decimal text, which exporters with text attributes only send.
function amountOf(value: JsonValue | undefined): number | undefined {
  const isDecimal =
    typeof value === "string" && value.length <= amountLengthMax && decimalPattern.test(value);
  const amount = typeof value === "number" || isDecimal ? Number(value) : NaN;
  return Math.abs(amount) <= amountMax ? amount : undefined;
}

const decimalPattern = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;

/**
 * Reads a count of tokens: a whole number, not negative, so that sums are exact. Undefined for
 * other values.
 */
export function countOf(value: JsonValue | undefined): number | undefined {
  const count = amountOf(value);
  return count !== undefined && Number.isInteger(count) && count >= 0 ? count : undefined;
}
