// Revocation of keys: one, one with all keys that it created, or all inside a scope. Each is one
// transaction with an audit row per key and the access change for every server. Source:
// docs/spec.md, "States and transitions"; docs/decisions.md, 29, 32, 33, 34.2.

import { type Actor, describeActor } from "../../base/actor.ts";
import { ServiceError } from "../../base/errors.ts";
import { isUuid } from "../../base/ids.ts";
import { createdKeysRevokedMax } from "../../base/limits.ts";
import { revokeKeyEntry } from "../../outbox/entry.ts";
import type { Outbox } from "../../outbox/outbox.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import type { Audit, Change } from "../audit/audit.ts";
import { holds } from "../authorize.ts";
import { everything } from "../caller-memory.ts";
import type { AccessChanges } from "../changes/changes.ts";
import type { KeyKind } from "../principal.ts";
import type { LevelInOrg, Scope } from "../scope.ts";
import { type Creator, isLocal } from "./new-key.ts";
import * as store from "./store.ts";
import type { KeyFilter, KeyRow } from "./store.ts";

export type RevokeOptions = {
  readonly database: Database;
  readonly changes: Pick<AccessChanges, "append">;
  readonly audit: Pick<Audit, "appendAll">;
  readonly outbox: Outbox;
};

/** A key, identified as in `get`. */
export type KeyName = { readonly keyId: string; readonly filter: KeyFilter };

export type RevokedWithCreated = {
  /** The key itself, revoked by this call or before. */
  readonly key: KeyRow;
  /** Number of created keys that this call revoked. */
  readonly createdCount: number;
};

/** Maximum keys that servers forget one by one; "everything" costs each caller one lookup. */
const toldSinglyMax = 100;

/** Revokes one key. Fails with NOT_FOUND, and with KEY_REVOKED if it was revoked before. */
export function revoke(options: RevokeOptions, name: KeyName, actor: Actor): Promise<KeyRow> {
  return options.database.transaction(async (sql) => {
    const key = await lockKey(sql, name);
    if (!(await store.revokeKey(sql, key.id, describeActor(actor)))) throw alreadyRevoked(key);
    await announce(options, { keys: [key], actor });
    return getKey(sql, key.id);
  });
}

/**
 * Revokes a key, if it is active, and every active key that it created, directly or through created
 * keys. Throws NOT_FOUND, PERMISSION_NOT_HELD if the caller may not revoke one of these keys, and
 * KEY_REVOKED if none of these keys is active.
 */
export function revokeWithCreated(
  options: RevokeOptions,
  name: KeyName,
  revoker: Creator,
): Promise<RevokedWithCreated> {
  const { actor } = revoker;
  const revokedBy = describeActor(actor);
  const revokeAll = async (sql: Sql): Promise<RevokedWithCreated> => {
    // Creating a key locks its creator: under this lock every created key is visible.
    const key = await lockKey(sql, name);
    const isRevoked = await store.revokeKey(sql, key.id, revokedBy);
    const created = await revokeCreated(sql, key.id, revokedBy);
    assertMayRevoke(revoker, created, toScope(key));
    const keys = isRevoked ? [key, ...created] : created;
    if (keys.length === 0) throw alreadyRevoked(key);
    await announce(options, { keys, actor, withKeyId: key.id });
    return { key: await getKey(sql, key.id), createdCount: created.length };
  };
  return options.database.transaction(revokeAll);
}

/** Revokes at most `limit` keys of a scope and the scopes inside it; returns how many. */
export function revokeInside(
  options: RevokeOptions,
  scope: { readonly level: LevelInOrg; readonly id: string },
  { actor, limit }: { readonly actor: Actor; readonly limit: number },
): Promise<number> {
  return options.database.transaction(async (sql) => {
    const revokedBy = describeActor(actor);
    const keys = await store.revokeKeysInside(sql, scope, { revokedBy, limit });
    if (keys.length === 0) return 0;
    await writeDown(options, { keys, actor });
    // The archiving that requests this waits for the servers itself.
    await store.setRevocationChange(sql, idsOf(keys), await options.changes.append(everything));
    return keys.length;
  });
}

async function lockKey(sql: Sql, { keyId, filter }: KeyName): Promise<KeyRow> {
  const key = isUuid(keyId) && (await store.findKey(sql, keyId, { ...filter, isLocked: true }));
  if (!key) throw new ServiceError("NOT_FOUND", "no such key");
  return key;
}

