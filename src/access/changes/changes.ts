// The log of what servers have to forget of callers: keys that ended, sign-ins that ended, or
// everything. Appended to by whoever ends something; followed by every server, by notification and
// by polling. Source: docs/decisions.md, 32.

import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { createUuid } from "../../base/ids.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../postgres/database.ts";
import { createFollower } from "../../postgres/follower.ts";
import type { Follower } from "../../postgres/follower.ts";
import { everything } from "../caller-memory.ts";
import * as store from "./store.ts";
import type { ChangesRow } from "./store.ts";

export type Confirmation = {
  /** Servers that may remember anything: seen within the longest age of a memory. */
  readonly live: number;
  /** Those of them that have forgotten what the change says, having read it or by age. */
  readonly confirmed: number;
};

export type AccessChanges = {
  /**
   * Adds a change in the ambient transaction, and returns its number. `subject` is the SHA-256 of a
   * key or sign-in in hexadecimal, `providers:` and the id of the scope whose credentials or
   * aliases changed, `evaluators:` and the id of the project whose evaluators changed, or `*`. This
   * server forgets as the transaction commits, others when they hear of it. Appenders wait for one
   * another until commit, so this comes after everything else in the transaction that waits for a
   * lock.
   */
  append(subject: string): Promise<number>;
  /** Adds somebody to tell what to forget. */
  onForget(listener: (subject: string) => void): void;
  /** Registers this server and follows the log until `stop`, also when Postgres goes and comes. */
  follow(): void;
  /** Returns how far a change has spread; done when all live servers have confirmed it. */
  confirmedBy(changeId: number): Promise<Confirmation>;
  /** Ends following and takes this server off the register. */
  stop(): Promise<void>;
};

export type AccessChangesOptions = {
  readonly database: Database;
  /** Time between two looks at the log; notifications only shorten it. */
  readonly pollMs?: number;
  readonly logger?: Pick<Logger, "warn">;
  readonly sweepMs?: number;
};

/**
 * The longest age of a memory that a server may be configured with (config.ts, key-cache-age-ms),
 * and some time for lookups and commits that were under way.
 */
const memoryMsMax = 60_000 + 10_000;

const pollMsDefault = 5_000;
/** Changes older than this are deleted. */
const retentionMs = 3_600_000;
const sweepMsDefault = 60_000;
/** A server further behind than this forgets everything, which costs it one lookup a caller. */
const changesReadMax = 1_000;
const rowsSweptMax = 1_000;
const stopTimeoutMs = 2_000;

export function createAccessChanges(options: AccessChangesOptions): AccessChanges {
  const { database } = options;
  const listeners: ((subject: string) => void)[] = [];
  const tell = (subject: string) => {
    for (const listener of listeners) listener(subject);
  };
  const server = createServer({ ...options, tell });

  return {
    async append(subject) {
      if (!database.isInTransaction()) throw new Error("an access change outside a transaction");
      const changeId = await store.insertChange(database.sql(), subject);
      database.afterCommit(() => tell(subject));
      return changeId;
    },

    onForget(listener) {
      listeners.push(listener);
    },

    follow: () => server.start(),

    async confirmedBy(changeId) {
      const row = await store.countConfirmed(database.sql(), changeId, memoryMsMax);
      return row ?? { live: 0, confirmed: 0 };
    },

    stop: () => server.stop(),
  };
}

type ServerOptions = AccessChangesOptions & { readonly tell: (subject: string) => void };

/** Registers this server and reads the log for it. */
function createServer(options: ServerOptions): Follower {
  const { database, tell, logger } = options;
  const { pollMs = pollMsDefault, sweepMs = sweepMsDefault } = options;
  const server = { serverId: createUuid(), name: `${hostname()} pid ${process.pid}` };
  /** Number of the last change that was read; undefined before the first look. */
  let position: number | undefined;
  let sweptAtMs = Date.now();
  let isAway = false;

  async function readLog(): Promise<void> {
    const row = await store.readChanges(database.sql(), position ?? 0, changesReadMax);
    for (const subject of subjectsToForget(row, position)) tell(subject);
    position = row?.newestId ?? 0;
    await store.upsertServer(database.sql(), { ...server, changeId: position });
  }

  async function sweep(): Promise<void> {
    if (Date.now() - sweptAtMs < sweepMs) return;
    sweptAtMs = Date.now();
    await store.deleteOldChanges(database.sql(), retentionMs, rowsSweptMax);
    await store.deleteDeadServers(database.sql(), retentionMs, rowsSweptMax);
  }

  async function takeTurn(): Promise<boolean> {
    try {
      await readLog();
      await sweep();
      isAway = false;
    } catch (error) {
      // Said once: what is in memory ages out meanwhile, and unknown callers answer 503.
      if (!isAway) logger?.warn({ err: error }, "access changes cannot be followed now");
      isAway = true;
    }
    return !isAway;
  }

  const follower = createFollower({
    ...{ database, pollMs, takeTurn },
    channel: store.changesChannel,
    onNotify: tell,
  });

  return {
    start: () => follower.start(),

    async stop() {
      const end = (async () => {
        await follower.stop();
        if (position !== undefined) await store.deleteServer(database.sql(), server.serverId);
      })();
      // With Postgres away the row stays, and is swept later.
      await Promise.race([
        end.catch(() => undefined),
        delay(stopTimeoutMs, undefined, { ref: false }),
      ]);
    },
  };
}

/** Returns what a server at `position` has to forget, by what the log holds now. */
function subjectsToForget(
  row: ChangesRow | undefined,
  position: number | undefined,
): readonly string[] {
  // At the first look a lookup may be under way that began before a change.
  if (!row || position === undefined) return [everything];
  const { oldestId, newestId, subjects } = row;
  const wasSwept = (oldestId ?? 0) > position + 1;
  // The database was put back to an earlier state, and numbers will come again.
  const wentBack = (newestId ?? 0) < position;
  const isBehind = subjects.length === changesReadMax;
  return wasSwept || wentBack || isBehind ? [everything] : subjects;
}
