// SQL of the projects inside archived scopes.

import type { Sql } from "../../postgres/database.ts";
import type { LevelInOrg } from "../../access/scope.ts";
import { levels } from "../scopes/levels.ts";

export type InsideProject = {
  readonly projectId: string;
  readonly clusterId: string;
  readonly isArchived: boolean;
};

/** Returns up to `limit` projects that are the scope or inside it. */
export async function listInside(
  sql: Sql,
  { level, scopeId }: { readonly level: LevelInOrg; readonly scopeId: string },
  limit: number,
): Promise<InsideProject[]> {
  return sql<InsideProject[]>`
    select
      project_id as "projectId",
      cluster_id as "clusterId",
      projects.archived_at is not null as "isArchived"
    from projects
    join workspaces using (workspace_id)
    join dataplanes using (dataplane_id)
    where ${sql(levels[level].id)} = ${scopeId}
    order by project_id
    limit ${limit}`;
}
