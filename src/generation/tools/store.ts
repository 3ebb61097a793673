// SQL of tools, in the control database.

import type { JsonObject } from "../../base/json.ts";
import type { Sql } from "../../postgres/database.ts";
import { deletableRows } from "../../postgres/project-rows.ts";

export type ToolType = "function" | "tool";

export type ToolRow = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly type: ToolType;
  readonly parameters: JsonObject;
};

/** Lock and deletion of a project's tools. */
export const toolRows = deletableRows("tools", "tool_id");

/** Returns all tools of a project by name in byte order. */
export async function listTools(sql: Sql, projectId: string): Promise<readonly ToolRow[]> {
  return sql<ToolRow[]>`
    select tool_id as id, name, description, tool_type as type, parameters
    from tools
    where project_id = ${projectId}
    order by name collate "C"`;
}

/** Returns number and bytes of a project's tools except one, and whether one of them has a name. */
export async function measureOthers(
  sql: Sql,
  projectId: string,
  { id, name }: Pick<ToolRow, "id" | "name">,
): Promise<{ readonly count: number; readonly bytes: number; readonly isNameTaken: boolean }> {
  const [row] = await sql<{ count: number; bytes: number; isNameTaken: boolean }[]>`
    select
      count(*)::integer as count,
      coalesce(
        sum(octet_length(name) + octet_length(description) + octet_length(parameters::text)), 0
      )::integer as bytes,
      coalesce(bool_or(name = ${name}), false) as "isNameTaken"
    from tools
    where project_id = ${projectId} and tool_id <> ${id}`;
  return row ?? { count: 0, bytes: 0, isNameTaken: false };
}

export async function findTool(
  sql: Sql,
  projectId: string,
  id: string,
): Promise<ToolRow | undefined> {
  const [row] = await sql<ToolRow[]>`
    select tool_id as id, name, description, tool_type as type, parameters
    from tools
    where project_id = ${projectId} and tool_id = ${id}`;
  return row;
}

/** Inserts a tool, or replaces it. */
export async function putTool(
  sql: Sql,
  row: ToolRow & { readonly projectId: string; readonly createdBy: string },
): Promise<void> {
  await sql`
    insert into tools (
      tool_id, project_id, name, description, tool_type, parameters, created_by
    )
    values (
      ${row.id}, ${row.projectId}, ${row.name}, ${row.description}, ${row.type},
      ${JSON.stringify(row.parameters)}::text::json, ${row.createdBy}
    )
    on conflict (tool_id) do update set
      name = excluded.name,
      description = excluded.description,
      tool_type = excluded.tool_type,
      parameters = excluded.parameters,
      updated_at = now()
    where tools.project_id = excluded.project_id`;
}
