// Pause before a retry: exponential with full jitter, or as long as the provider asks.
// Source: docs/decisions.md, 21.

export type Backoff = {
  /** Longest pause after the first failure; doubles with each failure. */
  readonly firstMs: number;
  /** Upper bound of the growing pause. */
  readonly pauseMsMax: number;
  /** Longest `Retry-After` that is waited for. */
  readonly retryAfterMsMax: number;
  /** Returns a number from 0 to 1. */
  readonly random?: () => number;
};

export const backoffDefault: Backoff = {
  firstMs: 250,
  pauseMsMax: 8_000,
  retryAfterMsMax: 20_000,
};

/**
 * Returns the pause after `failures` failures (1 or more), or undefined if the provider asks for a
 * longer pause than the maximum. Full jitter, so that callers that failed together do not retry
 * together.
 */
export function pauseMsAfter(
  failures: number,
  retryAfterSeconds: number | undefined,
  { firstMs, pauseMsMax, retryAfterMsMax, random = Math.random }: Backoff,
): number | undefined {
  const jitterMs = random() * Math.min(pauseMsMax, firstMs * 2 ** (failures - 1));
  if (retryAfterSeconds === undefined) return jitterMs;
  const askedMs = retryAfterSeconds * 1_000;
  // Never earlier than asked, and spread so that callers do not all return at that time.
  return askedMs > retryAfterMsMax ? undefined : askedMs + random() * firstMs;
}
