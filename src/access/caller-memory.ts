// A server's cache of callers, by the hash of their key or sign-in. Source: docs/decisions.md, 14,
// 32.

import { LRUCache } from "lru-cache";
import { ServiceError } from "../base/errors.ts";
import { keyLookupsMax } from "../base/tenant-limits.ts";
import { within } from "../base/within.ts";
import type { Principal } from "./principal.ts";

export type CallerMemory<T extends Principal> = {
  /**
   * Returns the caller of a hash, from the cache or by one lookup that concurrent requests share.
   * Takes the same steps for a valid and an unknown hash.
   *
   * Fails with NOT_FOUND if the hash is unknown or the key or sign-in has ended, and with
   * KEY_UNVERIFIABLE if the hash is not cached and the lookup fails.
   */
  get(hash: Buffer): Promise<T>;
  /**
   * Removes one hash, in hexadecimal, or all with `*`. Results of running lookups are not cached.
   */
  forget(subject: string): void;
};

export type CallerMemoryOptions<T extends Principal> = {
  /** Looks a hash up in the database. */
  readonly find: (hash: Buffer) => Promise<T | undefined>;
  /** Maximum callers in the cache; 0 turns it off. */
  readonly entriesMax: number;
  /** Maximum age, counted from the question; a use does not extend it. */
  readonly ageMsMax: number;
  readonly lookupTimeoutMs?: number;
  readonly now?: () => number;
};

type Remembered<T> = { readonly principal: T; readonly goodUntil: number };

/** Means every hash, in `forget` and in access_changes. */
export const everything = "*";

/** Short, so that a key made on another server soon works even if its notification was lost. */
const unknownAgeMs = 2_000;
const lookupTimeoutMsDefault = 5_000;

export function createCallerMemory<T extends Principal>(
  options: CallerMemoryOptions<T>,
): CallerMemory<T> {
  const { find, entriesMax, ageMsMax, now = Date.now } = options;
  const timeoutMs = options.lookupTimeoutMs ?? lookupTimeoutMsDefault;
  const size = { max: Math.max(1, entriesMax) };
  const known = new LRUCache<string, Remembered<T>>(size);
  // Separate, so that a flood of invented keys evicts no real one.
  const unknown = new LRUCache<string, Remembered<undefined>>(size);
  const lookups = new Map<string, Promise<T | undefined>>();
  let generation = 0;
  let asked = 0;

  async function ask(hash: Buffer): Promise<T | undefined> {
    if (asked >= keyLookupsMax) throw new Error(`${keyLookupsMax} callers are being looked up`);
    asked += 1;
    try {
      return await find(hash);
    } finally {
      asked -= 1;
    }
  }

  async function lookUp(hash: Buffer, id: string): Promise<T | undefined> {
    const generationAtStart = generation;
    // The database may answer late with an early state: the age counts from the question.
    const askedAtMs = now();
    const late = () => new Error(`no answer within ${timeoutMs} ms`);
    const principal = await within(timeoutMs, ask(hash), late);
    // Something ended during the lookup: its answer may be outdated.
    if (generationAtStart !== generation) return principal;
    if (entriesMax === 0) return principal;
    if (principal) known.set(id, { principal, goodUntil: askedAtMs + ageMsMax });
    else {
      const goodUntil = askedAtMs + Math.min(unknownAgeMs, ageMsMax);
      unknown.set(id, { principal, goodUntil });
    }
    return principal;
  }

  function lookUpOnce(hash: Buffer, id: string): Promise<T | undefined> {
    const running = lookups.get(id);
    if (running) return running;
    const lookup = lookUp(hash, id).finally(() => {
      if (lookups.get(id) === lookup) lookups.delete(id);
    });
    lookups.set(id, lookup);
    return lookup;
  }

  return {
    async get(hash) {
      const id = hash.toString("hex");
      const nowMs = now();
      const remembered = [known.get(id), unknown.get(id)].find((one) => isGood(one, nowMs));
      const principal = remembered
        ? remembered.principal
        : await lookUpOnce(hash, id).catch(refuse);
      if (!principal || (principal.expiresAtMs ?? Infinity) <= now()) {
        throw new ServiceError("NOT_FOUND", "no caller has this credential");
      }
      return principal;
    },

    forget(subject) {
      generation += 1;
      if (subject === everything) {
        known.clear();
        unknown.clear();
        lookups.clear();
        return;
      }
      known.delete(subject);
      unknown.delete(subject);
      // A lookup that began before the change must not answer requests that come after it.
      lookups.delete(subject);
    },
  };
}

function isGood(remembered: Remembered<unknown> | undefined, nowMs: number): boolean {
  return remembered !== undefined && remembered.goodUntil > nowMs;
}

function refuse(cause: unknown): never {
  throw new ServiceError("KEY_UNVERIFIABLE", "the caller cannot be verified now", { cause });
}
