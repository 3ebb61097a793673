// SQL of model aliases.

import type { ProjectScope } from "../../../access/scope.ts";
import type { Fragment, Sql } from "../../../postgres/database.ts";
import type { Owner, OwnerLevel } from "../owner/owner.ts";
import { isOf, isUsableBy, ownerValues, selectOwner } from "../owner/store.ts";

export type AliasRow = {
  readonly id: string;
  readonly name: string;
  readonly targets: readonly string[];
  readonly level: OwnerLevel;
  readonly scopeId: string;
  readonly updatedAt: Date;
  readonly updatedBy: string;
};

type WrittenRow = Pick<AliasRow, "id" | "targets" | "updatedBy">;

function selectAliases(sql: Sql): Fragment {
  return sql`
    select
      alias_id as id,
      name,
      targets,
      ${selectOwner(sql)},
      updated_at as "updatedAt",
      updated_by as "updatedBy"
    from model_aliases`;
}

export async function insertAlias(
  sql: Sql,
  row: WrittenRow & { readonly owner: Owner; readonly name: string },
): Promise<void> {
  await sql`
    insert into model_aliases (
      alias_id, org_id, workspace_id, project_id, name, targets, updated_by
    )
    values (
      ${row.id}, ${ownerValues(sql, row.owner)},
      ${row.name}, ${[...row.targets]}, ${row.updatedBy}
    )`;
}

export async function updateAlias(sql: Sql, row: WrittenRow): Promise<void> {
  await sql`
    update model_aliases
    set targets = ${[...row.targets]}, updated_by = ${row.updatedBy}, updated_at = now()
    where alias_id = ${row.id}`;
}

export async function deleteAlias(sql: Sql, id: string): Promise<void> {
  await sql`delete from model_aliases where alias_id = ${id}`;
}

export async function findAlias(
  sql: Sql,
  owner: Owner,
  name: string,
): Promise<AliasRow | undefined> {
  const [row] = await sql<AliasRow[]>`
    ${selectAliases(sql)} where name = ${name} and ${isOf(sql, owner)}`;
  return row;
}

/** Returns up to `limit` aliases of an owner, by name in byte order. */
export async function listAliases(
  sql: Sql,
  owner: Owner,
  { limit, afterName }: { readonly limit: number; readonly afterName: string },
): Promise<readonly AliasRow[]> {
  return sql<AliasRow[]>`
    ${selectAliases(sql)}
    where ${isOf(sql, owner)} and name collate "C" > ${afterName}
    order by name collate "C"
    limit ${limit}`;
}

/** Returns the aliases that a project may use: its own, its workspace's, its organization's. */
export async function listUsable(sql: Sql, project: ProjectScope): Promise<readonly AliasRow[]> {
  return sql<AliasRow[]>`
    ${selectAliases(sql)}
    where ${isUsableBy(sql, project)}
    order by project_id nulls last, workspace_id nulls last, name collate "C"`;
}
