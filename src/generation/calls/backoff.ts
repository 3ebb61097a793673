// How long to wait before another try: exponential with full jitter, or as long as the provider
// says. Called by attempts.ts. Source: docs/decisions.md, 21.

export type Backoff = {
  /** The longest pause after the first failure; it doubles with each. */
  readonly firstMs: number;
  /** What it grows to. */
  readonly pauseMsMax: number;
  /** A provider that asks for a longer pause is not waited for. */
  readonly retryAfterMsMax: number;
  /** From 0 to 1. */
  readonly random?: () => number;
};

export const backoffDefault: Backoff = {
  firstMs: 250,
  pauseMsMax: 8_000,
  retryAfterMsMax: 20_000,
};

/**
 * Returns the pause after so many failures, from 1, or undefined where the provider asks for more
 * than is waited for. Full jitter: callers that failed together do not come again together.
 */
export function pauseMsAfter(
  failures: number,
  retryAfterSeconds: number | undefined,
  { firstMs, pauseMsMax, retryAfterMsMax, random = Math.random }: Backoff,
): number | undefined {
  const jitterMs = random() * Math.min(pauseMsMax, firstMs * 2 ** (failures - 1));
  if (retryAfterSeconds === undefined) return jitterMs;
  const askedMs = retryAfterSeconds * 1_000;
  // Not before the time that was asked for, and not all at that very time.
  return askedMs > retryAfterMsMax ? undefined : askedMs + random() * firstMs;
}
