// SQL of API keys. Called by keys.ts.

import type { ProjectId } from "../../base/ids.ts";
import type { Sql } from "../../postgres/database.ts";
import type { KeyKind } from "../principal.ts";

export type KeyRow = {
  readonly keyId: string;
  readonly kind: KeyKind;
  readonly projectId: ProjectId;
  readonly projectName: string;
  readonly name: string;
  readonly maskedPrefix: string;
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly revokedAt: Date | null;
  readonly revokedBy: string | null;
};

export type NewKeyRow = Pick<
  KeyRow,
  "keyId" | "kind" | "projectId" | "name" | "maskedPrefix" | "createdBy"
> & { readonly keyHash: Buffer };

/** Servers drop what they remember of a key when its hash is sent on this channel. */
export const keysChannel = "waggle_keys";

/** A key that is neither revoked nor expired, and whose root and all above it are active. */
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
};

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
      projects.name as "projectName"
    from api_keys as keys
    left join projects on projects.project_id = keys.project_id
    left join workspaces
      on workspaces.workspace_id = coalesce(projects.workspace_id, keys.workspace_id)
    left join dataplanes on dataplanes.dataplane_id = workspaces.dataplane_id
    join organizations on organizations.org_id = coalesce(dataplanes.org_id, keys.org_id)
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
  await sql`
    insert into api_keys (key_id, key_hash, kind, project_id, name, masked_prefix, created_by)
    values (
      ${key.keyId}, ${key.keyHash}, ${key.kind}, ${key.projectId}, ${key.name},
      ${key.maskedPrefix}, ${key.createdBy}
    )`;
}

/** Returns all keys, revoked ones too, of one project or of all, the oldest first. */
export async function listKeys(sql: Sql, projectId: ProjectId | undefined): Promise<KeyRow[]> {
  return sql<KeyRow[]>`
    select
      key_id as "keyId",
      kind,
      project_id as "projectId",
      projects.name as "projectName",
      api_keys.name,
      masked_prefix as "maskedPrefix",
      api_keys.created_at as "createdAt",
      created_by as "createdBy",
      revoked_at as "revokedAt",
      revoked_by as "revokedBy"
    from api_keys
    join projects using (project_id)
    ${projectId === undefined ? sql`` : sql`where project_id = ${projectId}`}
    order by api_keys.created_at, key_id`;
}

/** Returns the key's hash; undefined when there is no such key or it was revoked before. */
export async function revokeKey(
  sql: Sql,
  keyId: string,
  revokedBy: string,
): Promise<Buffer | undefined> {
  const [row] = await sql<{ keyHash: Buffer }[]>`
    update api_keys set revoked_at = now(), revoked_by = ${revokedBy}
    where key_id = ${keyId} and revoked_at is null
    returning key_hash as "keyHash"`;
  return row?.keyHash;
}

/** Tells every server, when the transaction commits, to forget what it knows of a key. */
export async function notifyKeyChanged(sql: Sql, keyHash: Buffer): Promise<void> {
  await sql`select pg_notify(${keysChannel}, ${keyHash.toString("hex")})`;
}
