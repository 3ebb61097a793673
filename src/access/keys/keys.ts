// API keys: who a request's key stands for, and creating, listing and revoking keys of every kind.
// Source: docs/spec.md, "API keys", Authentication; docs/decisions.md, 14, 31 to 34.

import { ServiceError } from "../../base/errors.ts";
import { createUuid, isUuid } from "../../base/ids.ts";
import { toPage } from "../../base/pages.ts";
import type { Page, PageOptions } from "../../base/pages.ts";
import type { Scopes } from "../../controlplane/scopes/scopes.ts";
import type { Outbox } from "../../outbox/outbox.ts";
import type { Database } from "../../postgres/database.ts";
import type { Audit } from "../audit/audit.ts";
import { createCallerMemory } from "../caller-memory.ts";
import type { AccessChanges } from "../changes/changes.ts";
import type { KeyPolicies } from "../key-policies/key-policies.ts";
import { describeActor } from "../principal.ts";
import type { Actor, KeyPrincipal } from "../principal.ts";
import type { Scope, LevelInOrg } from "../scope.ts";
import { toPrincipal } from "./key-principal.ts";
import { checkNewKey } from "./new-key.ts";
import type { Creator, NewKey } from "./new-key.ts";
import { revoke, revokeInside, revokeWithCreated } from "./revoke.ts";
import type { RevokedWithCreated } from "./revoke.ts";
import { createSecret, hashSecret, maskSecret, parseBearer } from "./secret.ts";
import * as store from "./store.ts";
import type { KeyRow, Root } from "./store.ts";

export type Key = KeyRow;
export type KeyFilter = store.KeyFilter;

export type CreatedKey = { readonly key: Key; readonly secret: string };

export type Keys = {
  /**
   * Returns who an Authorization header stands for. Takes the same steps for a good, a bad and a
   * missing key: one hash, one look in memory, one query.
   *
   * Fails with NOT_FOUND, or with KEY_UNVERIFIABLE when the database cannot be asked and the key
   * is not in memory.
   */
  authenticate(authorizationHeader: string | undefined): Promise<KeyPrincipal>;
  /**
   * Makes a key, good at once on every server. The answer is the only place its text appears.
   *
   * Fails with INVALID_ARGUMENT; with PERMISSION_NOT_ALLOWED when the organization's policy does
   * not leave a permission, or a key would make one that makes keys; with PERMISSION_NOT_HELD when
   * a person would hand on more than the person holds, or a key a power over the organization that
   * the key does not hold; with NOT_FOUND when the root was archived.
   */
  create(key: NewKey): Promise<CreatedKey>;
  /** Returns keys, revoked ones included, the newest first; all of them with an empty filter. */
  list(filter: KeyFilter, page: PageOptions): Promise<Page<Key>>;
  /** Fails with NOT_FOUND when there is no such key of the kind at the root. */
  get(keyId: string, filter: KeyFilter): Promise<Key>;
  /**
   * Ends a key: at once here, on other servers as soon as they hear of it, and asks for the
   * workflow that follows it to the last server.
   *
   * Fails with NOT_FOUND as `get`, and with KEY_REVOKED when it was revoked before.
   */
  revoke(keyId: string, filter: KeyFilter, actor: Actor): Promise<Key>;
  /**
   * Ends a key as `revoke` does, together with every key that it created, itself or by keys that it
   * created, in one transaction; at most 10,000, and a second call goes on. A key that was revoked
   * before is no failure while keys that it created are left.
   *
   * Fails as `revoke` does, and with PERMISSION_NOT_HELD when the caller may not revoke one of
   * them.
   */
  revokeWithCreated(
    keyId: string,
    filter: KeyFilter,
    revoker: Creator,
  ): Promise<RevokedWithCreated>;
  /**
   * Ends at most `limit` keys that are rooted at a scope or inside it, archived or not, and returns
   * how many; 0 means that none is left.
   */
  revokeInside(level: LevelInOrg, scopeId: string, actor: Actor, limit: number): Promise<number>;
  /** Records that every server has heard of a revocation. Only the first time counts. */
  recordConfirmation(keyId: string): Promise<void>;
};

