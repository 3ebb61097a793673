// Tries the targets of a route until one answers: the same one again with growing pauses, then the
// next. Called by chat and proxy around whatever calls a provider; a stream counts as an answer
// from its first byte. Source: docs/decisions.md, 20, 21.

import { setTimeout as delay } from "node:timers/promises";
import { ServiceError } from "../../base/errors.ts";
import { isRetriable, mayFallBack, ProviderError, toServiceError } from "../provider-error.ts";
import type { Route, Target } from "../provider.ts";
import type { Attempt } from "../record/generation-event.ts";
import { type Backoff, backoffDefault, pauseMsAfter } from "./backoff.ts";

export type AttemptsOptions = {
  /** Tries of each target. */
  readonly attemptsMax: number;
  /** Ends everything at once. */
  readonly signal: AbortSignal;
  readonly backoff?: Backoff;
};

export type Attempted<T> = {
  readonly value: T;
  /** The one that answered. */
  readonly target: Target;
  /** In order; the last succeeded. */
  readonly attempts: readonly Attempt[];
};

/** No target answered, or the signal ended the attempts. */
export class AttemptsError extends Error {
  /** What it failed with; undefined where the signal ended it, whose reason says why. */
  readonly error: ProviderError | undefined;
  /** The one that failed so, or was being tried. */
  readonly target: Target;
  readonly attempts: readonly Attempt[];

  constructor(error: ProviderError | undefined, target: Target, attempts: readonly Attempt[]) {
    super(error?.message ?? "the call was ended", { cause: error });
    this.name = "AttemptsError";
    this.error = error;
    this.target = target;
    this.attempts = attempts;
  }
}

type Call<T> = (target: Target, signal: AbortSignal) => Promise<T>;

/**
 * Calls the targets of a route in order until one answers. Each is tried `attemptsMax` times where
 * another try may help; a provider that asks to wait longer than the backoff allows is left at
 * once. `call` is given the signal of the options.
 *
 * Fails with AttemptsError. A ServiceError of `call` says that the request cannot be put to this
 * target: that of the first target is thrown as it is, that of another only ends its turn. Anything
 * else that is no ProviderError is a bug, and thrown as it is.
 */
export async function runAttempts<T>(
  route: Route,
  options: AttemptsOptions,
  call: Call<T>,
): Promise<Attempted<T>> {
  const attempts: Attempt[] = [];
  let failed: { readonly error: ProviderError; readonly target: Target } | undefined;
  for (const target of route.targets) {
    const outcome = await tryTarget(target, options, attempts, call);
    if ("value" in outcome) return { value: outcome.value, target, attempts };
    if (outcome.error === undefined) continue;
    failed = { error: outcome.error, target };
    if (!mayFallBack(outcome.error)) break;
  }
  // Of the first target a refusal is thrown, so that something has failed here.
  throw new AttemptsError(failed?.error, failed?.target ?? route.targets[0], attempts);
}

type Outcome<T> = { readonly value: T } | { readonly error: ProviderError | undefined };

/** Tries one target, and notes each try; an outcome without an error is a refusal. */
async function tryTarget<T>(
  target: Target,
  { attemptsMax, signal, backoff = backoffDefault }: AttemptsOptions,
  attempts: Attempt[],
  call: Call<T>,
): Promise<Outcome<T>> {
  for (let tries = 1; ; tries += 1) {
    const startMs = performance.now();
    const note = (failure: Failure) => attempts.push(toAttempt(target, startMs, failure));
    try {
      const value = await untilAborted(signal, () => call(target, signal));
      note({});
      return { value };
    } catch (error) {
      if (signal.aborted) {
        note({ error: "the call was ended" });
        throw new AttemptsError(undefined, target, attempts);
      }
      if (error instanceof ServiceError && attempts.length > 0) {
        note({ error: `${error.reason}: ${error.message}` });
        return { error: undefined };
      }
      if (!(error instanceof ProviderError)) throw error;
      const { reason } = toServiceError(error);
      note({ error: `${reason}: ${error.message}`, status: error.status });
      const pauseMs = pauseMsAfter(tries, error.retryAfterSeconds, backoff);
      if (tries >= attemptsMax || !isRetriable(error) || pauseMs === undefined) return { error };
      await pause(pauseMs, signal, () => new AttemptsError(undefined, target, attempts));
    }
  }
}

type Failure = { readonly error?: string; readonly status?: number | undefined };

function toAttempt({ connection, model }: Target, startMs: number, failure: Failure): Attempt {
  const durationMs = Math.round(performance.now() - startMs);
  return { provider: connection.name, model, durationMs, ...failure };
}

/** What is called may be slow to notice the signal, such as while it connects. */
async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  let onAbort = () => {};
  const aborted = new Promise<never>((_, fail) => {
    onAbort = () => fail(new Error("aborted"));
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    // Of what loses the race nobody reads the outcome: it was told to end by the same signal.
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function pause(ms: number, signal: AbortSignal, toError: () => Error): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch {
    // Only the signal ends a pause early.
    throw toError();
  }
}
