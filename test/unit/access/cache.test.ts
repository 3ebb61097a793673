// The bounded memory of keys.

import { describe, expect, test } from "vitest";
import { createCache } from "../../../src/access/cache.ts";

describe("createCache", () => {
  test("drops the least recently used entry when it is full", () => {
    const cache = createCache<number>({ entriesMax: 2, ageMsMax: 10, now: () => 0 });

    cache.set("a", 1);
    cache.set("b", 2);
    cache.find("a");
    cache.set("c", 3);

    expect(["a", "b", "c"].map((key) => cache.find(key))).toEqual([1, undefined, 3]);
  });

  test("forgets an entry at its age, however often it was used", () => {
    let nowMs = 0;
    const cache = createCache<number>({ entriesMax: 2, ageMsMax: 10, now: () => nowMs });
    cache.set("a", 1);

    nowMs = 9;
    const before = cache.find("a");
    nowMs = 10;

    expect([before, cache.find("a")]).toEqual([1, undefined]);
  });

  test("keeps nothing when it may hold nothing", () => {
    const cache = createCache<number>({ entriesMax: 0, ageMsMax: 10, now: () => 0 });

    cache.set("a", 1);

    expect(cache.find("a")).toBeUndefined();
  });
});
