// Token counts of one model call in disjoint parts: each token is counted in exactly one.
// Source: docs/decisions.md, 18; docs/generations.md.

export type Usage = {
  /** Prompt tokens that were neither read from a cache nor written to one. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Generated tokens without reasoning. */
  readonly output: number;
  readonly reasoning: number;
};

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
