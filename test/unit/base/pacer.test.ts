// Paced work: much of it at once must not add up between two turns of the event loop, and holders
// of requests take turns.

import { describe, expect, test } from "vitest";
import { createPacer, startPacer } from "../../../src/base/pacer.ts";

/** Counts turns of the event loop until told to stop. */
function countTurns(): { count(): number; stop(): void } {
  let turns = 0;
  let turn = setImmediate(next);
  function next(): void {
    turns += 1;
    turn = setImmediate(next);
  }
  return { count: () => turns, stop: () => clearImmediate(turn) };
}

/** Begins to rest in each lane, and returns the lanes in the order in which they went on. */
async function orderOf(lanes: readonly (string | undefined)[]): Promise<readonly string[]> {
  const order: string[] = [];
  await Promise.all(
    lanes.map(async (lane) => {
      await createPacer(lane).rest();
      order.push(lane ?? "own");
    }),
  );
  return order;
}

describe("paced work", () => {
  test.each([
    { name: "that rests", begin: () => createPacer().rest() },
    { name: "that starts", begin: () => startPacer() },
  ])("$name runs one at a time between two turns of the event loop", async ({ begin }) => {
    const turns = countTurns();
    const works = Array.from({ length: 20 }, async () => {
      await begin();
      return turns.count();
    });

    const resumedAt = await Promise.all(works);
    turns.stop();

    expect(new Set(resumedAt).size).toBe(works.length);
  });

  test("of one holder waits for one turn of another, however much of it there is", async () => {
    const got = await orderOf(["a", "a", "a", "a", "b", "c", "b"]);

    expect(got).toEqual(["a", "b", "c", "a", "b", "a", "a"]);
  });

  test("of the service itself goes first", async () => {
    expect(await orderOf(["a", "a", undefined, "b", undefined])).toEqual([
      "own",
      "own",
      "a",
      "b",
      "a",
    ]);
  });

  test("waits for nothing where there is no other", async () => {
    const turns = countTurns();
    await startPacer();
    turns.stop();

    expect(turns.count()).toBe(0);
    expect(createPacer().due()).toBe(false);
  });
});