async function getKey(sql: Sql, id: string): Promise<KeyRow> {
  const key = await store.findKey(sql, id, {});
  if (!key) throw new Error("a key that was just revoked is gone");
  return key;
}

/** Repeats until no key is left: the next step sees keys that a revoked key created meanwhile. */
async function revokeCreated(sql: Sql, id: string, revokedBy: string): Promise<readonly KeyRow[]> {
  const keys: KeyRow[] = [];
  while (keys.length < createdKeysRevokedMax) {
    const limit = createdKeysRevokedMax - keys.length;
    const more = await store.revokeKeysCreatedBy(sql, id, { revokedBy, limit });
    if (more.length === 0) break;
    keys.push(...more);
  }
  return keys;
}

const resources: Readonly<Record<KeyKind, string>> = {
  ingestion: "ingestion_api_key",
  project: "project_api_key",
  project_read_only: "ro_project_api_key",
  data_plane: "fine_grained_api_key_dp",
  control_plane: "fine_grained_api_key_cp",
};

/** Checks the caller's permission at the creator's root only: created keys lie inside it. */
function assertMayRevoke(revoker: Creator, created: readonly KeyRow[], root: Scope): void {
  if (isLocal(revoker)) return;
  const asked = new Set(
    created.map(({ rootLevel, kind }) => `${rootLevel}.${resources[kind]}.delete`),
  );
  const missing = [...asked].find((permission) => !holds(revoker, permission, root));
  if (missing === undefined) return;
  throw new ServiceError(
    "PERMISSION_NOT_HELD",
    `revoke_created_keys: revokes keys that need ${missing}, which the caller does not hold in ` +
      `this ${root.level}; leave it out, or have a member or key that holds it make this call`,
  );
}

type Announcement = {
  /** The keys as they were before the revocation. */
  readonly keys: readonly KeyRow[];
  readonly actor: Actor;
  /** Id of the key whose revocation included the others. */
  readonly withKeyId?: string;
};

/**
 * Audits revocations, adds the access changes, and requests the workflow that follows them to the
 * last server.
 */
async function announce(options: RevokeOptions, announcement: Announcement): Promise<void> {
  const { database, changes, outbox } = options;
  const { keys, actor } = announcement;
  const sql = database.sql();
  await writeDown(options, announcement);
  const ids = idsOf(keys);
  const hashes = keys.length > toldSinglyMax ? [] : await store.listHashes(sql, ids);
  const subjects = hashes.length === 0 ? [everything] : hashes.map((hash) => hash.toString("hex"));
  let changeId = 0;
  for (const subject of subjects) changeId = await changes.append(subject);
  // A server that has read the last change has read the others.
  await store.setRevocationChange(sql, ids, changeId);
  const [first] = keys;
  if (!first) throw new Error("a revocation of no key");
  const { id: keyId, orgId, rootId: scopeId } = first;
  await outbox.append(
    revokeKeyEntry({ keyId, changeId, orgId, scopeId, actor: describeActor(actor) }),
  );
}

/** Audits revocations of keys of one organization, in few statements for thousands of keys. */
async function writeDown(
  { audit }: Pick<RevokeOptions, "audit">,
  { keys, actor, withKeyId }: Announcement,
): Promise<void> {
  const toChange = (key: KeyRow): Change => {
    const { id, kind, name, maskedPrefix, status } = key;
    return {
      actor,
      scope: toScope(key),
      action: "api_key.revoke",
      target: { type: "api_key", id },
      before: { kind, name, masked_prefix: maskedPrefix, status },
      after: {
        status: "revoked",
        revoked_by: describeActor(actor),
        ...(withKeyId !== undefined && withKeyId !== id && { with_key: withKeyId }),
      },
    };
  };
  await audit.appendAll(keys.map(toChange));
}

function toScope({ rootLevel, rootId, rootName, orgId }: KeyRow): Scope {
  return { level: rootLevel, id: rootId, name: rootName, orgId };
}

function idsOf(keys: readonly KeyRow[]): readonly string[] {
  return keys.map(({ id }) => id);
}

function alreadyRevoked({ revokedAt }: KeyRow): ServiceError {
  const when = revokedAt === null ? "" : ` since ${revokedAt.toISOString()}`;
  return new ServiceError(
    "KEY_REVOKED",
    `the key is revoked${when}; a revoked key can be neither changed nor deleted: create another`,
  );
}
