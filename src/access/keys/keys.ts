// API keys of every kind: verification, creation, lists and revocation. Source: docs/spec.md, "API
// keys", Authentication; docs/decisions.md, 14, 31, 32, 33, 34.2.

import { type Actor, describeActor } from "../../base/actor.ts";
import { ServiceError } from "../../base/errors.ts";
import { createUuid, isUuid } from "../../base/ids.ts";
import { type Page, type PageOptions, toPage } from "../../base/pages.ts";
import type { Outbox } from "../../outbox/outbox.ts";
import type { Audit } from "../audit/audit.ts";
import { createCallerMemory } from "../caller-memory.ts";
import { changeInside, type ChangeParts } from "../change.ts";
import type { AccessChanges } from "../changes/changes.ts";
import type { KeyPolicies } from "../key-policies/key-policies.ts";
import type { KeyPrincipal } from "../principal.ts";
import type { Scope, LevelInOrg } from "../scope.ts";
import { toPrincipal } from "./key-principal.ts";
import { checkNewKey, type Creator, type NewKey } from "./new-key.ts";
import { revoke, type RevokedWithCreated, revokeInside, revokeWithCreated } from "./revoke.ts";
import { createSecret, hashSecret, maskSecret, parseBearer } from "./secret.ts";
import * as store from "./store.ts";
import type { KeyRow, Root } from "./store.ts";

export type Key = KeyRow;
export type KeyFilter = store.KeyFilter;

export type CreatedKey = { readonly key: Key; readonly secret: string };

export type Keys = {
  /**
   * Returns the caller of an Authorization header. Takes the same steps for a valid, an invalid and
   * a missing key: one hash, one cache lookup, one query.
   *
   * Fails with NOT_FOUND, or with KEY_UNVERIFIABLE if the key is not cached and the database does
   * not answer.
   */
  authenticate(authorizationHeader: string | undefined): Promise<KeyPrincipal>;
  /**
   * Creates a key, valid at once on every server. Only this answer contains its text.
   *
   * Fails with INVALID_ARGUMENT, also for a permission that no call requires, if `required` is
   * given; with PERMISSION_NOT_ALLOWED if the organization's policy does not
   * allow a permission, or if a key would create a key that creates keys; with PERMISSION_NOT_HELD
   * if a person would grant more than the person holds, or a key would grant a power over the
   * organization that it does not hold; with NOT_FOUND if the root was archived or the calling key
   * was revoked.
   */
  create(key: NewKey): Promise<CreatedKey>;
  /** Returns keys, revoked ones included, newest first; all keys if the filter is empty. */
  list(filter: KeyFilter, page: PageOptions): Promise<Page<Key>>;
  /** Returns a key. Fails with NOT_FOUND if the filter's kind and root have no such key. */
  get(keyId: string, filter: KeyFilter): Promise<Key>;
  /**
   * Revokes a key: at once on this server, on other servers when they read the change. Requests the
   * workflow that follows the change to the last server.
   *
   * Fails with NOT_FOUND like `get`, and with KEY_REVOKED if it was revoked before.
   */
  revoke(keyId: string, filter: KeyFilter, actor: Actor): Promise<Key>;
  /**
   * Revokes a key like `revoke`, together with every key that it created, directly or through
   * created keys, in one transaction. Revokes at most 10,000 created keys; a second call continues.
   * If created keys are left, the key itself may already be revoked.
   *
   * Fails like `revoke`, and with PERMISSION_NOT_HELD if the caller may not revoke one of the keys.
   */
  revokeWithCreated(
    keyId: string,
    filter: KeyFilter,
    revoker: Creator,
  ): Promise<RevokedWithCreated>;
  /**
   * Revokes at most `limit` keys of a scope and the scopes inside it, archived ones included, and
   * returns how many; 0 means that none is left.
   */
  revokeInside(level: LevelInOrg, scopeId: string, actor: Actor, limit: number): Promise<number>;
  /** Records that every server has applied a revocation. Only the first call has an effect. */
  recordConfirmation(keyId: string): Promise<void>;
};

export type KeysOptions = ChangeParts & {
  readonly changes: Pick<AccessChanges, "onForget">;
  readonly audit: Pick<Audit, "append" | "appendAll">;
  readonly outbox: Outbox;
  readonly policies: Pick<KeyPolicies, "permissionsOf">;
  readonly cacheEntriesMax: number;
  readonly cacheAgeMs: number;
  readonly lookupTimeoutMs?: number;
  /** Called with the key's id for each request with a valid key. */
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
      const rows = await store.listKeys(database.sql(), filter, page);
      return toPage("keys", rows, page.limit);
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

/** Returns a scope as a key's root. Throws for levels that keys are not made for. */
export function toRoot({ level, id }: Pick<Scope, "level" | "id">): Root {
  if (level === "system" || level === "dataplane") throw new Error(`no key is rooted at ${level}`);
  return { level, id };
}

function create(options: KeysOptions, newKey: NewKey): Promise<CreatedKey> {
  const { kind, root, name, description = null, creator } = newKey;
  const { actor } = creator;
  const createdByKeyId = actor.type === "key" ? actor.id : null;
  return changeInside(options, { scope: root, actor }, async (sql, held) => {
    // Another server may still cache a revoked key; a key that it created now would remain active.
    if (createdByKeyId !== null && !(await store.holdActiveKey(sql, createdByKeyId))) {
      throw new ServiceError("NOT_FOUND", "the calling key is revoked");
    }
    const allowed = await options.policies.permissionsOf(held);
    const { permissions, expiresAt } = checkNewKey(newKey, allowed);
    const secret = createSecret(kind);
    const id = createUuid();
    const maskedPrefix = maskSecret(secret, kind);
    await store.insertKey(sql, {
      id,
      kind,
      name,
      description,
      maskedPrefix,
      permissions,
      expiresAt,
      root: toRoot(held),
      keyHash: hashSecret(secret),
      createdBy: describeActor(actor),
      createdByKeyId,
    });
    const key = await store.findKey(sql, id, {});
    if (!key) throw new Error("a key that was just made is gone");
    const after = {
      kind,
      name,
      description,
      masked_prefix: maskedPrefix,
      permissions,
      expires_at: expiresAt?.toISOString() ?? null,
    };
    return { result: { key, secret }, audit: { action: "api_key.create", targetId: id, after } };
  });
}
