// SQL of the values of a field: one statement over a bounded number of the newest events.

import { fieldValueEventsMax, fieldValueLengthMax } from "../../base/limits.ts";
import type { Read } from "../../postgres/database.ts";
import type { TextSource } from "../charts/fields.ts";
import { textSql } from "../charts/store.ts";
import { escapeText, unescapeText } from "../events/postgres-text.ts";
import { conditionsSql, hasOwnIndex } from "./filter-sql.ts";
import { type EventQuery, matching } from "./place-store.ts";

/** Values of a field among the events looked at. */
export type FieldValues = {
  readonly values: readonly { readonly value: string; readonly count: number }[];
  /** Number of events looked at. */
  readonly scanned: number;
  /** Whether the range has more events than were looked at. */
  readonly hasMoreEvents: boolean;
};

export type ValuesQuestion = {
  readonly source: TextSource;
  readonly prefix: string;
  readonly limit: number;
};

type ValueRow = {
  readonly value: string | null;
  readonly count: number;
  readonly scanned: number;
};

/** Counts the values of the newest events of a range that meet the conditions. */
export async function listValues(
  read: Read,
  query: EventQuery,
  { source, prefix, limit }: ValuesQuestion,
): Promise<FieldValues> {
  // Conditions with an index of their own find few events; others are tried on a bounded number.
  const isFound = hasOwnIndex(query.conditions);
  const walked = isFound ? query : { ...query, conditions: [] };
  const tried = isFound ? [] : query.conditions;
  const rows = await read(
    (sql) => sql<ValueRow[]>`
      with looked as (
        select case when true ${conditionsSql(sql, tried)} then ${textSql(sql, source)} end as value
        from (
          select e.*
          from events as e
          where ${matching(sql, walked)}
          order by e.start_time_us desc, e.event_id desc
          limit ${fieldValueEventsMax + 1}
        ) as e
      ),
      counted as (
        select value, count(*)::integer as count
        from looked
        where length(value) <= ${fieldValueLengthMax}
          and starts_with(lower(value), lower(${escapeText(prefix)}))
        group by value
        order by count desc, value
        limit ${limit}
      )
      select counted.value, counted.count, total.scanned
      from (select count(*)::integer as scanned from looked) as total
      left join counted on true
      order by counted.count desc, counted.value`,
  );
  const scanned = rows[0]?.scanned ?? 0;
  return {
    values: rows.flatMap(({ value, count }) =>
      value === null ? [] : [{ value: unescapeText(value), count }],
    ),
    scanned: Math.min(scanned, fieldValueEventsMax),
    hasMoreEvents: scanned > fieldValueEventsMax,
  };
}
