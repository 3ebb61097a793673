// API keys: who a request's key stands for, and creating, listing and revoking keys. Called by the
// transport's gate on every request, and by the command line.
// Source: docs/spec.md, Authentication; docs/decisions.md, 14, 31, 32.

import { ServiceError } from "../../base/errors.ts";
import { createUuid, isUuid } from "../../base/ids.ts";
import type { ProjectId } from "../../base/ids.ts";
import type { Database } from "../../postgres/database.ts";
import { createCallerMemory, everything } from "../caller-memory.ts";
import type { KeyKind, KeyPrincipal } from "../principal.ts";
import { createSecret, hashSecret, maskSecret, parseBearer } from "./secret.ts";
import { toPrincipal } from "./key-principal.ts";
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
  authenticate(authorizationHeader: string | undefined): Promise<KeyPrincipal>;
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

export function createKeys(options: KeysOptions): Keys {
  const { database } = options;
  const memory = createCallerMemory<KeyPrincipal>({
    ...options,
    entriesMax: options.cacheEntriesMax,
    ageMsMax: options.cacheAgeMs,
    async find(hash) {
      const row = await store.findLiveKey(database.sql(), hash);
      return row && toPrincipal(row);
    },
  });

  return {
    authenticate: (header) => memory.get(hashSecret(parseBearer(header))),

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
      memory.forget(hash.toString("hex"));
    },

    follow() {
      // Notifications may have been missed while there was no connection.
      const onListening = () => memory.forget(everything);
      database
        .listen(store.keysChannel, (id) => memory.forget(id), onListening)
        .catch(() => {
          // Postgres is away: the driver tries again, and until then the age bound holds.
        });
    },
  };
}
