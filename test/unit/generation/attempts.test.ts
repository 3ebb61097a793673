// Retries and fallbacks, without a provider: targets, attempts and the error that is told.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ServiceError } from "../../../src/base/errors.ts";
import {
  AttemptsError,
  type Backoff,
  pauseMsAfter,
  runAttempts,
} from "../../../src/generation/calls/attempts.ts";
import { ProviderError, type ProviderFailure } from "../../../src/generation/provider-error.ts";
import type { Route } from "../../../src/generation/provider.ts";
import { routeOf } from "./connections.ts";

const backoff: Backoff = { firstMs: 1, pauseMsMax: 4, retryAfterMsMax: 20_000, random: () => 0 };

type Failed = {
  readonly failure?: ProviderFailure;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
};

function failure({ failure = "status", status, retryAfterSeconds }: Failed): ProviderError {
  const rest = { status, retryAfterSeconds };
  return new ProviderError({ failure, provider: "p", what: "said no", ...rest });
}

/** Calls a script of outcomes in order, and tells what was called. */
function script(...outcomes: readonly (Error | string)[]) {
  const calls: string[] = [];
  const call = ({ connection, model }: Route["targets"][0]) => {
    const outcome = outcomes[calls.length];
    calls.push(`${connection.name}/${model}`);
    if (typeof outcome === "string") return Promise.resolve(outcome);
    return Promise.reject(outcome ?? new Error("called too often"));
  };
  return { call, calls };
}

function run(route: Route, call: ReturnType<typeof script>["call"], attemptsMax = 3) {
  const { signal } = new AbortController();
  return runAttempts(route, { attemptsMax, signal, backoff }, call);
}

async function failureOf(promise: Promise<unknown>): Promise<AttemptsError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof AttemptsError) return error;
  throw new Error("no AttemptsError", { cause: error });
}

