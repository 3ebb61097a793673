// The field catalogue in Postgres. Every statement names its project.

import type { Read, Sql } from "../../postgres/database.ts";
import { escapeText, unescapeText } from "../events/postgres-text.ts";

export type FieldRow = {
  readonly event_type: string;
  /** A stored path (path.ts). */
  readonly field: string;
  readonly types: number;
};

/** Returns the recorded fields of a project, by path and event type, at most `countMax`. */
export async function listFields(
  read: Read,
  projectId: string,
  countMax: number,
): Promise<FieldRow[]> {
  const rows = await read(
    (sql) => sql<FieldRow[]>`
      select event_type, field, types
      from event_fields
      where project_id = ${projectId}
      order by field, event_type
      limit ${countMax}`,
  );
  return rows.map((row) => ({ ...row, field: unescapeText(row.field) }));
}

/**
 * Returns the recorded fields of a project except rows of the caller's own transaction, which may
 * still roll back; at most `countMax`.
 */
export async function listCommittedFields(
  sql: Sql,
  projectId: string,
  countMax: number,
): Promise<FieldRow[]> {
  const rows = await sql<FieldRow[]>`
    select event_type, field, types
    from event_fields
    where project_id = ${projectId}
      and xmin is distinct from pg_current_xact_id_if_assigned()::xid
    limit ${countMax}`;
  return rows.map((row) => ({ ...row, field: unescapeText(row.field) }));
}

/** Returns the number of recorded fields of a project. */
export async function countFields(sql: Sql, projectId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count
    from event_fields
    where project_id = ${projectId}`;
  return row?.count ?? 0;
}

/**
 * Adds fields and kinds. The rows must be distinct. Every writer writes them in the same order, so
 * that parallel writers do not deadlock. Rows that change nothing are not updated.
 */
export async function addFields(
  sql: Sql,
  projectId: string,
  rows: readonly FieldRow[],
): Promise<void> {
  await sql`
    insert into event_fields as held (project_id, event_type, field, types)
    select ${projectId}::uuid, event_type, field, types
    from unnest(
      ${rows.map((row) => row.event_type)}::text[],
      ${rows.map((row) => escapeText(row.field))}::text[],
      ${rows.map((row) => row.types)}::integer[]) as incoming (event_type, field, types)
    order by event_type, field
    on conflict (project_id, event_type, field) do update set
      types = held.types | excluded.types
    where held.types <> held.types | excluded.types`;
}
