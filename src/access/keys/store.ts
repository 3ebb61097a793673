// SQL of API keys.

import type { ProjectId } from "../../base/ids.ts";
import type { PageOptions, Position } from "../../base/pages.ts";
import type { Fragment, Sql } from "../../postgres/database.ts";
import { isBefore, selectCreatedAtUs } from "../../postgres/keyset.ts";
import type { KeyKind } from "../principal.ts";
import type { LevelInOrg } from "../scope.ts";

export type RootLevel = "org" | "workspace" | "project";

/** Scope that a key is made for. */
export type Root = { readonly level: RootLevel; readonly id: string };

export type KeyRow = Position & {
  readonly kind: KeyKind;
  readonly name: string;
  readonly description: string | null;
  readonly maskedPrefix: string;
  readonly status: "active" | "expired" | "revoked";
  readonly rootLevel: RootLevel;
  readonly rootId: string;
  readonly rootName: string;
  readonly orgId: string;
  readonly permissions: readonly string[] | null;
  readonly createdAt: Date;
  readonly createdBy: string;
  /** Null if no key created it. */
  readonly createdByKeyId: string | null;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
  readonly revokedBy: string | null;
  readonly revocationConfirmedAt: Date | null;
};

export type NewKeyRow = Pick<
  KeyRow,
  | "id"
  | "kind"
  | "name"
  | "description"
  | "maskedPrefix"
  | "permissions"
  | "expiresAt"
  | "createdBy"
  | "createdByKeyId"
> & {
  readonly root: Root;
  readonly keyHash: Buffer;
};

/** A key that is neither revoked nor expired, with its root and all scopes above it active. */
export type LiveKeyRow = {
  readonly keyId: string;
  readonly kind: KeyKind;
  readonly name: string;
  readonly permissions: readonly string[] | null;
  readonly expiresAt: Date | null;
  readonly isCreatedByKey: boolean;
  readonly policy: readonly string[] | null;
  readonly orgId: string;
  readonly orgName: string;
  readonly dataplaneId: string | null;
  readonly clusterId: string | null;
  readonly workspaceId: string | null;
  readonly workspaceName: string | null;
  readonly projectId: ProjectId | null;
  readonly projectName: string | null;
  /** Active organizations that the key created. */
  readonly madeOrgIds: readonly string[];
};

/** Maximum created organizations, the newest, that one key can access. */
const madeOrgsMax = 1_000;

/** Keys with their root and the scopes above it. */
function keysWithScopes(sql: Sql): Fragment {
  return sql`
    api_keys as keys
    left join projects on projects.project_id = keys.project_id
    left join workspaces
      on workspaces.workspace_id = coalesce(projects.workspace_id, keys.workspace_id)
    left join dataplanes on dataplanes.dataplane_id = workspaces.dataplane_id
    join organizations on organizations.org_id = coalesce(dataplanes.org_id, keys.org_id)`;
}

export async function findLiveKey(sql: Sql, keyHash: Buffer): Promise<LiveKeyRow | undefined> {
  const [row] = await sql<LiveKeyRow[]>`
    select
      keys.key_id as "keyId",
      keys.kind,
      keys.name,
      keys.permissions,
      keys.expires_at as "expiresAt",
      keys.created_by_key as "isCreatedByKey",
      api_key_policies.permissions as policy,
      organizations.org_id as "orgId",
      organizations.name as "orgName",
      dataplanes.dataplane_id as "dataplaneId",
      dataplanes.cluster_id as "clusterId",
      workspaces.workspace_id as "workspaceId",
      workspaces.name as "workspaceName",
      projects.project_id as "projectId",
      projects.name as "projectName",
      array(
        select made.org_id
        from organizations as made
        where made.created_by_key = keys.key_id and made.archived_at is null
        order by made.created_at desc
        limit ${madeOrgsMax}
      ) as "madeOrgIds"
    from ${keysWithScopes(sql)}
    left join api_key_policies on api_key_policies.org_id = organizations.org_id
    where keys.key_hash = ${keyHash}
      and keys.revoked_at is null
      and (keys.expires_at is null or keys.expires_at > now())
      and projects.archived_at is null
      and workspaces.archived_at is null
      and dataplanes.archived_at is null
      and organizations.archived_at is null`;
  return row;
}

