// Tests who gets a place in the sandbox while more want one than there are.

import { describe, expect, test } from "vitest";
import { createPlaces, type Leave } from "../../../src/evaluation/runner/python/places.ts";

const plenty = { max: 4, waitMs: 60_000, waitersMax: 8 };

/** Has owners ask, and notes in which order they are admitted. */
function givenPlaces(options = plenty) {
  const places = createPlaces(options);
  const admitted: string[] = [];
  const leaves: Leave[] = [];
  async function enter(owner: string): Promise<void> {
    const leave = await places.enter(owner);
    admitted.push(owner);
    leaves.push(leave);
  }
  return { places, admitted, leaves, enter };
}

/** Lets whoever was admitted go on. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe("places", () => {
  test("leave one to others, however much one owner wants", async () => {
    const { admitted, enter } = givenPlaces();
    for (let asked = 0; asked < 5; asked += 1) void enter("a");
    void enter("b");
    await settle();

    expect(admitted).toEqual(["a", "a", "a", "b"]);
  });

  test("go to the owner with the fewest, whoever came first", async () => {
    const { admitted, leaves, enter } = givenPlaces();
    for (const owner of ["a", "a", "a", "b", "b", "a", "c"]) void enter(owner);
    await settle();
    leaves[0]?.();
    leaves[0]?.();
    await settle();

    expect(admitted).toEqual(["a", "a", "a", "b", "c"]);
  });

  test("are waited for by an owner half as often as by all", async () => {
    const { places, enter } = givenPlaces({ ...plenty, max: 2 });
    for (const owner of ["a", "b", "a", "a", "a", "a"]) void enter(owner);

    await expect(places.enter("a")).rejects.toMatchObject({ reason: "OVERLOADED" });
    for (let asked = 0; asked < 4; asked += 1) void enter("c");
    await expect(places.enter("c")).rejects.toMatchObject({ reason: "OVERLOADED" });
  });

  test("are no longer waited for after the time", async () => {
    const { places } = givenPlaces({ ...plenty, max: 1, waitMs: 5 });
    await places.enter("a");

    await expect(places.enter("b")).rejects.toMatchObject({ reason: "OVERLOADED" });
  });
});
