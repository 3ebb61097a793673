// Group commit: who shares a commit, and who shares a failure.

import { describe, expect, test } from "vitest";
import type { ProjectId } from "../../../src/base/ids.ts";
import { type Commit, createCommitQueue } from "../../../src/tracing/events/commit-queue.ts";
import type { WriteSet } from "../../../src/tracing/events/write-set.ts";

function aSet(...eventIds: string[]): WriteSet {
  return {
    projectId: "p" as ProjectId,
    writes: eventIds.map((event_id) => ({ event_id })),
    kind: "create",
    sessionNames: new Map(),
    receivedAtMs: 0,
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
    const queue = createCommitQueue({ commit, connections: 1 });

    const all = ["a", "b", "c"].map((id) => queue.submit(aSet(id)));
    expect(queue.size()).toEqual({ requests: 2, events: 2 });
    release();
    await Promise.all(all);

    expect(commits).toEqual([["a"], ["b", "c"]]);
    expect(queue.size()).toEqual({ requests: 0, events: 0 });
  });

  test("one request's bad value fails it alone", async () => {
    const bad = Object.assign(new Error("bad"), { code: "22P05" });
    const { commit, release } = aCommit((ids) => (ids.includes("bad") ? bad : undefined));
    const queue = createCommitQueue({ commit, connections: 1 });

    const all = Promise.allSettled(["a", "b", "bad", "c"].map((id) => queue.submit(aSet(id))));
    release();

    const states = (await all).map(({ status }) => status);
    expect(states).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  });

  test("a request waits for its commit only so long", async () => {
    const { commit, release } = aCommit();
    const queue = createCommitQueue({ commit, connections: 1, waitMs: 20 });

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
    const queue = createCommitQueue({ commit, connections: 1 });

    const all = Promise.allSettled(["a", "b", "c"].map((id) => queue.submit(aSet(id))));
    release();

    expect((await all).every(({ status }) => status === "rejected")).toBe(true);
    expect(commits).toEqual([["a"], ["b", "c"]]);
  });
});
