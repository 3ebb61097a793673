// Token counts of one model call in disjoint parts: each token is counted in exactly one.
// Source: docs/decisions.md, 18.2; docs/generations.md.

import { isJsonObject, type JsonObject, type JsonValue } from "../base/json.ts";

/** Parts by their names in an event's `metadata.usage`. */
export const usageNames = {
  /** Prompt tokens that were neither audio nor read from a cache nor written to one. */
  input: "input",
  inputAudio: "input_audio",
  cacheRead: "cache_read",
  cacheWrite: "cache_write",
  /** Generated tokens without audio and reasoning. */
  output: "output",
  outputAudio: "output_audio",
  reasoning: "reasoning",
} as const;

type UsagePart = keyof typeof usageNames;

export type Usage = { readonly [Part in UsagePart]: number };

/** Parts that an event leaves out where there are none. */
export const rareParts: ReadonlySet<string> = new Set<UsagePart>(["inputAudio", "outputAudio"]);

/** Creates a usage from the count of each part. */
export function usageFrom(countOf: (part: UsagePart) => number): Usage {
  return {
    input: countOf("input"),
    inputAudio: countOf("inputAudio"),
    cacheRead: countOf("cacheRead"),
    cacheWrite: countOf("cacheWrite"),
    output: countOf("output"),
    outputAudio: countOf("outputAudio"),
    reasoning: countOf("reasoning"),
  };
}

/** Returns the number of prompt tokens, audio and cached ones included. */
export function promptTokens({ input, inputAudio, cacheRead, cacheWrite }: Usage): number {
  return input + inputAudio + cacheRead + cacheWrite;
}

/** Returns the number of generated tokens, audio and reasoning included. */
export function completionTokens({ output, outputAudio, reasoning }: Usage): number {
  return output + outputAudio + reasoning;
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
  const uncached = prompt - cacheRead - cacheWrite;
  const inputAudio = Math.min(uncached, countOf(sent, "audio_tokens"));
  const generated = detailsOf(usage, "completion_tokens_details");
  const counted = countOf(generated, "reasoning_tokens");
  // Some providers do not include the reasoning in the completion; the total shows it.
  const isBeside = countOf(usage, "total_tokens") === prompt + completion + counted;
  const reasoning = isBeside ? counted : Math.min(completion, counted);
  const answered = isBeside ? completion : completion - reasoning;
  const outputAudio = Math.min(answered, countOf(generated, "audio_tokens"));
  return {
    input: uncached - inputAudio,
    inputAudio,
    cacheRead,
    cacheWrite,
    output: answered - outputAudio,
    outputAudio,
    reasoning,
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