describe("runAttempts", () => {
  test("answers with what the first target answers", async () => {
    const { call, calls } = script("yes");

    const { value, target, attempts } = await run(routeOf("a/m", "b/m"), call);

    expect({ value, name: target.connection.name, calls }).toEqual({
      value: "yes",
      name: "a",
      calls: ["a/m"],
    });
    expect(attempts).toEqual([
      { provider: "a", model: "m", durationMs: expect.any(Number) as number },
    ]);
  });

  test.each<Failed & { readonly name: string }>([
    { name: "at its rate limit", status: 429 },
    { name: "that timed out by its own account", status: 408 },
    { name: "that failed", status: 500 },
    { name: "that is overloaded", status: 529 },
    { name: "that cannot be reached", failure: "connection" },
    { name: "that is late", failure: "timeout" },
  ])("tries a provider again $name, then the next one", async (failed) => {
    const error = failure(failed);
    const { call, calls } = script(error, error, error, "yes");

    const { value, attempts } = await run(routeOf("a/m", "b/n"), call);

    expect(value).toBe("yes");
    expect(calls).toEqual(["a/m", "a/m", "a/m", "b/n"]);
    expect(attempts.map((one) => one.error === undefined)).toEqual([false, false, false, true]);
    expect(attempts[0]).toMatchObject({ provider: "a", model: "m", status: failed.status });
  });

  test.each<Failed & { readonly name: string }>([
    { name: "refuses the credentials", status: 401 },
    { name: "forbids", status: 403 },
    { name: "does not have the model", status: 404 },
    { name: "answers nonsense", failure: "malformed" },
    { name: "is at a private address", failure: "address" },
  ])("goes on to the next at once when a provider $name", async (failed) => {
    const { call, calls } = script(failure(failed), "yes");

    await run(routeOf("a/m", "b/n"), call);

    expect(calls).toEqual(["a/m", "b/n"]);
  });

  test.each([400, 413, 422])("asks nobody else after a %i", async (status) => {
    const { call, calls } = script(failure({ status }), "yes");

    const { error, target } = await failureOf(run(routeOf("a/m", "b/n"), call));

    expect(calls).toEqual(["a/m"]);
    expect({ status: error?.status, name: target.connection.name }).toEqual({ status, name: "a" });
  });

  test("fails as the last target did, and tells of every attempt", async () => {
    const { call } = script(failure({ status: 429 }), failure({ status: 500 }));

    const { error, target, attempts } = await failureOf(run(routeOf("a/m", "b/n"), call, 1));

    expect(error?.status).toBe(500);
    expect(target.connection.name).toBe("b");
    expect(attempts.map((one) => one.error)).toEqual([
      "PROVIDER_LIMITED: provider p said no",
      "PROVIDER_FAILED: provider p said no",
    ]);
  });

  test("leaves a provider that asks for a longer wait than anyone has", async () => {
    const { call, calls } = script(failure({ status: 429, retryAfterSeconds: 21 }), "yes");

    await run(routeOf("a/m", "b/n"), call);

    expect(calls).toEqual(["a/m", "b/n"]);
  });

  test("throws what a request cannot be put to the first target for", async () => {
    const refusal = new ServiceError("INVALID_ARGUMENT", "logit_bias: not there");
    const { call, calls } = script(refusal, "yes");

    await expect(run(routeOf("a/m", "b/n"), call)).rejects.toBe(refusal);
    expect(calls).toEqual(["a/m"]);
  });

  test("passes over a fallback that the request cannot be put to", async () => {
    const refusal = new ServiceError("INVALID_ARGUMENT", "logit_bias: not there");
    const { call } = script(failure({ status: 500 }), refusal);

    const { error, target, attempts } = await failureOf(run(routeOf("a/m", "b/n"), call, 1));

    expect(error?.status).toBe(500);
    expect(target.connection.name).toBe("a");
    expect(attempts[1]).toMatchObject({
      provider: "b",
      error: "INVALID_ARGUMENT: logit_bias: not there",
    });
  });

  test("fails as the provider did when its next try is refused", async () => {
    const refusal = new ServiceError("OVERLOADED", "no place is free");
    const { call } = script(failure({ status: 503 }), refusal);

    const { error, attempts } = await failureOf(run(routeOf("a/m"), call));

    expect(error?.status).toBe(503);
    expect(attempts.map((attempt) => attempt.error)).toEqual([
      expect.stringContaining("provider p said no"),
      "OVERLOADED: no place is free",
    ]);
  });

  test("throws a bug as it is", async () => {
    const bug = new TypeError("undefined is not a function");
    const { call, calls } = script(bug, "yes");

    await expect(run(routeOf("a/m", "b/n"), call)).rejects.toBe(bug);
    expect(calls).toHaveLength(1);
  });

  test("ends at the signal while a call ignores it", async () => {
    const controller = new AbortController();
    const call = () => {
      controller.abort();
      return new Promise<never>(() => undefined);
    };
    const options = { attemptsMax: 3, signal: controller.signal, backoff };

    const { error, attempts } = await failureOf(runAttempts(routeOf("a/m", "b/n"), options, call));

    expect(error).toBeUndefined();
    expect(attempts).toMatchObject([{ provider: "a", error: "the call was ended" }]);
  });

  test("ends at the signal while it waits for another try", async () => {
    const controller = new AbortController();
    let calls = 0;
    const call = () => {
      calls += 1;
      setImmediate(() => controller.abort());
      return Promise.reject(failure({ status: 503, retryAfterSeconds: 20 }));
    };
    const options = { attemptsMax: 3, signal: controller.signal, backoff };

    const { error, attempts } = await failureOf(runAttempts(routeOf("a/m", "b/n"), options, call));

    expect({ error, calls }).toEqual({ error: undefined, calls: 1 });
    expect(attempts).toHaveLength(1);
  });

  test("calls nobody when the signal has ended before", async () => {
    const { call, calls } = script("yes");
    const options = { attemptsMax: 3, signal: AbortSignal.abort(), backoff };

    const { error } = await failureOf(runAttempts(routeOf("a/m"), options, call));

    expect(error).toBeUndefined();
    expect(calls).toEqual([]);
  });
});

describe("pauseMsAfter", () => {
  const real: Backoff = { firstMs: 250, pauseMsMax: 8_000, retryAfterMsMax: 20_000 };

  test("doubles what a pause may take, up to the most", () => {
    const longest = { ...real, random: () => 1 };
    const got = [1, 2, 3, 6, 7, 100].map((failures) => pauseMsAfter(failures, undefined, longest));

    expect(got).toEqual([250, 500, 1_000, 8_000, 8_000, 8_000]);
  });

  test("takes any part of it", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), (failures) => {
        const got = pauseMsAfter(failures, undefined, real) ?? NaN;
        expect(got).toBeGreaterThanOrEqual(0);
        expect(got).toBeLessThanOrEqual(8_000);
      }),
    );
  });

  test.each([
    { seconds: 0, min: 0, max: 250 },
    { seconds: 3, min: 3_000, max: 3_250 },
    { seconds: 20, min: 20_000, max: 20_250 },
  ])("waits as long as a provider asks: $seconds s", ({ seconds, min, max }) => {
    const got = pauseMsAfter(1, seconds, real);

    expect(got).toBeGreaterThanOrEqual(min);
    expect(got).toBeLessThanOrEqual(max);
  });

  test.each([21, Infinity])("does not wait %d s", (seconds) => {
    expect(pauseMsAfter(1, seconds, real)).toBeUndefined();
  });
});
