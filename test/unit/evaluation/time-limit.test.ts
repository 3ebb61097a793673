// The time that a sandbox process has: what it is kept waiting for a processor does not count.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { startTimeLimit } from "../../../src/evaluation/runner/python/time-limit.ts";

const wallMs = 1_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Returns after how long the limit came, of at most ten limits. */
async function timeOf(
  use: (elapsedMs: number) => { isRunnable: boolean; cpuMs: number } | undefined,
) {
  const begunAt = performance.now();
  let endedMs: number | undefined;
  const stop = startTimeLimit({
    wallMs,
    readUse: () => use(performance.now() - begunAt),
    onLimit: () => (endedMs = performance.now() - begunAt),
  });
  await vi.advanceTimersByTimeAsync(10 * wallMs);
  stop();
  return endedMs;
}

describe("the limit comes", () => {
  test("after the time where the process has a processor to itself", async () => {
    const ended = await timeOf((elapsedMs) => ({ isRunnable: true, cpuMs: 5_000 + elapsedMs }));
    expect(ended).toBeCloseTo(wallMs, -1);
  });

  test("after the time where the process sleeps", async () => {
    const ended = await timeOf(() => ({ isRunnable: false, cpuMs: 5_000 }));
    expect(ended).toBeCloseTo(wallMs, -1);
  });

  test("after the time where the system tells nothing", async () => {
    expect(await timeOf(() => undefined)).toBeCloseTo(wallMs, -1);
  });

  test("after twice the time or so where the process has half a processor", async () => {
    const ended = await timeOf((elapsedMs) => ({ isRunnable: true, cpuMs: elapsedMs / 2 }));
    expect(ended).toBeGreaterThan(1.7 * wallMs);
    expect(ended).toBeLessThanOrEqual(2 * wallMs);
  });

  test("after six times the time where the process gets nothing at all", async () => {
    const ended = await timeOf(() => ({ isRunnable: true, cpuMs: 0 }));
    expect(ended).toBeCloseTo(6 * wallMs, -1);
  });

  test("no later where several threads use more than time goes by", async () => {
    const ended = await timeOf((elapsedMs) => ({ isRunnable: true, cpuMs: elapsedMs * 4 }));
    expect(ended).toBeCloseTo(wallMs, -1);
  });
});

test("no limit comes once it is stopped", async () => {
  const onLimit = vi.fn<() => void>();
  const stop = startTimeLimit({ wallMs, readUse: () => undefined, onLimit });
  await vi.advanceTimersByTimeAsync(wallMs / 2);
  stop();
  await vi.advanceTimersByTimeAsync(10 * wallMs);
  expect(onLimit).not.toHaveBeenCalled();
});
