// When the garbage of large requests is collected, and that V8 does collect it.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createSharedBudget } from "../../../src/base/byte-budget.ts";
import {
  createCollector,
  createGarbageCounter,
  createHeapWatch,
} from "../../../src/base/garbage.ts";

describe("createGarbageCounter", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const large = 10_000_000;

  test("collects once for large pieces that are freed together", async () => {
    const collect = vi.fn(() => Promise.resolve());
    const garbage = createGarbageCounter(collect);

    for (let count = 0; count < 20; count += 1) garbage.note(large);
    await vi.advanceTimersByTimeAsync(1_000);

    expect(collect).toHaveBeenCalledTimes(1);
  });

  test("collects again for what is freed later", async () => {
    const collect = vi.fn(() => Promise.resolve());
    const garbage = createGarbageCounter(collect);

    for (let count = 0; count < 2; count += 1) {
      garbage.note(2 * large);
      await vi.advanceTimersByTimeAsync(1_000);
    }

    expect(collect).toHaveBeenCalledTimes(2);
  });

  test("does not wait for ever while more is freed", async () => {
    const collect = vi.fn(() => Promise.resolve());
    const garbage = createGarbageCounter(collect);

    for (let count = 0; count < 50; count += 1) {
      garbage.note(large);
      await vi.advanceTimersByTimeAsync(50);
    }

    expect(collect.mock.calls.length).toBeGreaterThan(2);
  });

  test("tells of a collection that is due until it has ended", async () => {
    const collection = Promise.withResolvers<undefined>();
    const garbage = createGarbageCounter(() => collection.promise);
    const isDue = (): boolean => garbage.due() !== undefined;
    const seen = [isDue()];

    garbage.note(6 * large);
    seen.push(isDue());
    garbage.note(large);
    seen.push(isDue());
    await vi.advanceTimersByTimeAsync(1_000);
    seen.push(isDue());
    collection.resolve(undefined);
    await garbage.due();
    seen.push(isDue());

    expect(seen).toEqual([false, false, true, true, false]);
  });

  test("leaves small pieces to V8", async () => {
    const collect = vi.fn(() => Promise.resolve());
    const garbage = createGarbageCounter(collect);

    for (let count = 0; count < 10_000; count += 1) garbage.note(100_000);
    await vi.advanceTimersByTimeAsync(1_000);

    expect(collect).not.toHaveBeenCalled();
  });
});

test("bytes that were never used are no garbage", () => {
  const noted: number[] = [];
  const garbage = {
    note: (bytes: number) => void noted.push(bytes),
    due: () => undefined,
    look: () => undefined,
  };
  const memory = createSharedBudget(100, "bytes", { garbage }).open([]);

  memory.grow(60);
  memory.giveBack(40);
  const left = memory.bytes();
  memory.release();

  expect({ left, noted, after: memory.bytes() }).toEqual({ left: 20, noted: [20], after: 0 });
});

describe("createHeapWatch", () => {
  test("collects when the heap has grown by 96 MB since the last collection", async () => {
    let used = 50_000_000;
    const collect = vi.fn(() => {
      used = 60_000_000;
      return Promise.resolve();
    });
    const look = createHeapWatch(collect, () => used);
    const seen: number[] = [];

    for (const bytes of [50, 140, 145, 147, 150, 156, 200].map((mb) => mb * 1_000_000)) {
      used = bytes;
      look();
      await Promise.resolve();
      await Promise.resolve();
      seen.push(collect.mock.calls.length);
    }

    expect(seen).toEqual([0, 0, 0, 1, 1, 2, 3]);
  });
});

describe("createCollector", () => {
  test("returns freed pages to the system when there are many", async () => {
    const heap = { bytes: 0, bytesAfter: 0 };
    const collectGarbage = vi.fn(() => {
      heap.bytes = heap.bytesAfter;
      return Promise.resolve();
    });
    const collect = createCollector(collectGarbage, () => heap.bytes);
    const seen: number[] = [];

    for (const [before, after] of [
      [100, 50],
      [90, 40],
      [103, 40],
      [105, 40],
      [103, 40],
    ] as const) {
      Object.assign(heap, { bytes: before * 1_000_000, bytesAfter: after * 1_000_000 });
      await collect();
      seen.push(collectGarbage.mock.calls.length);
    }

    expect(seen).toEqual([1, 2, 3, 5, 6]);
    const lastResort = { type: "major", execution: "async", flavor: "last-resort" };
    expect(collectGarbage).toHaveBeenNthCalledWith(5, lastResort);
  });
});

const collected = Promise.withResolvers<string>();
/** Tells of nothing once it is garbage itself. */
const registry = new FinalizationRegistry((name: string) => collected.resolve(name));

test("V8 collects what is no longer held", async () => {
  const garbage = createGarbageCounter();
  (() => registry.register({ list: [1] }, "a list"))();

  garbage.note(64_000_000);

  expect(await collected.promise).toBe("a list");
});
