// Keyset pages in SQL: a row's position in its list, and the rows after a position. base/pages.ts
// has the cursors.

import type { Position } from "../base/pages.ts";
import type { Fragment, Sql } from "./database.ts";

/** Columns that a list is ordered by: the time of creation, then the id. */
export type Keyset = readonly [createdAt: string, id: string];

/**
 * Returns the column `createdAtUs` of a Position, in microseconds, as precise as Postgres' times.
 */
export function selectCreatedAtUs(sql: Sql, createdAt: string): Fragment {
  // In UTC, so that the expression is immutable: Citus takes no other one in `returning`.
  return sql`
    (extract(epoch from ${sql(createdAt)} at time zone 'UTC') * 1000000)::bigint as "createdAtUs"`;
}

/**
 * Returns the condition that a row comes after a position, oldest first; true without a position.
 */
export function isAfter(sql: Sql, keyset: Keyset, after: Position | undefined): Fragment {
  return after ? sql`${toRow(sql, keyset)} > ${toValue(sql, after)}` : sql`true`;
}

/**
 * Returns the condition that a row comes after a position, newest first; true without a position.
 */
export function isBefore(sql: Sql, keyset: Keyset, before: Position | undefined): Fragment {
  return before ? sql`${toRow(sql, keyset)} < ${toValue(sql, before)}` : sql`true`;
}

function toRow(sql: Sql, [createdAt, id]: Keyset): Fragment {
  return sql`(${sql(createdAt)}, ${sql(id)})`;
}

function toValue(sql: Sql, { createdAtUs, id }: Position): Fragment {
  return sql`(
    timestamptz 'epoch' + ${createdAtUs}::bigint * interval '1 microsecond',
    ${id}::uuid
  )`;
}
