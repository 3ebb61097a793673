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
  const prompt = toAmount(metadata["prompt_tokens"]) ?? toAmount(metadata["input_tokens"]);
  const completion = toAmount(metadata["completion_tokens"]) ?? toAmount(metadata["output_tokens"]);
  const tokens = toAmount(metadata["total_tokens"]) ?? (prompt ?? 0) + (completion ?? 0);
  const cost = toAmount(metadata["cost"]);
  return {
    ...(prompt !== undefined && { prompt }),
    ...(completion !== undefined && { completion }),
    ...(tokens > 0 && { tokens }),
    ...(cost !== undefined && { cost }),
  };
}

/** Reads a number, or its text, which exporters with text attributes only send. */
function toAmount(value: JsonValue | undefined): number | undefined {
  const isText = typeof value === "string" && value.trim() !== "";
  const amount = typeof value === "number" || isText ? Number(value) : NaN;
  return Number.isFinite(amount) ? amount : undefined;
}
