// SQL of summaries: one statement compares the marks of hours with those at the time of their
// summaries and summarises the events of the stretches that it has to, in one snapshot.

import type { Fragment, Read, Sql } from "../../../postgres/database.ts";
import { hoursAgo, hourUs, settledMs } from "../../events/mark-store.ts";
import { type EventQuery, matching } from "../../export/place-store.ts";
import { numberSql, splitKeySql, splitSql } from "../store.ts";
import type { Kept, KeptSource, SummaryPlan } from "./plan.ts";
import type { Stretch } from "./stretches.ts";

/** A stretch and the version of its summary in memory; null without one. */
export type KnownStretch = Stretch & { readonly version: number | null };

export type SummaryRow = {
  /** Place of the stretch, from 0. */
  readonly at: number;
  /** Version that the marks of the hour make. */
  readonly version: number;
  /** Whether all changes of the hour that the statement does not see mark it. */
  readonly isSettled: boolean;
  /** Groups and numbers of all stretches together. */
  readonly cells: number;
  /** See `SummaryJson`; null without events, or if there are too many cells. */
  readonly summary: string | null;
};

/** Returns whether the summary of a stretch is absent or no longer right. */
export async function hasDue(
  read: Read,
  query: EventQuery,
  stretches: readonly KnownStretch[],
): Promise<boolean> {
  const [row] = await read(
    (sql) => sql<{ isDue: boolean }[]>`
      with ${dueSql(sql, query, stretches)}
      select exists (select from due) as "isDue"`,
  );
  return row?.isDue !== false;
}

/**
 * Summarises the stretches whose summary in memory is absent or no longer right. They stand in the
 * order of time, without overlaps.
 */
export async function listSummaries(
  read: Read,
  query: EventQuery,
  { plan, stretches, cellsMax }: SummaryQuestion,
): Promise<readonly SummaryRow[]> {
  return read((sql) => {
    const { sources, split } = plan;
    return sql<SummaryRow[]>`
      with ${dueSql(sql, query, stretches)},
      ${runsSql(sql)},
      matched as (
        select
          width_bucket(
            start_time_us, (select array_agg(from_us order by from_us) from stretches)
          ) - 1 as at,
          ${splitKeySql(sql)} as split
          ${sources.map((_, at) => sql`, ${sql(`v${at}`)}`)}
        from runs
        cross join lateral (
          select
            e.start_time_us, ${split ? splitSql(sql, split) : sql`'-'`} as split
            ${sources.map((one, at) => sql`, ${numberOf(sql, one)} as ${sql(`v${at}`)}`)}
          from events as e
          where e.start_time_us >= runs.from_us and e.start_time_us < runs.to_us
            and ${matching(sql, query)}
          -- Without it Postgres makes a join of this, which may compare each event of the project
          -- with each run, and finds the value of the split once for each use.
          offset 0
        ) as found
      ),
      grouped as materialized (
        select at, split, count(*)::integer as events
          ${sources.map((source, at) => sql`, ${keptSql(sql, source, at)}`)}
        from matched
        group by at, split
      ),
      size as (
        select coalesce(sum(1 ${sources.map((source, at) => sizeSql(sql, source, at))}), 0) as cells
        from grouped
      ),
      summaries as (
        select
          at,
          json_build_array(json_agg(split), json_agg(events)
            ${sources.map((source, at) => sql`, ${columnsSql(sql, source, at)}`)})::text as summary
        from grouped
        where (select cells from size) <= ${cellsMax}
        group by at
      )
      select
        due.at, due.version, due."isSettled", size.cells::double precision as cells,
        summaries.summary
      from due cross join size left join summaries on summaries.at = due.at`;
  });
}

export type SummaryQuestion = {
  readonly plan: SummaryPlan;
  readonly stretches: readonly KnownStretch[];
  readonly cellsMax: number;
};

/**
 * The marks of an hour make its version: they are random, so equal versions mean equal events. The
 * statement's own time decides which hours are settled: no other clock is as old as its snapshot.
 */
function dueSql(sql: Sql, query: EventQuery, stretches: readonly KnownStretch[]): Fragment {
  const { projectId, fromUs = 0, toUs = 0 } = query;
  return sql`
    stretches as (
      select row_number() over () - 1 as at, from_us, to_us, hour, known
      from unnest(
        ${stretches.map((one) => one.fromUs)}::bigint[],
        ${stretches.map((one) => one.toUs)}::bigint[],
        ${stretches.map((one) => one.hour)}::integer[],
        ${stretches.map((one) => one.version)}::bigint[]
      ) as given (from_us, to_us, hour, known)
    ),
    marked as (
      select hour, bit_xor(version) as version
      from chart_marks
      where project_id = ${projectId} and hour >= ${Math.floor(fromUs / hourUs)}
        and hour <= ${Math.floor(toUs / hourUs)}
      group by hour
    ),
    due as (
      select
        stretches.at::integer as at, from_us, to_us, coalesce(marked.version, 0) as version,
        coalesce(stretches.hour < ${hoursAgo(sql, settledMs)}, false) as "isSettled"
      from stretches left join marked on marked.hour = stretches.hour
      where known is distinct from coalesce(marked.version, 0)
    )`;
}

/**
 * Runs of stretches without a gap are read at once: a scan of an index that knows no time, such as
 * that of metadata, finds the events of all time, and would find them again for each stretch.
 */
function runsSql(sql: Sql): Fragment {
  return sql`
    runs as (
      select min(from_us) as from_us, max(to_us) as to_us
      from (
        select from_us, to_us, count(*) filter (where "isFirst") over (order by from_us) as run
        from (
          select
            from_us, to_us, lag(to_us) over (order by from_us) is distinct from from_us as "isFirst"
          from due
        ) as placed
      ) as numbered
      group by run
    )`;
}

/** No event of a summary is a session. */
function numberOf(sql: Sql, { source }: KeptSource): Fragment {
  return numberSql(sql, source, false);
}

/** Returns the numbers of a group that a summary keeps, as columns such as `v0_sum`. */
function keptSql(sql: Sql, { keeps }: KeptSource, at: number): Fragment {
  const value = sql(`v${at}`);
  const ways: Readonly<Record<Kept, Fragment>> = {
    sum: sql`sum(${value})::double precision`,
    min: sql`min(${value})::double precision`,
    max: sql`max(${value})::double precision`,
    values: sql`coalesce(json_agg(${value}) filter (where ${value} is not null), '[]')`,
  };
  return keeps
    .map((name) => sql`${ways[name]} as ${sql(`v${at}_${name}`)}`)
    .reduce((left, right) => sql`${left}, ${right}`, sql`count(${value}) as ${sql(`n${at}`)}`);
}

function sizeSql(sql: Sql, { keeps }: KeptSource, at: number): Fragment {
  return keeps.includes("values") ? sql`+ ${sql(`n${at}`)}` : sql``;
}

function columnsSql(sql: Sql, { keeps }: KeptSource, at: number): Fragment {
  const columns = keeps
    .map((name) => sql`json_agg(${sql(`v${at}_${name}`)})`)
    .reduce((left, right) => sql`${left}, ${right}`, sql`json_agg(${sql(`n${at}`)})`);
  return sql`json_build_array(${columns})`;
}
