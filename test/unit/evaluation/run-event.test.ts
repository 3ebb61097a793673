// One evaluator on one event: time limits, failures that are the event's, and failures that the
// caller has to retry.

import { describe, expect, test } from "vitest";
import { ServiceError } from "../../../src/base/errors.ts";
import type { Reason } from "../../../src/base/errors.ts";
import { openPatiently, runEvent } from "../../../src/evaluation/scores/run-event.ts";
import type { RunEventOptions } from "../../../src/evaluation/scores/run-event.ts";
import type { RunResult } from "../../../src/evaluation/runner/runner.ts";

const score: RunResult = { kind: "score", score: 1, explanation: undefined, output: "" };

/** Fails as often as there are errors, then answers with a score; counts its calls. */
function failingWith(...errors: readonly Error[]) {
  const waiting = [...errors];
  const calls = { count: 0 };
  const run = async (): Promise<RunResult> => {
    calls.count += 1;
    const error = waiting.shift();
    if (error !== undefined) throw error;
    return score;
  };
  return { calls, run };
}

function optionsOf(options: Partial<RunEventOptions> = {}): RunEventOptions {
  return {
    signal: new AbortController().signal,
    mayWait: () => true,
    pauseMs: 1,
    onBug: () => undefined,
    ...options,
  };
}

const fault = (reason: Reason) => new ServiceError(reason, `the provider says ${reason}`);
const times = <T>(count: number, value: T): readonly T[] =>
  Array.from({ length: count }, () => value);

describe("runEvent", () => {
  test.each(["PROVIDER_FAILED", "PROVIDER_LIMITED", "PROVIDER_TIMEOUT"] as const)(
    "tries five times where a provider answers %s, then that is the event's failure",
    async (reason) => {
      const mended = failingWith(...times(4, fault(reason)));
      const broken = failingWith(...times(5, fault(reason)));

      expect(await runEvent(mended.run, optionsOf())).toEqual(score);
      const got = await runEvent(broken.run, optionsOf());

      const message = `the provider says ${reason}`;
      expect(got).toEqual({ kind: "failure", reason, message, output: "" });
      expect([mended.calls.count, broken.calls.count]).toEqual([5, 5]);
    },
  );

  test("takes what no further attempt can help for a failure at once", async () => {
    const rejected = failingWith(fault("CREDENTIAL_UNREADABLE"));

    const got = await runEvent(rejected.run, optionsOf());

    expect(got).toMatchObject({ kind: "failure", reason: "CREDENTIAL_UNREADABLE" });
    expect(rejected.calls.count).toBe(1);
  });

  test.each([
    { name: "a sandbox that does not start", error: fault("SANDBOX_UNAVAILABLE") },
    { name: "a database that is away", error: fault("DATABASE_UNAVAILABLE") },
    {
      name: "a connection to the database that broke",
      error: Object.assign(new Error("closed"), { code: "CONNECTION_CLOSED" }),
    },
  ])("fails with $name, which says nothing about the event", async ({ error }) => {
    const { run, calls } = failingWith(error);

    await expect(runEvent(run, optionsOf())).rejects.toBe(error);

    expect(calls.count).toBe(1);
  });

  test("waits for a place as long as it may, and leaves the event when it may not", async () => {
    const patient = failingWith(fault("OVERLOADED"), fault("OVERLOADED"));
    const hurried = failingWith(fault("OVERLOADED"));

    expect(await runEvent(patient.run, optionsOf())).toEqual(score);
    expect(await runEvent(hurried.run, optionsOf({ mayWait: () => false }))).toBeUndefined();
  });

  test("keeps a bug to the log: the failure says nothing of it", async () => {
    const bug = new TypeError("secret of the service");
    const told: unknown[] = [];
    const { run, calls } = failingWith(...times(5, bug));

    const got = await runEvent(run, optionsOf({ onBug: (error) => told.push(error) }));

    expect(got).toMatchObject({ kind: "failure", reason: "INTERNAL" });
    expect(JSON.stringify(got)).not.toContain("secret");
    expect(told).toEqual(times(5, bug));
    expect(calls.count).toBe(5);
  });

  test("ends with the signal's reason, whatever the run says of its end", async () => {
    const stopping = new AbortController();
    const reason = new Error("the worker stops");
    const run = async () => {
      stopping.abort(reason);
      throw fault("PROVIDER_FAILED");
    };

    await expect(runEvent(run, optionsOf({ signal: stopping.signal }))).rejects.toBe(reason);
  });
});

describe("openPatiently", () => {
  const { signal } = new AbortController();

  test("waits for a place", async () => {
    const { run, calls } = failingWith(fault("OVERLOADED"), fault("OVERLOADED"));

    expect(await openPatiently(run, { signal, waitMs: 60_000 })).toEqual(score);

    expect(calls.count).toBe(3);
  });

  test("gives up where there is none for a step, so that others have theirs", async () => {
    const { run, calls } = failingWith(...times(9, fault("OVERLOADED")));

    expect(await openPatiently(run, { signal, waitMs: 0 })).toBeUndefined();

    expect(calls.count).toBe(1);
  });

  test("fails at once with anything else, and once it is to stop", async () => {
    const away = fault("SANDBOX_UNAVAILABLE");
    const stopped = new Error("the worker stops");
    const full = failingWith(...times(9, fault("OVERLOADED")));

    await expect(openPatiently(failingWith(away).run, { signal, waitMs: 0 })).rejects.toBe(away);
    const aborted = { signal: AbortSignal.abort(stopped), waitMs: 60_000 };
    const stopping = openPatiently(full.run, aborted);
    await expect(stopping).rejects.toBe(stopped);

    expect(full.calls.count).toBe(1);
  });
});
