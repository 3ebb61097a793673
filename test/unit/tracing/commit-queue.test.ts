// Group commit: who shares a commit, and who shares a failure.

import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { ProjectId } from "../../../src/base/ids.ts";
import { type Commit, createCommitQueue } from "../../../src/tracing/events/commit-queue.ts";
import { noPricing } from "../../../src/tracing/events/event.ts";
import { sizeOfSet, type WriteSet } from "../../../src/tracing/events/write-set.ts";
import { patience } from "../../support/patience.ts";
import { turnsAt } from "../../support/turns.ts";

function aSet(...eventIds: string[]): WriteSet {
  return setOf("p", eventIds);
}

function setOf(project: string, eventIds: readonly string[], bytes?: number): WriteSet {
  return {
    projectId: project as ProjectId,
    writes: eventIds.map((event_id) => ({ event_id })),
    kind: "create",
    sessionNames: new Map(),
    receivedAtMs: 0,
    pricing: noPricing,
    bytes,
  };
}

const idsOf = (sets: readonly WriteSet[]) =>
  sets.flatMap(({ writes }) => writes.map(({ event_id }) => event_id));

/** A commit that waits to be released, and notes what it was given. */
function aCommit(fail: (ids: string[]) => Error | undefined = () => undefined) {
  const commits: string[][] = [];
  const gate = Promise.withResolvers<undefined>();
  const commit: Commit = async (sets) => {
    const ids = idsOf(sets);
    commits.push(ids);
    await gate.promise;
    const error = fail(ids);
    if (error !== undefined) throw error;
    return sets.map(({ writes }) => writes.map(() => "applied" as const));
  };
  return { commits, commit, release: () => gate.resolve(undefined) };
}

describe("the commit queue", () => {
  test("gathers what comes while every connection is busy", async () => {
    const { commits, commit, release } = aCommit();
    const queue = createCommitQueue({ commit, turns: turnsAt(1) });

    const all = ["a", "b", "c"].map((id) => queue.submit(aSet(id)));
    expect(queue.size()).toEqual({ requests: 2, events: 2, bytes: 2 * sizeOfSet(aSet("b")) });
    release();
    await Promise.all(all);

    expect(commits).toEqual([["a"], ["b", "c"]]);
    expect(queue.size()).toEqual({ requests: 0, events: 0, bytes: 0 });
  });

  test("one request's bad value fails it alone", async () => {
    const bad = Object.assign(new Error("bad"), { code: "22P05" });
    const { commit, release } = aCommit((ids) => (ids.includes("bad") ? bad : undefined));
    const queue = createCommitQueue({ commit, turns: turnsAt(1) });

    const all = Promise.allSettled(["a", "b", "bad", "c"].map((id) => queue.submit(aSet(id))));
    release();

    const states = (await all).map(({ status }) => status);
    expect(states).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  });

  test.each([
    { name: "is away", code: "08006" },
    { name: "shuts down", code: "57P01", severity: "ERROR" },
  ])("a Citus worker that $name fails its own projects, each once", async ({ name, ...fields }) => {
    const lost = Object.assign(new Error(name), fields);
    const isLost = (id: string) => id.startsWith("lost");
    const { commits, commit, release } = aCommit((ids) => (ids.some(isLost) ? lost : undefined));
    const queue = createCommitQueue({ commit, turns: turnsAt(1) });

    const sets = [aSet("first"), setOf("a", ["a1"]), setOf("l", ["lost1"]), setOf("b", ["b1"])];
    const more = [setOf("l", ["lost2"]), setOf("a", ["a2"])];
    const all = Promise.allSettled([...sets, ...more].map((set) => queue.submit(set)));
    release();

    const states = (await all).map(({ status }) => status);
    const [good, bad] = ["fulfilled", "rejected"];
    expect(states).toEqual([good, good, bad, good, bad, good]);
    expect(commits.slice(2).map((ids) => ids.toSorted())).toEqual(
      expect.arrayContaining([["a1", "a2"], ["lost1", "lost2"], ["b1"]]),
    );
  });

  test("a request waits for its commit only so long", async () => {
    const { commit, release } = aCommit();
    const queue = createCommitQueue({ commit, turns: turnsAt(1), waitMs: 20 });

    const all = Promise.allSettled([queue.submit(aSet("a")), queue.submit(aSet("b"))]);

    const want = { status: "rejected", reason: { reason: "DATABASE_UNAVAILABLE" } };
    expect(await all).toMatchObject([want, want]);
    expect(queue.size().requests).toBe(0);
    release();
    await queue.drain();
  });

  test("a database that is away fails the group at once", async () => {
    const away = Object.assign(new Error("away"), { code: "CONNECTION_CLOSED" });
    const { commits, commit, release } = aCommit(() => away);
    const queue = createCommitQueue({ commit, turns: turnsAt(1) });

    const all = Promise.allSettled(["a", "b", "c"].map((id) => queue.submit(aSet(id))));
    release();

    expect((await all).every(({ status }) => status === "rejected")).toBe(true);
    expect(commits).toEqual([["a"], ["b", "c"]]);
  });
});

