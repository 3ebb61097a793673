// Tokens of one call of a model, in parts that do not overlap: a token is counted in exactly one.
// Source: docs/decisions.md, 18; docs/generations.md.

export type Usage = {
  /** Sent, and neither read from a cache nor written to one. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Answered, without the reasoning. */
  readonly output: number;
  readonly reasoning: number;
};

/** All tokens that were sent. */
export function promptTokens({ input, cacheRead, cacheWrite }: Usage): number {
  return input + cacheRead + cacheWrite;
}

/** All tokens that were generated. */
export function completionTokens({ output, reasoning }: Usage): number {
  return output + reasoning;
}

/** Returns the sums under the names that the OpenAI API and session totals have for them. */
export function tokenCounts(usage: Usage) {
  const prompt = promptTokens(usage);
  const completion = completionTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  };
}
