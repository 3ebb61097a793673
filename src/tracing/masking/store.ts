// SQL of masking rules, in the control database.

import type { ProjectId } from "../../base/ids.ts";
import type { Sql } from "../../postgres/database.ts";
import type { MaskingRule } from "./rules.ts";

export type MaskingRow = {
  readonly rules: readonly MaskingRule[];
  readonly updatedAt: Date;
  readonly updatedBy: string;
};

export async function findMasking(sql: Sql, projectId: ProjectId): Promise<MaskingRow | undefined> {
  const [row] = await sql<MaskingRow[]>`
    select rules, updated_at as "updatedAt", updated_by as "updatedBy"
    from maskings
    where project_id = ${projectId}`;
  return row;
}

export async function putMasking(
  sql: Sql,
  projectId: ProjectId,
  { rules, updatedBy }: Pick<MaskingRow, "rules" | "updatedBy">,
): Promise<MaskingRow> {
  const [row] = await sql<MaskingRow[]>`
    insert into maskings (project_id, rules, updated_by)
    values (${projectId}, ${sql.json(rules)}, ${updatedBy})
    on conflict (project_id) do update set
      rules = excluded.rules,
      updated_at = clock_timestamp(),
      updated_by = excluded.updated_by
    returning rules, updated_at as "updatedAt", updated_by as "updatedBy"`;
  if (!row) throw new Error("an upsert returned no row");
  return row;
}

export async function deleteMasking(sql: Sql, projectId: ProjectId): Promise<void> {
  await sql`delete from maskings where project_id = ${projectId}`;
}
