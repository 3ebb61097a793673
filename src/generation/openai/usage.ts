// Converts token counts of the OpenAI API to disjoint parts. Its prompt tokens include the cached
// ones, its completion tokens the reasoning. Source: the OpenAI API reference, "usage";
// docs/decisions.md, 18.

import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { Usage } from "../usage.ts";

/** Returns the `usage` of an answer; undefined without token counts. */
export function parseUsage(usage: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(usage) || typeof usage["prompt_tokens"] !== "number") return undefined;
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
  const count = from[name];
  return typeof count === "number" && Number.isSafeInteger(count) && count > 0 ? count : 0;
}
