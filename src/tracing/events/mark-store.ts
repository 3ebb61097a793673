// Marks of past hours whose events a statement changes, written in the same transaction. Charts
// keep sums over past hours and compare the marks (charts/summaries.ts; docs/decisions.md, 47.4).

import type { Fragment, Sql } from "../../postgres/database.ts";
import type { CountedEvent } from "./held-event.ts";
import { toMicroseconds } from "./stored-event.ts";

/** Microseconds of an hour. */
export const hourUs = 3_600_000_000;

/**
 * Time after an hour's end in which changes are not marked, so that programs that send events at
 * once write no marks. By Postgres' clock.
 */
export const unmarkedMs = 3_600_000;

/**
 * Time after an hour's end from which charts keep its summary. The difference is longer than any
 * transaction (`transactionAgeMsMax`, `idleTransactionMsMax`): a change that a chart does not see
 * yet began late enough to mark the hour. By Postgres' clock.
 */
export const settledMs = 2 * unmarkedMs;

/** Hour of a project's events, as hours since 1970. */
export type HourKey = { readonly projectId: string; readonly hour: number };

type Change = {
  readonly projectId: string;
  readonly before: CountedEvent | undefined;
  readonly after: CountedEvent;
};

/**
 * Returns the hours of changes, each once, whether past or not: Postgres' clock decides which are
 * marked. Sums over hours leave sessions out.
 */
export function hoursOf(changes: readonly Change[]): readonly HourKey[] {
  const hours = new Map<string, HourKey>();
  for (const { projectId, before, after } of changes) {
    for (const event of [before, after]) {
      if (event === undefined || event.event_type === "session") continue;
      const hour = Math.floor(toMicroseconds(event.start_time) / hourUs);
      hours.set(`${projectId} ${hour}`, { projectId, hour });
    }
  }
  return [...hours.values()];
}

/** Marks those of the hours that are past. */
export async function markHours(sql: Sql, hours: readonly HourKey[]): Promise<void> {
  if (hours.length > 0) await sql`select ${markingOf(sql, hours)}`;
}

/** Returns the column of a statement that marks past hours. Source: migration 0035. */
export function markingOf(sql: Sql, hours: readonly HourKey[]): Fragment {
  return sql`
    mark_past_hours(
      ${hours.map(({ projectId }) => projectId)}::uuid[],
      ${hours.map(({ hour }) => hour)}::integer[], ${unmarkedMs})`;
}

/** Columns that a statement returns of each changed or deleted event, for `markChanged`. */
export type ChangedRow = { readonly event_type: string; readonly start_time_us: number };

/** Marks the past hours of changed events of a project. */
export async function markChanged(
  sql: Sql,
  projectId: string,
  changed: readonly ChangedRow[],
): Promise<void> {
  const hours = new Set<number>();
  for (const { event_type, start_time_us } of changed) {
    if (event_type !== "session") hours.add(Math.floor(start_time_us / hourUs));
  }
  await markHours(
    sql,
    [...hours].map((hour) => ({ projectId, hour })),
  );
}

/** Returns the first hour that had not ended at a time before the statement, by Postgres' clock. */
export function hoursAgo(sql: Sql, ms: number): Fragment {
  const hourSeconds = hourUs / 1_000_000;
  return sql`floor((extract(epoch from statement_timestamp()) - ${ms / 1_000}::integer)
    / ${hourSeconds}::integer)::integer`;
}
