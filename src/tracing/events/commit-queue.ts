// Group commit: gathers the writes of concurrent requests while every connection is busy, and
// commits them together when one is free. A timer to gather longer gained nothing when measured.
// Called by record.ts.

import type { WriteSet } from "./write-set.ts";

// Past this a statement gains nothing more and only delays those in it.
const eventsPerCommitMax = 1_000;

/** Commits several requests' writes in one transaction; returns each one's absent ids. */
export type Commit = (sets: readonly WriteSet[]) => Promise<readonly ReadonlySet<string>[]>;

export type QueueSize = { readonly requests: number; readonly events: number };

export type CommitQueue = {
  /** Resolves, after commit, to the ids that an `update` did not find. */
  submit(set: WriteSet): Promise<ReadonlySet<string>>;
  /** What waits, without what is being committed. */
  size(): QueueSize;
  drain(): Promise<void>;
};

type Waiting = {
  readonly set: WriteSet;
  readonly resolve: (absent: ReadonlySet<string>) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Returns a queue over `connections` concurrent commits. Its length is bounded by the bytes that
 * transport admits, since every entry is a request whose body still counts as in flight.
 */
export function createCommitQueue(options: { commit: Commit; connections: number }): CommitQueue {
  const waiting: Waiting[] = [];
  let busy = 0;
  let onIdle: (() => void)[] = [];

  function takeGroup(): Waiting[] {
    let events = 0;
    let count = 0;
    for (const { set } of waiting) {
      if (count > 0 && events + set.writes.length > eventsPerCommitMax) break;
      events += set.writes.length;
      count += 1;
    }
    return waiting.splice(0, count);
  }

  async function work(): Promise<void> {
    busy += 1;
    while (waiting.length > 0) await commitGroup(takeGroup(), options.commit);
    busy -= 1;
    if (busy > 0) return;
    for (const resolve of onIdle) resolve();
    onIdle = [];
  }

  return {
    submit: (set) =>
      new Promise((resolve, reject) => {
        waiting.push({ set, resolve, reject });
        if (busy < options.connections) void work();
      }),
    size: () => ({
      requests: waiting.length,
      events: waiting.reduce((sum, { set }) => sum + set.writes.length, 0),
    }),
    drain: () =>
      busy === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(() => resolve())),
  };
}

// One request's bad value must not fail its neighbours, so a group that failed for its values is
// tried one by one. When the database is away, each alone would only wait for the same failure.
async function commitGroup(group: readonly Waiting[], commit: Commit): Promise<void> {
  try {
    const absent = await commit(group.map(({ set }) => set));
    group.forEach(({ resolve }, index) => resolve(absent[index] ?? new Set()));
  } catch (error) {
    if (group.length > 1 && isAboutValues(error)) {
      for (const one of group) await commitGroup([one], commit);
    } else {
      for (const { reject } of group) reject(error);
    }
  }
}

/** SQLSTATE classes of bad data, broken constraints and exceeded limits; or no database error. */
function isAboutValues(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code !== "string" || /^(2[123]|54)[0-9A-Z]{3}$/.test(code);
}
