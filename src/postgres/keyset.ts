// Keyset pages in SQL: a row's place in its list, and what stands after a place. Called by the
// stores of lists in order of creation; the cursors are base/pages.ts's.

import type { PendingQuery, Row } from "postgres";
import type { Position } from "../base/pages.ts";
import type { Sql } from "./database.ts";

type Fragment = PendingQuery<Row[]>;

/** Columns that a list is in order of: the time of creation, then the id. */
export type Keyset = readonly [createdAt: string, id: string];

/** Returns the column `createdAtUs` of a Position, to the microsecond as Postgres keeps times. */
export function selectCreatedAtUs(sql: Sql, createdAt: string): Fragment {
  return sql`(extract(epoch from ${sql(createdAt)}) * 1000000)::bigint as "createdAtUs"`;
}

/** Returns the condition that a row stands after a position, the oldest first; true without one. */
export function isAfter(sql: Sql, keyset: Keyset, after: Position | undefined): Fragment {
  return after ? sql`${toRow(sql, keyset)} > ${toValue(sql, after)}` : sql`true`;
}

/** Returns the condition that a row stands after a position, the newest first; true without one. */
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
