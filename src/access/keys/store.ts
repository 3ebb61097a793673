// SQL of API keys. Called by keys.ts.

import type { ProjectId } from "../../base/ids.ts";
import type { Sql } from "../../postgres/database.ts";
import type { KeyKind, Principal } from "../principal.ts";

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

/** Returns who a key stands for, unless it is revoked or something above it is archived. */
export async function findPrincipal(sql: Sql, keyHash: Buffer): Promise<Principal | undefined> {
  const [row] = await sql<Principal[]>`
    select
      api_keys.key_id as "keyId",
      api_keys.kind as "keyKind",
      dataplanes.org_id as "orgId",
      workspaces.workspace_id as "workspaceId",
      projects.project_id as "projectId",
      projects.name as "projectName"
    from api_keys
    join projects using (project_id)
    join workspaces using (workspace_id)
    join dataplanes using (dataplane_id)
    join organizations using (org_id)
    where api_keys.key_hash = ${keyHash}
      and api_keys.revoked_at is null
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
