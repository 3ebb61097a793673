// SQL of the model aliases that a project may use.

import type { ProjectScope } from "../../../access/scope.ts";
import type { Sql } from "../../../postgres/database.ts";
import { isUsableBy } from "../owner/store.ts";

/** Alias in the form that routing needs. */
export type UsableAlias = {
  readonly name: string;
  /** Models as `provider/name`, in the order in which they are tried. */
  readonly targets: readonly string[];
};

/** Returns the aliases that a project may use: its own, its workspace's, its organization's. */
export async function listUsable(sql: Sql, project: ProjectScope): Promise<readonly UsableAlias[]> {
  return sql<UsableAlias[]>`
    select name, targets
    from model_aliases
    where ${isUsableBy(sql, project)}
    order by project_id nulls last, workspace_id nulls last, name collate "C"`;
}
