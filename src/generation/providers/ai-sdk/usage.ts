// Converts the token counts of the Vercel AI SDK to Usage.
// Source: docs/decisions.md, 18; docs/generations.md.

import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { Usage } from "../../usage.ts";

/** Returns the tokens in disjoint parts; undefined if the provider reported none. */
export function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | undefined {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined;
  const cacheRead = countOf(inputTokens.cacheRead);
  const cacheWrite = countOf(inputTokens.cacheWrite);
  const reasoning = countOf(outputTokens.reasoning);
  return {
    input: countOf(inputTokens.noCache ?? countOf(inputTokens.total) - cacheRead - cacheWrite),
    cacheRead,
    cacheWrite,
    output: countOf(outputTokens.text ?? countOf(outputTokens.total) - reasoning),
    reasoning,
  };
}

// A provider's wrong counts must not result in a negative number of tokens.
function countOf(tokens: number | undefined): number {
  return tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? tokens : 0;
}
