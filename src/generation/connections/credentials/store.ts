// SQL of provider credentials.

import type { PageOptions, Position } from "../../../base/pages.ts";
import type { ProjectScope } from "../../../access/scope.ts";
import type { KeyUse } from "../../../access/rotate-secrets.ts";
import type { Fragment, Sql } from "../../../postgres/database.ts";
import { isBefore, selectCreatedAtUs } from "../../../postgres/keyset.ts";
import type { Owner, OwnerLevel } from "../owner/owner.ts";
import { isOf, isUsableBy, ownerValues, selectOwner } from "../owner/store.ts";
import type { ProviderType, SecretName, Settings } from "../../provider.ts";

export type CredentialRow = Position &
  Settings & {
    readonly level: OwnerLevel;
    readonly scopeId: string;
    readonly name: string;
    readonly provider: ProviderType;
    readonly secretNames: readonly SecretName[];
    /** Null without secrets, like `encryptionKeyId`. */
    readonly sealed: Uint8Array | null;
    readonly encryptionKeyId: string | null;
    readonly createdAt: Date;
    readonly createdBy: string;
    readonly updatedAt: Date;
    /** In microseconds, to distinguish changes within one millisecond. */
    readonly updatedAtUs: number;
  };

/** Columns that an update may change. */
type WrittenRow = Settings &
  Pick<CredentialRow, "id" | "secretNames" | "sealed" | "encryptionKeyId">;

export type NewCredentialRow = WrittenRow &
  Pick<CredentialRow, "name" | "provider" | "createdBy"> & { readonly owner: Owner };

function selectCredentials(sql: Sql): Fragment {
  return sql`
    select
      credential_id as id,
      ${selectCreatedAtUs(sql, "created_at")},
      ${selectOwner(sql)},
      name,
      provider,
      base_url as "baseUrl",
      resource_name as "resourceName",
      api_version as "apiVersion",
      region,
      secret_names as "secretNames",
      sealed,
      encryption_key_id as "encryptionKeyId",
      created_at as "createdAt",
      created_by as "createdBy",
      updated_at as "updatedAt",
      (extract(epoch from updated_at) * 1000000)::bigint as "updatedAtUs"
    from provider_credentials`;
}

/** Returns false if the owner already has credentials of the name. */
export async function insertCredential(sql: Sql, row: NewCredentialRow): Promise<boolean> {
  const result = await sql`
    insert into provider_credentials (
      credential_id, org_id, workspace_id, project_id, name, provider,
      base_url, resource_name, api_version, region,
      secret_names, sealed, encryption_key_id, created_by
    )
    values (
      ${row.id}, ${ownerValues(sql, row.owner)},
      ${row.name}, ${row.provider},
      ${row.baseUrl}, ${row.resourceName}, ${row.apiVersion}, ${row.region},
      ${[...row.secretNames]}, ${row.sealed}, ${row.encryptionKeyId}, ${row.createdBy}
    )
    on conflict do nothing`;
  return result.count > 0;
}

/** Returns credentials of an owner; with `lock` they are locked until the transaction ends. */
export async function findCredential(
  sql: Sql,
  owner: Owner,
  id: string,
  lock?: "for update",
): Promise<CredentialRow | undefined> {
  const [row] = await sql<CredentialRow[]>`
    ${selectCredentials(sql)}
    where credential_id = ${id} and ${isOf(sql, owner)}
    ${lock === undefined ? sql`` : sql`for update`}`;
  return row;
}

/** Returns up to `limit` + 1 rows, newest first. */
export async function listCredentials(
  sql: Sql,
  owner: Owner,
  { limit, after }: PageOptions,
): Promise<readonly CredentialRow[]> {
  return sql<CredentialRow[]>`
    ${selectCredentials(sql)}
    where ${isOf(sql, owner)} and ${isBefore(sql, ["created_at", "credential_id"], after)}
    order by created_at desc, credential_id desc
    limit ${limit + 1}`;
}

/** Returns the credentials that a project may use: its own, its workspace's, its organization's. */
export async function listUsable(
  sql: Sql,
  project: ProjectScope,
): Promise<readonly CredentialRow[]> {
  return sql<CredentialRow[]>`
    ${selectCredentials(sql)}
    where ${isUsableBy(sql, project)}
    order by project_id nulls last, workspace_id nulls last, created_at, credential_id`;
}

export async function updateCredential(sql: Sql, row: WrittenRow): Promise<void> {
  // The clock, not the start of the transaction: the wait for the lock may be long.
  await sql`
    update provider_credentials set
      base_url = ${row.baseUrl},
      resource_name = ${row.resourceName},
      api_version = ${row.apiVersion},
      region = ${row.region},
      secret_names = ${[...row.secretNames]},
      sealed = ${row.sealed},
      encryption_key_id = ${row.encryptionKeyId},
      updated_at = clock_timestamp()
    where credential_id = ${row.id}`;
}

export async function deleteCredential(sql: Sql, id: string): Promise<void> {
  await sql`delete from provider_credentials where credential_id = ${id}`;
}

/** Returns the number of credentials under each key. */
export async function countByKey(sql: Sql): Promise<readonly KeyUse[]> {
  return sql<KeyUse[]>`
    select encryption_key_id as "keyId", count(*)::integer as count
    from provider_credentials
    where encryption_key_id is not null
    group by encryption_key_id
    order by encryption_key_id`;
}

/** Locks and returns up to `limit` rows under other keys than `keyId`, by id. */
export async function lockOthersThan(
  sql: Sql,
  keyId: string,
  { afterId, limit }: { readonly afterId: string; readonly limit: number },
): Promise<readonly CredentialRow[]> {
  return sql<CredentialRow[]>`
    ${selectCredentials(sql)}
    where encryption_key_id <> ${keyId} and credential_id > ${afterId}
    order by credential_id
    limit ${limit}
    for update`;
}

/** Replaces the encrypted form of unchanged secrets, so `updated_at` stays. */
export async function updateSeal(
  sql: Sql,
  id: string,
  { sealed, keyId }: { readonly sealed: Uint8Array; readonly keyId: string },
): Promise<void> {
  await sql`
    update provider_credentials set sealed = ${sealed}, encryption_key_id = ${keyId}
    where credential_id = ${id}`;
}
