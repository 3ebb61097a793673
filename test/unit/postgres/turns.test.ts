// Turns: who gets a place next, how many an owner has, and how long work waits.

import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createTurns, type Place, type TurnsOptions } from "../../../src/postgres/turns.ts";
import { patience } from "../../support/patience.ts";

const defaults = { places: 2, placesPerOwner: 1, waitingMax: 10, waitMsMax: 60_000, what: "reads" };

/** Work that notes when it begins, and ends when it is told to. */
function givenWork(options: Partial<TurnsOptions> = {}) {
  const turns = createTurns({ ...defaults, ...options });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (owner: string | undefined, name: string, work?: (place: Place) => void) =>
    turns.run(owner, async (place) => {
      begun.push(name);
      work?.(place);
      const { promise, resolve } = Promise.withResolvers<undefined>();
      ends.set(name, () => resolve(undefined));
      await promise;
      return name;
    });
  const end = async (name: string): Promise<void> => {
    ends.get(name)?.();
    await new Promise((settle) => setImmediate(settle));
  };
  return { turns, begun, run, end };
}

describe("turns", () => {
  test("an owner that floods leaves places to others", () => {
    const { begun, run } = givenWork();

    void run("a", "a1");
    void run("a", "a2");
    void run("b", "b1");

    expect(begun).toEqual(["a1", "b1"]);
  });

  test("owners that wait take turns, whoever came first", async () => {
    const { begun, run, end } = givenWork({ places: 1 });
    for (const name of ["a1", "a2", "a3", "b1", "b2", "c1"]) void run(name.charAt(0), name);

    for (const name of ["a1", "a2", "b1", "c1", "a3"]) await end(name);

    expect(begun).toEqual(["a1", "a2", "b1", "c1", "a3", "b2"]);
  });

  test("the owners of one organization leave a place to the others", async () => {
    const { turns, begun, run } = givenWork({ places: 3, placesPerOrganization: 2 });
    const organization = "o";
    const end = Promise.withResolvers<undefined>();
    for (const owner of ["a", "b", "c"]) {
      const work = (): Promise<undefined> => (begun.push(owner), end.promise);
      void turns.run(owner, work, { organization });
    }
    void run("d", "d1");

    expect(begun).toEqual(["a", "b", "d1"]);
    end.resolve(undefined);
    await vi.waitFor(() => expect(begun).toEqual(["a", "b", "d1", "c"]), patience);
  });

  test("work without an owner may take every place", () => {
    const { begun, run } = givenWork();

    for (const name of ["1", "2", "3"]) void run(undefined, name);

    expect(begun).toEqual(["1", "2"]);
  });

  test("a place that includes another owner's work counts for both", async () => {
    const { begun, run, end } = givenWork({ places: 3 });
    const joined: boolean[] = [];
    void run("a", "a1", (place) => joined.push(place.join("b"), place.join("b")));
    void run("b", "b1");
    void run("c", "c1", (place) => joined.push(place.join("a")));

    expect(begun).toEqual(["a1", "c1"]);
    expect(joined).toEqual([true, true, false]);
    await end("a1");
    expect(begun).toEqual(["a1", "c1", "b1"]);
  });

  test("work inside of work needs no place of its own while that runs", async () => {
    const turns = createTurns({ ...defaults, places: 1 });
    let late: Promise<string> | undefined;
    const released = Promise.withResolvers<undefined>();

    const inner = await turns.run("a", async () => {
      late = released.promise.then(() => turns.run("a", () => Promise.resolve("late")));
      return turns.run("b", () => Promise.resolve("inner"));
    });
    const holder = givenPlace(turns);
    released.resolve(undefined);
    const isLateDone = vi.fn();
    void late?.then(isLateDone);
    await new Promise((settle) => setImmediate(settle));

    expect(inner).toBe("inner");
    expect(isLateDone).not.toHaveBeenCalled();
    holder.resolve(undefined);
    expect(await late).toBe("late");
  });

  test("a place that includes another organization's work counts for both", () => {
    const turns = createTurns({ ...defaults, places: 4, placesPerOrganization: 2 });
    const end = Promise.withResolvers<undefined>();
    onTestFinished(() => end.resolve(undefined));
    const joined: boolean[] = [];
    const run = (owner: string, organization: string, others: readonly string[] = []): unknown =>
      turns.run(
        owner,
        (place) => {
          for (const other of others) joined.push(place.join(other, other.charAt(0)));
          return end.promise;
        },
        { organization },
      );

    run("o1", "o");
    run("p1", "p", ["o2", "o3"]);
    run("q1", "q", ["o4", "p2"]);

    expect(joined).toEqual([true, true, false, true]);
  });

  test("a failure gives the place back", async () => {
    const turns = createTurns({ ...defaults, places: 1 });

    await expect(turns.run("a", () => Promise.reject(new Error("bad")))).rejects.toThrow("bad");

    expect(await turns.run("a", () => Promise.resolve("next"))).toBe("next");
  });

  test("refuses work past the number that may wait, which differs by owner", async () => {
    const { run } = givenWork({ waitingMax: 1 });
    void run("a", "a1");
    void run("a", "a2");
    void run("b", "b1");
    void run("b", "b2");

    const message = "1 reads of the project wait; try again";
    await expect(run("a", "a3")).rejects.toMatchObject({ reason: "OVERLOADED", message });
  });

  test("refuses work that waited too long, and what is left goes on", async () => {
    const { begun, run, end } = givenWork({ waitMsMax: 10 });
    void run("a", "a1");

    const message =
      "the project has 1 reads at a time, its organization 2, and none ended in 10 ms";
    await expect(run("a", "a2")).rejects.toMatchObject({ reason: "OVERLOADED", message });
    await end("a1");
    void run("a", "a3");
    expect(begun).toEqual(["a1", "a3"]);
  });

  test("a signal ends the waiting alone", async () => {
    const { turns, begun, run, end } = givenWork();
    const leaving = new AbortController();
    void run("a", "a1");
    const waiting = turns.run("a", () => Promise.resolve(begun.push("never")), {
      signal: leaving.signal,
    });

    leaving.abort(new Error("gone"));

    await expect(waiting).rejects.toThrow("gone");
    await end("a1");
    expect(begun).toEqual(["a1"]);
  });
});

function givenPlace(turns: ReturnType<typeof createTurns>) {
  const held = Promise.withResolvers<undefined>();
  void turns.run("other", () => held.promise);
  return held;
}
