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
