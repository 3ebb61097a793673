// API keys: who a request's key stands for, and creating, listing and revoking keys of every kind.
// Called by the transport's gate on every request, by handlers.ts, by the command line, and by the
// workflows of archiving and revocation.
// Source: docs/spec.md, "API keys", Authentication; docs/decisions.md, 14, 31 to 34.

import { ServiceError } from "../../base/errors.ts";
import { createUuid, isUuid } from "../../base/ids.ts";
import { toPage } from "../../base/pages.ts";
import type { Page, PageOptions } from "../../base/pages.ts";
import type { Scopes } from "../../controlplane/scopes/scopes.ts";
import { revokeKeyEntry } from "../../outbox/entry.ts";
import type { Outbox } from "../../outbox/outbox.ts";
import type { Database } from "../../postgres/database.ts";
import type { Audit } from "../audit/audit.ts";
import { createCallerMemory, everything } from "../caller-memory.ts";
import type { AccessChanges } from "../changes/changes.ts";
import type { KeyPolicies } from "../key-policies/key-policies.ts";
import { describeActor } from "../principal.ts";
import type { Actor, KeyPrincipal } from "../principal.ts";
import type { Scope, LevelInOrg } from "../scope.ts";
import { toPrincipal } from "./key-principal.ts";
import { checkNewKey } from "./new-key.ts";
import type { NewKey } from "./new-key.ts";
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
   * a person would hand on more than the person holds; with NOT_FOUND when the root was archived.
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

    revoke: (keyId, filter, actor) => revoke(options, { keyId, filter, actor }),

    revokeInside: (level, scopeId, actor, limit) =>
      revokeInside(options, { level, id: scopeId }, actor, limit),

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
  return database.transaction(async (sql) => {
    const held = await scopes.hold(root.level, root.id);
    const { permissions, expiresAt } = checkNewKey(newKey, await policies.permissionsOf(held));
    const secret = createSecret(kind);
    const id = createUuid();
    const maskedPrefix = maskSecret(secret, kind);
    await store.insertKey(sql, {
      ...{ id, kind, name, description, maskedPrefix, permissions, expiresAt },
      root: toRoot(held),
      keyHash: hashSecret(secret),
      createdBy: describeActor(creator.actor),
      isCreatedByKey: creator.actor.type === "key",
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

type Revocation = { readonly keyId: string; readonly filter: KeyFilter; readonly actor: Actor };

function revoke(options: KeysOptions, { keyId, filter, actor }: Revocation): Promise<Key> {
  const { database, audit, changes, outbox } = options;
  return database.transaction(async (sql) => {
    const key = isUuid(keyId) && (await store.lockKey(sql, keyId, filter));
    if (!key) throw new ServiceError("NOT_FOUND", "no such key");
    const { id, orgId, rootId } = key;
    const revokedBy = describeActor(actor);
    const hash = await store.revokeKey(sql, id, revokedBy);
    if (!hash) {
      throw new ServiceError(
        "KEY_REVOKED",
        "the key is revoked; a revoked key can be neither changed nor deleted",
      );
    }
    const scope = { level: key.rootLevel, id: rootId, name: key.rootName, orgId };
    await audit.append({ actor, scope, ...revocationOf(key, revokedBy) });
    const changeId = await changes.append(hash.toString("hex"));
    await store.setRevocationChange(sql, [id], changeId);
    await outbox.append(
      revokeKeyEntry({ keyId: id, changeId, orgId, scopeId: rootId, actor: revokedBy }),
    );
    const revoked = await store.findKey(sql, id, {});
    if (!revoked) throw new Error("a key that was just revoked is gone");
    return revoked;
  });
}

function revokeInside(
  { database, audit, changes }: KeysOptions,
  scope: { readonly level: LevelInOrg; readonly id: string },
  actor: Actor,
  limit: number,
): Promise<number> {
  const revokedBy = describeActor(actor);
  return database.transaction(async (sql) => {
    const keys = await store.revokeKeysInside(sql, scope, { revokedBy, limit });
    for (const key of keys) {
      const { rootLevel, rootId, rootName, orgId } = key;
      const root = { level: rootLevel, id: rootId, name: rootName, orgId };
      await audit.append({ actor, scope: root, ...revocationOf(key, revokedBy) });
    }
    if (keys.length === 0) return 0;
    const changeId = await changes.append(everything);
    await store.setRevocationChange(
      sql,
      keys.map(({ id }) => id),
      changeId,
    );
    return keys.length;
  });
}

/** What the audit log says of a revocation. */
function revocationOf({ id, kind, name, maskedPrefix, status }: Key, revokedBy: string) {
  return {
    action: "api_key.revoke",
    target: { type: "api_key", id },
    before: { kind, name, masked_prefix: maskedPrefix, status },
    after: { status: "revoked", revoked_by: revokedBy },
  };
}
