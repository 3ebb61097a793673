// SQL of archivals in the audit log; the indexes of migration 0033 have these conditions but the
// last.

import type { Actor } from "../../base/actor.ts";
import type { Fragment, Sql } from "../../postgres/database.ts";
import type { LevelInOrg } from "../scope.ts";

export type ArchiveRow = {
  readonly sequence: number;
  readonly level: Exclude<LevelInOrg, "org">;
  readonly scopeId: string;
  readonly at: Date;
  readonly actorType: string;
  readonly actorId: string;
  readonly actorName: string;
};

/** Rows of contents have the same actor as the archival; only those of a request count children. */
function selectArchives(sql: Sql, orgId: string): Fragment {
  return sql`
    select
      sequence,
      scope_level as level,
      scope_id as "scopeId",
      at,
      actor_type as "actorType",
      actor_id as "actorId",
      actor_name as "actorName"
    from audit_log
    where org_id = ${orgId}
      and action in ('dataplane.archive', 'workspace.archive', 'project.archive')
      and actor_type <> 'system'
      and before -> 'active_children' is not null`;
}

/** Returns the row of the archiving of a scope. */
export async function findArchive(
  sql: Sql,
  orgId: string,
  scopeId: string,
): Promise<ArchiveRow | undefined> {
  const [row] = await sql<ArchiveRow[]>`
    ${selectArchives(sql, orgId)} and scope_id = ${scopeId}
    order by sequence desc
    limit 1`;
  return row;
}

/** Returns up to `limit` rows below a sequence, newest first. */
export async function listArchives(
  sql: Sql,
  orgId: string,
  {
    below,
    actor,
    limit,
  }: {
    readonly below: number;
    readonly actor: Actor | undefined;
    readonly limit: number;
  },
): Promise<ArchiveRow[]> {
  const isByActor = actor ? sql`actor_type = ${actor.type} and actor_id = ${actor.id}` : sql`true`;
  return sql<ArchiveRow[]>`
    ${selectArchives(sql, orgId)} and sequence < ${below} and ${isByActor}
    order by sequence desc
    limit ${limit}`;
}
