// Tokens and cost that an event was sent with, as the totals of its session count them.

import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

export type EventAmounts = {
  readonly prompt?: number;
  readonly completion?: number;
  /** The sum of both where no total was sent. */
  readonly tokens?: number;
  /** US dollars. */
  readonly cost?: number;
};

/** Returns the amounts of an event's metadata; absent ones were not sent. */
export function amountsOf(metadata: JsonObject = {}): EventAmounts {
  const prompt = toCount(metadata["prompt_tokens"]) ?? toCount(metadata["input_tokens"]);
  const completion = toCount(metadata["completion_tokens"]) ?? toCount(metadata["output_tokens"]);
  const tokens = toCount(metadata["total_tokens"]) ?? (prompt ?? 0) + (completion ?? 0);
  const cost = toAmount(metadata["cost"]);
  return {
    ...(prompt !== undefined && { prompt }),
    ...(completion !== undefined && { completion }),
    ...(tokens > 0 && { tokens }),
    ...(cost !== undefined && { cost }),
  };
}

/** Reads a count: a whole number, not negative. */
function toCount(value: JsonValue | undefined): number | undefined {
  const count = toAmount(value);
  return count !== undefined && Number.isInteger(count) && count >= 0 ? count : undefined;
}

const amountMax = 1e15;
const textLengthMax = 100;
const decimalPattern = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;

/** Reads a number, or decimal text, which exporters with text attributes only send. */
function toAmount(value: JsonValue | undefined): number | undefined {
  const isText =
    typeof value === "string" && value.length <= textLengthMax && decimalPattern.test(value);
  const amount = typeof value === "number" || isText ? Number(value) : NaN;
  return Math.abs(amount) <= amountMax ? amount : undefined;
}