describe("small writes of a project", () => {
  test("wait for its running commit, and share the next", async () => {
    const { commits, commit, release } = aCommit();
    const queue = createCommitQueue({ commit, turns: turnsAt(3) });

    const all = ["a", "b", "c"].map((id) => queue.submit(aSet(id)));
    release();
    await Promise.all(all);

    expect(commits).toEqual([["a"], ["b", "c"]]);
  });

  test("do not wait for a commit that takes long", async () => {
    const { commits, commit, release } = aCommit();
    const queue = createCommitQueue({ commit, turns: turnsAt(3) });

    const all = ["a", "b", "c"].map((id) => queue.submit(aSet(id)));
    await vi.waitUntil(() => commits.length === 2, patience);

    expect(commits).toEqual([["a"], ["b", "c"]]);
    release();
    await Promise.all(all);
  });

  test("do not wait once they are many", () => {
    const { commits, commit, release } = aCommit();
    const queue = createCommitQueue({ commit, turns: turnsAt(3), gatherBytesMax: 4_000 });
    onTestFinished(release);

    for (const id of ["a", "b", "c", "d"]) void queue.submit(aSet(id));

    expect(commits).toEqual([["a"], ["b", "c", "d"]]);
  });
});

describe("projects in the commit queue", () => {
  /** A queue whose commits end step by step: `step` ends those under way. */
  function aSteppedQueue(places: number, turns = turnsAt(places)) {
    const commits: string[][] = [];
    const ends: (() => void)[] = [];
    const commit: Commit = async (sets) => {
      commits.push(idsOf(sets));
      await new Promise<void>((resolve) => ends.push(resolve));
      return sets.map(({ writes }) => writes.map(() => "applied" as const));
    };
    const queue = createCommitQueue({ commit, turns, gatherBytesMax: 0 });
    const step = async (): Promise<void> => {
      for (const end of ends.splice(0)) end();
      await new Promise((settle) => setImmediate(settle));
    };
    onTestFinished(async () => {
      while (ends.length > 0) await step();
    });
    return { commits, queue, step };
  }

  const flood = (count: number, bytes = 0) =>
    Array.from({ length: count }, (_, index) => setOf("flood", [`f${index}`], bytes));

  test("find a connection while another one floods", () => {
    const { commits, queue } = aSteppedQueue(3);

    for (const set of flood(100)) void queue.submit(set);
    void queue.submit(setOf("other", ["o"]));

    expect(commits).toEqual([["f0"], ["f1"], ["o"]]);
  });

  test("of one organization leave a connection to another one, and stay out of its group", () => {
    const { commits, queue } = aSteppedQueue(3, turnsAt(3, { ofOrganization: 2 }));

    for (const project of ["o1", "o2", "o3", "o1", "o2"]) {
      void queue.submit({ ...setOf(project, [project]), organization: "o" });
    }
    void queue.submit({ ...setOf("p1", ["p1"]), organization: "p" });

    expect(commits).toEqual([["o1"], ["o2"], ["p1"]]);
  });

  test("are in the next group, however much waits of another one", async () => {
    const { commits, queue, step } = aSteppedQueue(1);

    for (const set of flood(5_000)) void queue.submit(set);
    for (const id of ["a", "b"]) void queue.submit(setOf("one", [id]));
    void queue.submit(setOf("two", ["c"]));
    await step();

    const [, second = []] = commits;
    expect(second.slice(0, 6)).toEqual(["a", "f1", "c", "b", "f2", "f3"]);
    expect(second).toHaveLength(1_000);
  });

  test("come to an end of the flood in as many groups as it needs", async () => {
    const { commits, queue, step } = aSteppedQueue(2);
    const all = Promise.all(
      [...flood(2_500), setOf("other", ["o"])].map((set) => queue.submit(set)),
    );

    for (let steps = 0; steps < 10; steps += 1) await step();

    expect((await all).flat()).toHaveLength(2_501);
    expect(commits).toHaveLength(5);
    await queue.drain();
    expect(queue.size()).toEqual({ requests: 0, events: 0, bytes: 0 });
  });

  test("share groups that have a bound of bytes; a larger request is alone", async () => {
    const { commits, queue, step } = aSteppedQueue(1);
    void queue.submit(setOf("p", ["first"]));

    void queue.submit(setOf("p", ["a"], 3_000_000));
    void queue.submit(setOf("p", ["b"], 3_000_000));
    void queue.submit(setOf("p", ["c"], 3_000_000));
    void queue.submit(setOf("p", ["huge"], 30_000_000));
    void queue.submit(setOf("p", ["d"], 1_000_000));
    for (let steps = 0; steps < 5; steps += 1) await step();

    expect(commits).toEqual([["first"], ["a", "b"], ["c"], ["huge"], ["d"]]);
  });
});

describe("what waits", () => {
  const bounds = { waitingBytesOfProjectMax: 10_000, waitingBytesMax: 15_000 };

  function aFullQueue() {
    const { commit, release } = aCommit();
    const queue = createCommitQueue({ commit, turns: turnsAt(1), ...bounds });
    onTestFinished(() => {
      release();
      return queue.drain();
    });
    for (const [project, bytes] of [
      ["a", 1],
      ["a", 9_000],
      ["b", 5_500],
    ] as const) {
      void queue.submit(setOf(project, ["e"], bytes));
    }
    return queue;
  }

  test.each([
    { name: "of a project", project: "a", bytes: 2_000, limit: 10_000 },
    { name: "in all", project: "b", bytes: 3_000, limit: 15_000 },
  ])("has a bound of bytes $name", async ({ project, bytes, limit }) => {
    const got = aFullQueue().submit(setOf(project, ["e"], bytes));

    const message = `more than ${limit} bytes of events wait to be stored; try again`;
    await expect(got).rejects.toMatchObject({ reason: "OVERLOADED", message });
  });

  test.each([
    { name: "the first request of a project", set: setOf("c", ["e"], 50_000) },
    { name: "writes of the service's own", set: setOf("a", ["e"]) },
  ])("takes $name all the same", ({ set }) => {
    const queue = aFullQueue();

    void queue.submit(set);

    expect(queue.size().requests).toBe(3);
  });
});
