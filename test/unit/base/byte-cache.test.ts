// A cache that is bounded in bytes: the entries that it keeps, by owner.

import { describe, expect, test } from "vitest";
import { createByteCache } from "../../../src/base/byte-cache.ts";

/** Each entry takes 500 bytes beside its value. */
function givenACache(bytesMax: number) {
  const clock = { now: 0 };
  const cache = createByteCache<string>({ bytesMax, now: () => clock.now });
  const set = (key: string, ownerId: string, bytes = 500) =>
    cache.set(key, `value of ${key}`, { ownerId, bytes, goodUntil: 10 });
  const kept = (...keys: readonly string[]) => keys.filter((key) => cache.find(key) !== undefined);
  return { cache, clock, set, kept };
}

describe("createByteCache", () => {
  test("keeps what was used last, within its bytes", () => {
    const { set, kept } = givenACache(3_000);
    for (const key of ["a", "b", "c"]) set(key, `owner of ${key}`);
    kept("a");

    set("d", "owner of d");

    expect(kept("a", "b", "c", "d")).toEqual(["a", "c", "d"]);
  });

  test("leaves half to other owners, whatever one of them has", () => {
    const { set, kept } = givenACache(4_000);
    set("b", "other");

    for (const key of ["1", "2", "3", "4"]) set(key, "greedy");

    expect(kept("b", "1", "2", "3", "4")).toEqual(["b", "3", "4"]);
  });

  test("keeps nothing that takes more than its owner may have", () => {
    const { cache, set, kept } = givenACache(4_000);
    set("small", "one");
    set("large", "one", 100);

    set("large", "one", 1_501);

    expect(kept("small", "large")).toEqual(["small"]);
    expect(cache.find("large")).toBeUndefined();
  });

  test("believes a value until its time is over", () => {
    const { cache, clock, set } = givenACache(4_000);
    set("a", "one");

    clock.now = 9;
    expect(cache.find("a")).toBe("value of a");
    clock.now = 10;
    expect(cache.find("a")).toBeUndefined();
  });

  test("has its room again after what was deleted, replaced or cleared", () => {
    const { cache, set, kept } = givenACache(2_000);
    for (let count = 0; count < 5; count += 1) {
      set("a", "one");
      cache.delete("a");
    }
    set("a", "one");
    set("a", "one");
    expect(kept("a")).toEqual(["a"]);

    cache.clear();
    set("b", "one");

    expect(kept("a", "b")).toEqual(["b"]);
  });
});
