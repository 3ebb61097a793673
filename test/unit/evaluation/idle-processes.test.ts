// The processes that are kept ready: how many, and whose start comes first.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createIdleProcesses } from "../../../src/evaluation/runner/python/idle-processes.ts";
import type { Guest } from "../../../src/evaluation/runner/python/process.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type FakeGuest = Guest & { readonly number: number };

/** Idle processes whose processes start when the test says so. */
function aPool(counts: { readonly countMin: number; readonly countMax: number }) {
  const starts: PromiseWithResolvers<Guest>[] = [];
  const killed: number[] = [];
  const failures: unknown[] = [];
  let made = 0;
  const aGuest = (): FakeGuest => {
    const listeners: (() => void)[] = [];
    const number = (made += 1);
    return {
      number,
      ask: () => Promise.reject(new Error("nobody asks in this test")),
      isAlive: () => true,
      onEnd: (listener) => void listeners.push(listener),
      kill: () => {
        killed.push(number);
        for (const listener of listeners) listener();
      },
    };
  };
  const idle = createIdleProcesses({
    ...counts,
    spawn: () => {
      const start = Promise.withResolvers<Guest>();
      starts.push(start);
      return start.promise;
    },
    onFailure: (error) => void failures.push(error),
  });
  const settle = async (): Promise<void> => {
    await vi.advanceTimersByTimeAsync(0);
  };
  return {
    idle,
    killed,
    failures,
    settle,
    underWay: () => starts.length,
    async begin(): Promise<void> {
      starts.shift()?.resolve(aGuest());
      await settle();
    },
    async fail(): Promise<void> {
      starts.shift()?.reject(new Error("no process"));
      await settle();
    },
    async take(): Promise<number | undefined> {
      let number: number | undefined;
      void idle.take().then((guest) => (number = (guest as FakeGuest).number));
      await settle();
      return number;
    },
  };
}

describe("kept ready", () => {
  test("is nothing before the start, and one after it", async () => {
    const pool = aPool({ countMin: 1, countMax: 2 });
    expect(pool.underWay()).toBe(0);
    pool.idle.start();
    expect(pool.underWay()).toBe(1);
    expect(pool.idle.isFull()).toBe(false);
    await pool.begin();
    expect(pool.idle.isFull()).toBe(true);
    expect(pool.underWay()).toBe(0);
  });

  test("are as many as were taken of late, up to the most, and less again later", async () => {
    const pool = aPool({ countMin: 1, countMax: 2 });
    pool.idle.start();
    await pool.begin();
    for (let number = 0; number < 3; number += 1) {
      await pool.take();
      await pool.begin();
    }
    while (pool.underWay() > 0) await pool.begin();
    expect(pool.idle.isFull()).toBe(true);
    expect([await pool.take(), await pool.take()]).not.toContain(undefined);
    while (pool.underWay() > 0) await pool.begin();
    expect(pool.killed).toEqual([]);

    await vi.advanceTimersByTimeAsync(60_000);

    expect(pool.killed).toHaveLength(1);
    expect(pool.idle.isFull()).toBe(true);
    expect(pool.underWay()).toBe(0);
  });

  test("is none where none are wanted", async () => {
    const pool = aPool({ countMin: 0, countMax: 0 });
    pool.idle.start();
    expect(pool.underWay()).toBe(0);
    const taken = pool.idle.take();
    expect(pool.underWay()).toBe(1);
    await pool.begin();
    expect(await taken).toMatchObject({ number: 1 });
    expect(pool.underWay()).toBe(0);
  });
});

describe("who takes", () => {
  test("gets the process that is being started to be kept", async () => {
    const pool = aPool({ countMin: 1, countMax: 1 });
    pool.idle.start();
    const taken = pool.idle.take();
    expect(pool.underWay()).toBe(1);
    await pool.begin();
    expect(await taken).toMatchObject({ number: 1 });
    expect(pool.underWay()).toBe(1);
  });

  test("is served before anything is started to be kept", async () => {
    const pool = aPool({ countMin: 1, countMax: 1 });
    pool.idle.start();
    await pool.begin();
    const taken = [1, 2, 3].map(() => pool.idle.take());
    expect(pool.underWay()).toBe(2);
    await pool.begin();
    expect(pool.underWay()).toBe(1);
    await pool.begin();
    const guests = (await Promise.all(taken)) as FakeGuest[];
    expect(guests.map(({ number }) => number)).toEqual([1, 2, 3]);
    expect(pool.underWay()).toBe(1);
  });

  test("is told of a start that failed, and the next one is tried for itself", async () => {
    const pool = aPool({ countMin: 0, countMax: 0 });
    const first = pool.idle.take().catch((error: unknown) => error);
    await pool.fail();
    expect(await first).toEqual(new Error("no process"));
    expect(pool.failures).toEqual([]);
    const second = pool.idle.take();
    await pool.begin();
    expect(await second).toMatchObject({ number: 1 });
  });
});

test("a start that fails is tried again after a pause that grows", async () => {
  const pool = aPool({ countMin: 1, countMax: 1 });
  pool.idle.start();
  await pool.fail();
  expect(pool.failures).toHaveLength(1);
  expect(pool.underWay()).toBe(0);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(pool.underWay()).toBe(1);
  await pool.fail();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(pool.underWay()).toBe(0);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(pool.underWay()).toBe(1);
});

test("nothing is kept after the end", async () => {
  const pool = aPool({ countMin: 1, countMax: 1 });
  pool.idle.start();
  pool.idle.close();
  await pool.begin();
  expect(pool.killed).toEqual([1]);
  expect(pool.underWay()).toBe(0);
});
