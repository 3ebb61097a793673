// API keys: who a request's key stands for, and creating, listing and revoking keys. Called by the
// transport's gate on every request, and by the command line.
// Source: docs/spec.md, Authentication; docs/decisions.md, 14, 31, 32.

import { ServiceError } from "../../base/errors.ts";
import { createUuid, isUuid } from "../../base/ids.ts";
import type { ProjectId } from "../../base/ids.ts";
import type { Database } from "../../postgres/database.ts";
import type { KeyKind, Principal } from "../principal.ts";
import { createCache } from "./cache.ts";
import { createSecret, hashSecret, maskSecret, parseBearer } from "./secret.ts";
import * as store from "./store.ts";
import type { KeyRow } from "./store.ts";

export type Key = KeyRow;

export type CreateKeyOptions = {
  readonly kind: KeyKind;
  readonly projectId: ProjectId;
  readonly name: string;
  readonly createdBy: string;
};

export type CreatedKey = { readonly keyId: string; readonly secret: string };

export type Keys = {
  /**
   * Returns who an Authorization header stands for. Takes the same steps for a good, a bad and a
   * missing key: one hash, one look in memory, one query.
   *
   * Fails with NOT_FOUND, or with KEY_UNVERIFIABLE when the database cannot be asked and the key
   * is not in memory.
   */
  authenticate(authorizationHeader: string | undefined): Promise<Principal>;
  /** Makes a key, good at once on every server. The answer is the only place its text appears. */
  create(options: CreateKeyOptions): Promise<CreatedKey>;
  /** Returns the keys of a project, or all, revoked ones included, the oldest first. */
  list(projectId?: ProjectId): Promise<readonly Key[]>;
  /**
   * Ends a key: at once here, and on other servers when the notification arrives or, at the
   * latest, when their memory of it ages out.
   *
   * Fails with NOT_FOUND when there is no such key or it was revoked before.
   */
  revoke(keyId: string, revokedBy: string): Promise<void>;
  /** Begins to follow changes made by other servers; goes on by itself when Postgres went away. */
  follow(): void;
};

export type KeysOptions = {
  readonly database: Database;
  readonly cacheEntriesMax: number;
  readonly cacheAgeMs: number;
  readonly lookupTimeoutMs?: number;
  readonly now?: () => number;
};

/** Short, so that a key made elsewhere whose notification was lost works soon. */
const unknownKeyAgeMs = 2_000;
const lookupTimeoutMsDefault = 5_000;

export function createKeys(options: KeysOptions): Keys {
  const { database } = options;
  const memory = createMemory(options);
  const lookups = new Map<string, Promise<Principal | undefined>>();

  async function lookUp(hash: Buffer, id: string): Promise<Principal | undefined> {
    const generation = memory.generation();
    const timeoutMs = options.lookupTimeoutMs ?? lookupTimeoutMsDefault;
    const principal = await within(timeoutMs, store.findPrincipal(database.sql(), hash));
    memory.set(id, principal, generation);
    return principal;
  }

  /** Many requests with one key ask once. */
  function lookUpOnce(hash: Buffer, id: string): Promise<Principal | undefined> {
    const running = lookups.get(id);
    if (running) return running;
    const lookup = lookUp(hash, id).finally(() => lookups.delete(id));
    lookups.set(id, lookup);
    return lookup;
  }

  function forget(id: string): void {
    memory.forget(id);
    // A lookup that began before the change must not answer requests that come after it.
    lookups.delete(id);
  }

  return {
    async authenticate(authorizationHeader) {
      const hash = hashSecret(parseBearer(authorizationHeader));
      const id = hash.toString("hex");
      const remembered = memory.find(id);
      const principal = remembered
        ? remembered.principal
        : await lookUpOnce(hash, id).catch(refuse);
      if (!principal) throw new ServiceError("NOT_FOUND", "no such key");
      return principal;
    },

    async create({ kind, projectId, name, createdBy }) {
      const secret = createSecret(kind);
      const keyHash = hashSecret(secret);
      const keyId = createUuid();
      const maskedPrefix = maskSecret(secret, kind);
      const row = { keyId, kind, projectId, name, createdBy, keyHash, maskedPrefix };
      await store.insertKey(database.sql(), row);
      return { keyId, secret };
    },

    list: (projectId) => store.listKeys(database.sql(), projectId),

    async revoke(keyId, revokedBy) {
      const hash = await database.transaction(async (sql) => {
        const revoked = isUuid(keyId) ? await store.revokeKey(sql, keyId, revokedBy) : undefined;
        if (!revoked) throw new ServiceError("NOT_FOUND", "no such active key");
        await store.notifyKeyChanged(sql, revoked);
        return revoked;
      });
      forget(hash.toString("hex"));
    },

    follow() {
      // Notifications may have been missed while there was no connection.
      const onListening = () => memory.clear();
      database.listen(store.keysChannel, forget, onListening).catch(() => {
        // Postgres is away: the driver tries again, and until then the age bound holds.
      });
    },
  };
}

type Memory = {
  find(id: string): { readonly principal: Principal | undefined } | undefined;
  set(id: string, principal: Principal | undefined, generation: number): void;
  forget(id: string): void;
  clear(): void;
  generation(): number;
};

/** Known and unknown keys are kept apart, so that a flood of made-up keys evicts no real one. */
function createMemory({ cacheEntriesMax, cacheAgeMs, now = Date.now }: KeysOptions): Memory {
  const bounds = { entriesMax: cacheEntriesMax, now };
  const known = createCache<Principal>({ ...bounds, ageMsMax: cacheAgeMs });
  const unknown = createCache<true>({ ...bounds, ageMsMax: Math.min(unknownKeyAgeMs, cacheAgeMs) });
  let generation = 0;
  return {
    find(id) {
      const principal = known.find(id);
      if (principal) return { principal };
      return unknown.find(id) ? { principal: undefined } : undefined;
    },
    set(id, principal, generationAtLookup) {
      // Something was revoked while this was being looked up: the answer may be the old one.
      if (generationAtLookup !== generation) return;
      if (principal) known.set(id, principal);
      else unknown.set(id, true);
    },
    forget(id) {
      generation += 1;
      known.delete(id);
      unknown.delete(id);
    },
    clear() {
      generation += 1;
      known.clear();
      unknown.clear();
    },
    generation: () => generation,
  };
}

function refuse(cause: unknown): never {
  throw new ServiceError("KEY_UNVERIFIABLE", "the key cannot be verified now", { cause });
}

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
