// The log of access changes: keys and sign-ins that ended, and other state that servers must drop
// from memory. Every server follows it by notification and by polling. Source: docs/decisions.md,
// 32.

import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { createUuid } from "../../base/ids.ts";
import type { Logger } from "../../base/logger.ts";
import type { Database } from "../../postgres/database.ts";
import { createFollower, type Follower } from "../../postgres/follower.ts";
import { everything } from "../caller-memory.ts";
import * as store from "./store.ts";
import type { ChangesRow } from "./store.ts";

export type Confirmation = {
  /** Servers that may hold anything in memory: seen within the maximum age of cached entries. */
  readonly live: number;
  /**
   * Live servers that no longer hold the changed state: they have read the change, or it aged out.
   */
  readonly confirmed: number;
};

export type AccessChanges = {
  /**
   * Adds a change in the ambient transaction and returns its number. `subject` is the SHA-256 of a
   * key or sign-in in hexadecimal, `providers:` and the id of the scope whose credentials or
   * aliases changed, `evaluators:` and the id of the project whose evaluators changed, or `*`. This
   * server forgets at the commit; the others when they read the change. Appenders wait for one
   * another until commit, so call it after everything else in the transaction that waits for a
   * lock.
   */
  append(subject: string): Promise<number>;
  /** Adds a listener that is called with each subject to forget. */
  onForget(listener: (subject: string) => void): void;
  /** Registers this server and follows the log until `stop`, also across outages of Postgres. */
  follow(): void;
  /**
   * Returns how many servers have confirmed a change; it is complete when all live servers have.
   */
  confirmedBy(changeId: number): Promise<Confirmation>;
  /** Stops following and removes this server from the register. */
  stop(): Promise<void>;
};

export type AccessChangesOptions = {
  readonly database: Database;
  /** Time between two checks of the log; notifications only shorten it. */
  readonly pollMs?: number;
  readonly logger?: Pick<Logger, "warn">;
  readonly sweepMs?: number;
};

/**
 * Maximum configurable age of cached entries (config.ts, key-cache-age-ms), plus some time for
 * running lookups and commits.
 */
const memoryMsMax = 60_000 + 10_000;

const pollMsDefault = 5_000;
/** Age after which changes are deleted. */
const retentionMs = 3_600_000;
const sweepMsDefault = 60_000;
/**
 * Maximum changes that a server reads. If it is further behind, it forgets everything, which costs
 * one lookup per caller.
 */
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
  /** Number of the last change that was read; undefined before the first check. */
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
      // Logged once per outage: cached entries age out meanwhile, and unknown callers get a 503.
      if (!isAway) logger?.warn({ err: error }, "access changes cannot be followed now");
      isAway = true;
    }
    return !isAway;
  }

  const follower = createFollower({
    database,
    pollMs,
    takeTurn,
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
      // If Postgres is away, the row stays and is swept later.
      await Promise.race([
        end.catch(() => undefined),
        delay(stopTimeoutMs, undefined, { ref: false }),
      ]);
    },
  };
}

/** Returns the subjects that a server at `position` must forget, given the current log. */
function subjectsToForget(
  row: ChangesRow | undefined,
  position: number | undefined,
): readonly string[] {
  // Before the first check, a lookup may be running that began before a change.
  if (!row || position === undefined) return [everything];
  const { oldestId, newestId, subjects } = row;
  const wasSwept = (oldestId ?? 0) > position + 1;
  // The database was restored to an earlier state, and numbers will repeat.
  const wentBack = (newestId ?? 0) < position;
  const isBehind = subjects.length === changesReadMax;
  return wasSwept || wentBack || isBehind ? [everything] : subjects;
}