export type KeysOptions = {
  readonly database: Database;
  readonly changes: Pick<AccessChanges, "append" | "onForget">;
  readonly audit: Pick<Audit, "append">;
  readonly outbox: Outbox;
  readonly scopes: Pick<Scopes, "hold">;
  readonly policies: Pick<KeyPolicies, "permissionsOf">;
  readonly cacheEntriesMax: number;
  readonly cacheAgeMs: number;
  readonly lookupTimeoutMs?: number;
  /** Told of each request that came with a good key. */
  readonly onUsed?: (keyId: string) => void;
  readonly now?: () => number;
};

export function createKeys(options: KeysOptions): Keys {
  const { database, changes, onUsed } = options;
  const memory = createCallerMemory<KeyPrincipal>({
    ...options,
    entriesMax: options.cacheEntriesMax,
    ageMsMax: options.cacheAgeMs,
    async find(hash) {
      const row = await store.findLiveKey(database.sql(), hash);
      return row && toPrincipal(row);
    },
  });
  changes.onForget((subject) => memory.forget(subject));

  return {
    async authenticate(header) {
      const principal = await memory.get(hashSecret(parseBearer(header)));
      onUsed?.(principal.actor.id);
      return principal;
    },

    create: (key) => create(options, key),

    async list(filter, page) {
      return toPage(await store.listKeys(database.sql(), filter, page), page.limit);
    },

    async get(keyId, filter) {
      const key = isUuid(keyId) && (await store.findKey(database.sql(), keyId, filter));
      if (!key) throw new ServiceError("NOT_FOUND", "no such key");
      return key;
    },

    revoke: (keyId, filter, actor) => revoke(options, { keyId, filter }, actor),

    revokeWithCreated: (keyId, filter, revoker) =>
      revokeWithCreated(options, { keyId, filter }, revoker),

    revokeInside: (level, scopeId, actor, limit) =>
      revokeInside(options, { level, id: scopeId }, { actor, limit }),

    recordConfirmation: (keyId) => store.setRevocationConfirmed(database.sql(), keyId),
  };
}

/** Returns where keys of a scope are rooted. */
export function toRoot({ level, id }: Pick<Scope, "level" | "id">): Root {
  if (level === "system" || level === "dataplane") throw new Error(`no key is rooted at ${level}`);
  return { level, id };
}

function create(options: KeysOptions, newKey: NewKey): Promise<CreatedKey> {
  const { database, audit, scopes, policies } = options;
  const { kind, root, name, description = null, creator } = newKey;
  const createdByKeyId = creator.actor.type === "key" ? creator.actor.id : null;
  return database.transaction(async (sql) => {
    const held = await scopes.hold(root.level, root.id);
    // Another server may remember a key that was revoked; what it makes then would stay behind.
    if (createdByKeyId !== null && !(await store.holdActiveKey(sql, createdByKeyId))) {
      throw new ServiceError("NOT_FOUND", "the calling key is revoked");
    }
    const { permissions, expiresAt } = checkNewKey(newKey, await policies.permissionsOf(held));
    const secret = createSecret(kind);
    const id = createUuid();
    const maskedPrefix = maskSecret(secret, kind);
    await store.insertKey(sql, {
      ...{ id, kind, name, description, maskedPrefix, permissions, expiresAt },
      root: toRoot(held),
      keyHash: hashSecret(secret),
      createdBy: describeActor(creator.actor),
      createdByKeyId,
    });
    const key = await store.findKey(sql, id, {});
    if (!key) throw new Error("a key that was just made is gone");
    await audit.append({
      actor: creator.actor,
      scope: held,
      action: "api_key.create",
      target: { type: "api_key", id },
      after: {
        ...{ kind, name, description, masked_prefix: maskedPrefix, permissions },
        expires_at: expiresAt?.toISOString() ?? null,
      },
    });
    return { key, secret };
  });
}
