// Token counts of one model call in disjoint parts: each token is counted in exactly one.
// Source: docs/decisions.md, 18.2; docs/generations.md.

import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";

/** Parts by their names in an event's `metadata.usage`. */
export const usageNames = {
  /** Prompt tokens that were neither read from a cache nor written to one. */
  input: "input",
  cacheRead: "cache_read",
  cacheWrite: "cache_write",
  /** Generated tokens without reasoning. */
  output: "output",
  reasoning: "reasoning",
} as const;

type UsagePart = keyof typeof usageNames;

export type Usage = { readonly [Part in UsagePart]: number };

/** Creates a usage from the count of each part. */
export function usageFrom(countOf: (part: UsagePart) => number): Usage {
  return {
    input: countOf("input"),
    cacheRead: countOf("cacheRead"),
    cacheWrite: countOf("cacheWrite"),
    output: countOf("output"),
    reasoning: countOf("reasoning"),
  };
}

/** Returns the number of prompt tokens, cached ones included. */
export function promptTokens({ input, cacheRead, cacheWrite }: Usage): number {
  return input + cacheRead + cacheWrite;
}

/** Returns the number of generated tokens, reasoning included. */
export function completionTokens({ output, reasoning }: Usage): number {
  return output + reasoning;
}

/** Returns the sums under the names that the OpenAI API and the session totals use. */
export function tokenCounts(usage: Usage) {
  const prompt = promptTokens(usage);
  const completion = completionTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  };
}

/**
 * Returns the `usage` of an answer; undefined if the prompt is not counted, because a cost without
 * it would be too low.
 */
export function parseUsage(usage: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(usage) || !isAmount(usage["prompt_tokens"])) return undefined;
  const prompt = countOf(usage, "prompt_tokens");
  const completion = countOf(usage, "completion_tokens");
  const sent = detailsOf(usage, "prompt_tokens_details");
  const cacheRead = Math.min(prompt, countOf(sent, "cached_tokens"));
  const cacheWrite = Math.min(prompt - cacheRead, countOf(sent, "cache_write_tokens"));
  const reasoning = countOf(detailsOf(usage, "completion_tokens_details"), "reasoning_tokens");
  // Some providers do not include the reasoning in the completion; the total shows it.
  const isBeside = countOf(usage, "total_tokens") === prompt + completion + reasoning;
  return {
    input: prompt - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    output: isBeside ? completion : Math.max(0, completion - reasoning),
    reasoning: isBeside ? reasoning : Math.min(completion, reasoning),
  };
}

function detailsOf(usage: JsonObject, name: string): JsonObject {
  const details = usage[name];
  return isJsonObject(details) ? details : {};
}

function countOf(from: JsonObject, name: string): number {
  const count = isAmount(from[name]) ? Number(from[name]) : 0;
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}

/** Returns whether a value is a number; some servers write counts as decimal text. */
function isAmount(value: JsonValue | undefined): boolean {
  return typeof value === "number" || (typeof value === "string" && /^\d+$/.test(value));
}