export async function insertKey(sql: Sql, key: NewKeyRow): Promise<void> {
  const idAt = (level: RootLevel) => (key.root.level === level ? key.root.id : null);
  await sql`
    insert into api_keys (
      key_id, key_hash, kind, org_id, workspace_id, project_id, name, description,
      masked_prefix, permissions, expires_at, created_by, created_by_key, created_by_key_id
    )
    values (
      ${key.id}, ${key.keyHash}, ${key.kind},
      ${idAt("org")}, ${idAt("workspace")}, ${idAt("project")}, ${key.name}, ${key.description},
      ${key.maskedPrefix}, ${key.permissions && [...key.permissions]}, ${key.expiresAt},
      ${key.createdBy}, ${key.createdByKeyId !== null}, ${key.createdByKeyId}
    )`;
}

/**
 * Keeps a key from being revoked until the transaction ends. Waits for a running revocation.
 * Returns false if the key is revoked.
 */
export async function holdActiveKey(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`
    select 1 from api_keys
    where key_id = ${id} and revoked_at is null
    for share`;
  return rows.length > 0;
}

function selectKeys(sql: Sql): Fragment {
  return sql`
    select
      keys.key_id as id,
      ${selectCreatedAtUs(sql, "keys.created_at")},
      keys.kind,
      keys.name,
      keys.description,
      keys.masked_prefix as "maskedPrefix",
      case
        when keys.revoked_at is not null then 'revoked'
        when keys.expires_at <= now() then 'expired'
        else 'active'
      end as status,
      case
        when keys.project_id is not null then 'project'
        when keys.workspace_id is not null then 'workspace'
        else 'org'
      end as "rootLevel",
      coalesce(keys.project_id, keys.workspace_id, keys.org_id) as "rootId",
      case
        when keys.project_id is not null then projects.name
        when keys.workspace_id is not null then workspaces.name
        else organizations.name
      end as "rootName",
      organizations.org_id as "orgId",
      keys.permissions,
      keys.created_at as "createdAt",
      keys.created_by as "createdBy",
      keys.created_by_key_id as "createdByKeyId",
      keys.expires_at as "expiresAt",
      keys.last_used_at as "lastUsedAt",
      keys.revoked_at as "revokedAt",
      keys.revoked_by as "revokedBy",
      keys.revocation_confirmed_at as "revocationConfirmedAt"
    from ${keysWithScopes(sql)}`;
}

/** Selects keys by kind and by root; an absent field selects all. */
export type KeyFilter = { readonly kind?: KeyKind; readonly root?: Root };

const rootColumns: Readonly<Record<RootLevel, string>> = {
  org: "keys.org_id",
  workspace: "keys.workspace_id",
  project: "keys.project_id",
};

function matches(sql: Sql, { kind, root }: KeyFilter): Fragment {
  const ofKind: Fragment = kind === undefined ? sql`true` : sql`keys.kind = ${kind}`;
  if (!root) return ofKind;
  return sql`${ofKind} and ${sql(rootColumns[root.level])} = ${root.id}`;
}

/** `isLocked` locks the key's row until the transaction ends. */
export async function findKey(
  sql: Sql,
  id: string,
  { isLocked = false, ...filter }: KeyFilter & { readonly isLocked?: boolean },
): Promise<KeyRow | undefined> {
  const [row] = await sql<KeyRow[]>`
    ${selectKeys(sql)} where keys.key_id = ${id} and ${matches(sql, filter)}
    ${isLocked ? sql`for update of keys` : sql``}`;
  return row;
}

/** Returns keys, newest first, up to one more than `limit`. */
export async function listKeys(
  sql: Sql,
  filter: KeyFilter,
  { limit, after }: PageOptions,
): Promise<KeyRow[]> {
  return sql<KeyRow[]>`
    ${selectKeys(sql)}
    where ${matches(sql, filter)}
      and ${isBefore(sql, ["keys.created_at", "keys.key_id"], after)}
    order by keys.created_at desc, keys.key_id desc
    limit ${limit + 1}`;
}

/** Revokes a key. Returns false if it was already revoked. */
export async function revokeKey(sql: Sql, id: string, revokedBy: string): Promise<boolean> {
  const rows = await sql`
    update api_keys set revoked_at = now(), revoked_by = ${revokedBy}
    where key_id = ${id} and revoked_at is null
    returning 1`;
  return rows.length > 0;
}

