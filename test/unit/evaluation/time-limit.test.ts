// The time limit of a sandbox process: waiting for a processor does not count.

import { existsSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  readUseOf,
  startTimeLimit,
  type Use,
} from "../../../src/evaluation/runner/python/time-limit.ts";

const wallMs = 1_000;
const longestMs = 6_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Returns after how long the limit came, of at most ten limits. */
async function timeOf(use: (elapsedMs: number) => Use | undefined, longest = longestMs) {
  const begunAt = performance.now();
  let endedMs: number | undefined;
  const stop = startTimeLimit({
    wallMs,
    longestMs: longest,
    readUse: () => use(performance.now() - begunAt),
    onLimit: () => (endedMs = performance.now() - begunAt),
  });
  await vi.advanceTimersByTimeAsync(10 * wallMs);
  stop();
  return endedMs;
}

const starved = (elapsedMs: number): Use => ({ waitedMs: elapsedMs, cpuMs: 0 });

describe("the limit comes", () => {
  test.each<[string, (elapsedMs: number) => Use | undefined]>([
    ["has a processor to itself", (elapsedMs) => ({ waitedMs: 70, cpuMs: 5_000 + elapsedMs })],
    ["sleeps", () => ({ waitedMs: 70, cpuMs: 5_000 })],
    ["is nothing that the system tells of", () => undefined],
    ["has threads that wait for each other", (ms) => ({ waitedMs: ms, cpuMs: 2 * ms })],
  ])("after the time where the process %s", async (_, use) => {
    expect(await timeOf(use)).toBeCloseTo(wallMs, -1);
  });

  test("after twice the time or so where the process has half a processor", async () => {
    const ended = await timeOf((ms) => ({ waitedMs: ms / 2, cpuMs: ms / 2 }));
    expect(ended).toBeGreaterThan(1.7 * wallMs);
    expect(ended).toBeLessThanOrEqual(2 * wallMs);
  });

  test("after the longest time where the process gets nothing at all", async () => {
    expect(await timeOf(starved)).toBeCloseTo(longestMs, -1);
  });

  test("after the time where waiting is to count", async () => {
    expect(await timeOf(starved, wallMs)).toBeCloseTo(wallMs, -1);
  });
});

test("no limit comes once it is stopped", async () => {
  const onLimit = vi.fn<() => void>();
  const stop = startTimeLimit({ wallMs, longestMs, readUse: () => undefined, onLimit });
  await vi.advanceTimersByTimeAsync(wallMs / 2);
  stop();
  await vi.advanceTimersByTimeAsync(10 * wallMs);
  expect(onLimit).not.toHaveBeenCalled();
});

test.runIf(existsSync("/proc/self/schedstat"))("Linux tells of this process, and of none", () => {
  const use = readUseOf(process.pid);
  expect(use?.cpuMs).toBeGreaterThan(0);
  expect(use?.waitedMs).toBeGreaterThanOrEqual(0);
  expect(readUseOf(2 ** 30)).toBeUndefined();
});
