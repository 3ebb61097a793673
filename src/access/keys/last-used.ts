// Last use of keys, accurate to about a minute: collected in memory and written in batches, so that
// no request waits for it. Source: docs/spec.md, "API keys".

import { LRUCache } from "lru-cache";
import type { Database } from "../../postgres/database.ts";
import * as store from "./store.ts";

export type LastUsed = {
  /** Notes a use. Never waits, never fails. */
  note(keyId: string): void;
  /** Writes the collected uses. A failure is ignored: the key's next use is noted again. */
  stop(): Promise<void>;
};

export type LastUsedOptions = {
  readonly database: Database;
  readonly flushMs?: number;
  readonly now?: () => number;
};

const flushMsDefault = 10_000;
/** Minimum time between two notes of one key. */
const stepMs = 60_000;
/**
 * Maximum keys that wait for a write, and maximum keys remembered as noted. Uses of other keys are
 * not noted until the next write.
 */
const keysMax = 10_000;

export function createLastUsed(options: LastUsedOptions): LastUsed {
  const { database, flushMs = flushMsDefault, now = Date.now } = options;
  const noted = new LRUCache<string, true>({
    max: keysMax,
    // An entry outlives its ttl by up to a millisecond.
    ttl: stepMs - 1,
    ttlResolution: 0,
    perf: { now },
  });
  let waiting = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.size === 0) return;
    const uses = Array.from(waiting, ([keyId, ms]) => ({ keyId, usedAt: new Date(ms) }));
    waiting = new Map();
    try {
      await store.updateLastUsed(database.sql(), uses, stepMs);
    } catch {
      // Postgres is away; failing requests already report it.
      for (const { keyId } of uses) noted.delete(keyId);
    }
  }

  return {
    note(keyId) {
      if (noted.has(keyId) || waiting.size >= keysMax) return;
      noted.set(keyId, true);
      waiting.set(keyId, now());
      timer ??= setTimeout(() => void flush(), flushMs).unref();
    },
    stop: flush,
  };
}