export async function setRevocationChange(
  sql: Sql,
  ids: readonly string[],
  changeId: number,
): Promise<void> {
  await sql`
    update api_keys set revocation_change_id = ${changeId}
    where key_id = any(${[...ids]}::uuid[])`;
}

type StepOptions = { readonly revokedBy: string; readonly limit: number };

/**
 * Revokes at most `limit` keys of a scope and the scopes inside it, archived ones included, and
 * returns them as they were before.
 */
export async function revokeKeysInside(
  sql: Sql,
  scope: { readonly level: LevelInOrg; readonly id: string },
  options: StepOptions,
): Promise<KeyRow[]> {
  const { level, id } = scope;
  const isInside: Fragment = sql`${sql(scopeColumns[level])} = ${id}`;
  return revokeKeysWhere(sql, isInside, options);
}

/**
 * Revokes at most `limit` keys that a key created, directly or through created keys, revoked ones
 * included, and returns them as they were before.
 */
export async function revokeKeysCreatedBy(
  sql: Sql,
  id: string,
  options: StepOptions,
): Promise<KeyRow[]> {
  const isCreated: Fragment = sql`
    keys.key_id in (
      with recursive created as (
        select key_id from api_keys where created_by_key_id = ${id}
        union
        select api_keys.key_id
        from api_keys
        join created on api_keys.created_by_key_id = created.key_id
      )
      select key_id from created
    )`;
  return revokeKeysWhere(sql, isCreated, options);
}

async function revokeKeysWhere(
  sql: Sql,
  condition: Fragment,
  { revokedBy, limit }: StepOptions,
): Promise<KeyRow[]> {
  const keys = await sql<KeyRow[]>`
    ${selectKeys(sql)}
    where keys.revoked_at is null and ${condition}
    order by keys.key_id
    limit ${limit}
    for update of keys`;
  await sql`
    update api_keys set revoked_at = now(), revoked_by = ${revokedBy}
    where key_id = any(${keys.map(({ id }) => id)}::uuid[])`;
  return keys;
}

/** Returns the hashes of keys, in any order. */
export async function listHashes(sql: Sql, ids: readonly string[]): Promise<readonly Buffer[]> {
  const rows = await sql<{ keyHash: Buffer }[]>`
    select key_hash as "keyHash" from api_keys where key_id = any(${[...ids]}::uuid[])`;
  return rows.map(({ keyHash }) => keyHash);
}

const scopeColumns = {
  org: "organizations.org_id",
  dataplane: "dataplanes.dataplane_id",
  workspace: "workspaces.workspace_id",
  project: "projects.project_id",
} as const;

/**
 * Marks a key, and all keys revoked by the same change, as confirmed. Only the first call has an
 * effect.
 */
export async function setRevocationConfirmed(sql: Sql, id: string): Promise<void> {
  await sql`
    update api_keys set revocation_confirmed_at = now()
    where revoked_at is not null
      and revocation_confirmed_at is null
      and revocation_change_id = (
        select revocation_change_id from api_keys where key_id = ${id}
      )`;
}

export type Use = { readonly keyId: string; readonly usedAt: Date };

/** Records uses that are at least `stepMs` after the last recorded use. */
export async function updateLastUsed(
  sql: Sql,
  uses: readonly Use[],
  stepMs: number,
): Promise<void> {
  const keyIds = uses.map(({ keyId }) => keyId);
  const times = uses.map(({ usedAt }) => usedAt.toISOString());
  // Skips keys that are being revoked: recording a use must not wait.
  await sql`
    with uses as (
      select * from unnest(${keyIds}::uuid[], ${times}::timestamptz[]) as use (key_id, used_at)
    ),
    due as (
      select keys.key_id, uses.used_at
      from api_keys as keys
      join uses using (key_id)
      where keys.last_used_at is null
        or keys.last_used_at <= uses.used_at - ${stepMs} * interval '1 millisecond'
      order by keys.key_id
      for no key update of keys skip locked
    )
    update api_keys set last_used_at = due.used_at
    from due
    where api_keys.key_id = due.key_id`;
}
