// Group commit: gathers the writes of concurrent requests while every connection is busy, and
// commits them together when one is free. A timer to gather longer gained nothing when measured.
// Called by record.ts.

import { ServiceError } from "../../base/errors.ts";
import type { Outcome } from "./merge.ts";
import type { WriteSet } from "./write-set.ts";

// Past this a statement gains nothing more and only delays those in it.
const eventsPerCommitMax = 1_000;

/**
 * How long a request waits for its commit. A database that hangs would otherwise hold it until its
 * client has long gone; what commits later all the same is merged with the client's next try.
 */
const waitMsMax = 30_000;

/** Outcomes of a request's writes, in their order. */
export type Outcomes = readonly Outcome[];

/** Commits several requests' writes in one transaction and returns the outcomes of each. */
export type Commit = (sets: readonly WriteSet[]) => Promise<readonly Outcomes[]>;

export type QueueSize = { readonly requests: number; readonly events: number };

export type CommitQueue = {
  /** Resolves after commit. Fails with DATABASE_UNAVAILABLE when that takes too long. */
  submit(set: WriteSet): Promise<Outcomes>;
  /** What waits, without what is being committed. */
  size(): QueueSize;
  drain(): Promise<void>;
};

export type CommitQueueOptions = {
  readonly commit: Commit;
  readonly connections: number;
  readonly waitMs?: number;
};

type Waiting = {
  readonly set: WriteSet;
  readonly resolve: (outcomes: Outcomes) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Returns a queue over `connections` concurrent commits. Its length is bounded by the bytes that
 * transport admits, since every entry is a request whose body still counts as in flight.
 */
export function createCommitQueue(options: CommitQueueOptions): CommitQueue {
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
    submit: (set) => {
      const { promise, resolve, reject } = Promise.withResolvers<Outcomes>();
      const one = { set, resolve, reject };
      waiting.push(one);
      if (busy < options.connections) void work();
      const timer = setTimeout(() => {
        const index = waiting.indexOf(one);
        if (index !== -1) waiting.splice(index, 1);
        reject(new ServiceError("DATABASE_UNAVAILABLE", `no commit in ${waitMsMax} ms`));
      }, options.waitMs ?? waitMsMax);
      return promise.finally(() => clearTimeout(timer));
    },
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
    const outcomes = await commit(group.map(({ set }) => set));
    group.forEach(({ resolve }, index) => resolve(outcomes[index] ?? []));
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
