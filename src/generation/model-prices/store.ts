// SQL of the model prices that hold in a project.

import type { ProjectId } from "../../base/ids.ts";
import type { Sql } from "../../postgres/database.ts";
import type { OwnPrice } from "../prices/own-prices.ts";

export type UsablePrice = OwnPrice & { readonly orgId: string };

/**
 * Returns the prices that hold in a project, with its organization: its own before its workspace's
 * before its organization's.
 */
export async function listUsable(sql: Sql, projectId: ProjectId): Promise<readonly UsablePrice[]> {
  return sql<UsablePrice[]>`
    select price.name, price.rates, dataplane.org_id as "orgId"
    from projects as project
    join workspaces as workspace using (workspace_id)
    join dataplanes as dataplane using (dataplane_id)
    join model_prices as price
      on price.project_id = project.project_id
      or price.workspace_id = workspace.workspace_id
      or price.org_id = dataplane.org_id
    where project.project_id = ${projectId}
    order by price.project_id nulls last, price.workspace_id nulls last, price.name collate "C"`;
}
