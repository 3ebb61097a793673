// SQL of charts: one statement groups the events of a project by bucket of time and by the values
// of a field. Statements on events name their project and skip rows of type `pending`.

import type { PendingQuery } from "postgres";
import type { Fragment, Read, Sql } from "../../postgres/database.ts";
import { eventColumnSql, pathValueSql } from "../export/filter-sql.ts";
import { type EventQuery, matching } from "../export/place-store.ts";
import { type BucketUnit, fixedUnits, type TimeRange } from "./buckets.ts";
import { type ChartQuestion, type Measure, percentiles } from "./chart-query.ts";
import type { NumberSource, TextColumn, TextSource } from "./fields.ts";
import { signOf, type Threshold } from "./threshold.ts";
import { usageSql } from "./usage-sql.ts";

/** Values of a chart for one bucket and one value of the split. */
export type CellRow = {
  /** Start of the bucket in Unix milliseconds; 0 without an axis of time. */
  readonly bucketMs: number;
  /** As it is stored; null for events without the field, and for the others together. */
  readonly split: string | null;
  readonly isOther: boolean;
  /** Place of the split's value among the values, from 1. */
  readonly rank: number;
  /** Number of different values of the split. */
  readonly splits: number;
  /** Number of events of the whole chart. */
  readonly matched: number;
  /** Values of the measures in their order; null without a number to aggregate. */
  readonly values: readonly (number | null)[];
};

/** Maximum characters of a value that are shown. */
const splitLengthMax = 1_000;

/** A question with the starts of its buckets in Unix milliseconds. */
type Bucketed = ChartQuestion & { readonly starts: readonly number[] };

/** Groups the events that match. The first measure ranks the values of the split. */
export async function listCells(
  read: Read,
  query: EventQuery,
  question: Bucketed,
): Promise<readonly CellRow[]> {
  return read((sql) => cellRows(sql, query, question));
}

function cellRows(sql: Sql, query: EventQuery, question: Bucketed): PendingQuery<CellRow[]> {
  const { measures, split } = question;
  const limit = split?.limit ?? 1;
  const aggregated = measures.map((one, at) => aggregate(sql, one, `v${at}`));
  return sql<CellRow[]>`
      with matched as (
        select
          bucket, ${splitKeySql(sql)} as split
          ${measures.map((_, at) => sql`, ${sql(`v${at}`)}`)}
        from (
          select
            ${bucketSql(sql, question)} as bucket,
            ${split ? splitSql(sql, split.source) : sql`'-'`} as split
            ${measures.map((one, at) => sql`, ${numberSql(sql, one.source)} as ${sql(`v${at}`)}`)}
          from events as e ${totalsSql(sql, measures)}
          where ${matching(sql, query)}
          -- Without it Postgres finds the value of the split once for each use.
          offset 0
        ) as found
      ),
      ranked as (
        select
          split,
          row_number() over (order by ${aggregated[0] ?? sql`1`} desc nulls last, split) as rank,
          count(*) over () as splits
        from matched
        group by split
      ),
      placed as (
        select split, splits, least(rank, ${limit + 1}::integer) as rank from ranked
      )
      select
        bucket as "bucketMs",
        case when placed.rank <= ${limit} then min(substr(placed.split, 2))
          filter (where placed.split <> '-') end as split,
        placed.rank > ${limit} as "isOther",
        placed.rank::integer as rank,
        max(placed.splits)::integer as splits,
        (select count(*)::integer from matched) as matched,
        jsonb_build_array(${joined(sql, aggregated)}) as values
      from matched
      join placed on placed.split = matched.split
      group by bucket, placed.rank`;
}

/**
 * Returns the starts of all buckets of a range in Unix milliseconds, empty ones included. A day, a
 * week and a month start at the first moment of their first date, also where clocks go back over
 * midnight.
 */
export async function listBuckets(
  read: Read,
  { fromMs, toMs }: TimeRange,
  unit: BucketUnit,
  timezone: string,
): Promise<readonly number[]> {
  // The steps are shorter than any bucket, so that none is missed where clocks are moved.
  const step = {
    minute: "1 minute",
    hour: "15 minutes",
    day: "6 hours",
    week: "1 day",
    month: "1 day",
  };
  const rows = await read((sql) => {
    const end = timeSql(sql, toMs - 1);
    const start = unit === "minute" || unit === "hour" ? clockStartSql : dateStartSql;
    return sql<{ bucket: number }[]>`
      -- of all projects
      select distinct extract(epoch from start)::double precision * 1000 as bucket
      from (
        select generate_series(${timeSql(sql, fromMs)}, ${end}, ${step[unit]}::interval)
        union all
        select ${end}
      ) as times (at)
      cross join lateral (${start(sql, unit, timezone)}) as starts (start)
      order by bucket`;
  });
  return rows.map(({ bucket }) => bucket);
}

function timeSql(sql: Sql, ms: number): Fragment {
  return sql`to_timestamp(${ms / 1_000}::double precision)`;
}

/**
 * Selects the start of the minute or hour of `at`. Where clocks are moved by half an hour, the same
 * offset from UTC leads into the middle of an hour, and the hour's own start counts.
 */
function clockStartSql(sql: Sql, unit: BucketUnit, timezone: string): Fragment {
  const zone = sql`${timezone}::text`;
  return sql`
    select case
      when date_trunc(${unit}::text, start at time zone ${zone}) = start at time zone ${zone}
        then start
      else date_trunc(${unit}::text, at at time zone ${zone}) at time zone ${zone}
      end
    from (values (date_trunc(${unit}::text, at, ${zone}))) as same_offset (start)`;
}

/** Selects the first moment of the day, week or month of `at`. */
function dateStartSql(sql: Sql, unit: BucketUnit, timezone: string): Fragment {
  // Where a date has two midnights, Postgres converts to the later one; this finds the earlier.
  return sql`
    select min(midnight.at)
    from (values (date_trunc(${unit}::text, at at time zone ${timezone}::text))) as local (date)
    cross join unnest(array['0', '30 minutes', '1 hour', '2 hours']::interval[]) as earlier (by)
    cross join lateral (
      values ((local.date at time zone ${timezone}::text) - earlier.by)
    ) as midnight (at)
    where date_trunc(${unit}::text, midnight.at at time zone ${timezone}::text) = local.date`;
}

function bucketSql(sql: Sql, { unit, timezone, starts }: Bucketed): Fragment {
  if (unit === undefined) return sql`0::double precision`;
  const fixed = timezone === "UTC" && unit !== "month" ? fixedUnits[unit] : undefined;
  if (fixed) {
    const { lengthMs, originMs } = fixed;
    const start = sql`(e.start_time_us - ${originMs * 1_000}::bigint)`;
    const index = sql`floor(${start} / ${lengthMs * 1_000}::double precision)`;
    return sql`${index} * ${lengthMs}::double precision + ${originMs}::double precision`;
  }
  const startsUs = sql`${starts.map((ms) => ms * 1_000)}::bigint[]`;
  return sql`(${[...starts]}::double precision[])[width_bucket(e.start_time_us, ${startsUs})]`;
}

/** Returns the value of a split as text: `=` and the value, or `-` for an event without one. */
export function splitSql(sql: Sql, source: TextSource): Fragment {
  return sql`coalesce('=' || ${textSql(sql, source)}, '-')`;
}

/**
 * Returns what `split`, a column of `splitSql`, is grouped by: of a long text the beginning and a
 * hash, so that two such texts have groups of their own.
 */
export function splitKeySql(sql: Sql): Fragment {
  const lengthMax = splitLengthMax + 1;
  return sql`case when octet_length(split) > ${lengthMax}::integer
      and length(split) > ${lengthMax}::integer
    then left(split, ${lengthMax}::integer) || '… ' || md5(split)
    else split end`;
}

/** Returns the text of a source; null where an event has none. */
export function textSql(sql: Sql, source: TextSource): Fragment {
  return source.kind === "column" ? columnSql(sql, source.name) : scalarSql(sql, source);
}

function columnSql(sql: Sql, name: TextColumn): Fragment {
  if (name === "model") return sql`e.model`;
  const column = eventColumnSql[name];
  if (!column) throw new Error(`no SQL for column ${name}`);
  return column(sql);
}

function scalarSql(sql: Sql, { bucket, paths }: Extract<TextSource, { kind: "bucket" }>): Fragment {
  const value = pathValueSql(sql, bucket, paths);
  return sql`case when jsonb_typeof(${value}) in ('string', 'number', 'boolean')
    then ${value} #>> '{}' end`;
}

/**
 * Returns the number of an event; null if it has none. Needs `totals`, the totals of the event's
 * session, unless no event is a session.
 */
export function numberSql(sql: Sql, source: NumberSource, hasSessions = true): Fragment {
  switch (source.kind) {
    case "event":
      return sql`1`;
    case "error":
      return sql`(e.error is not null)::integer::double precision`;
    case "duration":
      return eventColumnSql["duration"]?.(sql) ?? sql`null`;
    case "usage":
      return usageSql(sql, source.key, hasSessions);
    case "bucket":
      return jsonNumberSql(sql, pathValueSql(sql, source.bucket, source.paths));
  }
}

/** True counts as 1 and false as 0, so that the average of a check is the part that passes. */
function jsonNumberSql(sql: Sql, value: Fragment): Fragment {
  return sql`case jsonb_typeof(${value})
    when 'number' then (${value})::double precision
    when 'boolean' then (${value})::boolean::integer::double precision end`;
}

function totalsSql(sql: Sql, measures: readonly Pick<Measure, "source">[]): Fragment {
  if (!measures.some(({ source }) => source.kind === "usage")) return sql``;
  return sql`left join session_totals as totals
    on e.event_type = 'session' and e.event_id = e.session_id
      and totals.project_id = e.project_id and totals.session_id = e.session_id`;
}

function aggregate(sql: Sql, { aggregation }: Measure, name: string): Fragment {
  const percentile = percentiles[aggregation];
  if (percentile !== undefined) {
    return sql`
      percentile_cont(${percentile}::double precision) within group (order by ${sql(name)})`;
  }
  return sql`${sql.unsafe(aggregation)}(${sql(name)})`;
}

function joined(sql: Sql, fragments: readonly Fragment[]): Fragment {
  return fragments.reduce((left, right) => sql`${left}, ${right}`);
}

/** Bars of a histogram. */
export type BarRow = {
  /** From 0; null if no event has a number. */
  readonly bar: number | null;
  readonly count: number;
  readonly least: number | null;
  readonly greatest: number | null;
  readonly matched: number;
};

/** Counts the numbers of the first measure in bars of one width between the least and greatest. */
export async function listBars(
  read: Read,
  query: EventQuery,
  { measures, bars }: ChartQuestion,
): Promise<readonly BarRow[]> {
  const [measure] = measures;
  if (!measure) return [];
  return read(
    (sql) => sql<BarRow[]>`
      with matched as (
        select ${numberSql(sql, measure.source)} as v0
        from events as e ${totalsSql(sql, measures)}
        where ${matching(sql, query)}
      ),
      bounds as (
        select min(v0) as least, max(v0) as greatest, count(*)::integer as matched from matched
      )
      select
        case
          when v0 is null then null
          when least = greatest then 0
          -- Before Postgres 17 the difference of the bounds must be finite, or numeric.
          when least < 0 and greatest > least + 1e308 then
            least(
              width_bucket(v0::numeric, least::numeric, greatest::numeric, ${bars}), ${bars}) - 1
          else least(width_bucket(v0, least, greatest, ${bars}), ${bars}) - 1
        end as bar,
        count(*)::integer as count, least, greatest, matched
      from matched cross join bounds
      group by bar, least, greatest, matched`,
  );
}

/** Events whose number meets a threshold. */
export type MeetingRow = {
  readonly matched: number;
  readonly meeting: number;
  /** The newest of them. */
  readonly eventIds: readonly string[];
};

/** Counts the events whose number meets a threshold, and names up to `named` of them. */
export async function countMeeting(
  read: Read,
  query: EventQuery,
  { source, threshold, named }: MeetingQuestion,
): Promise<MeetingRow> {
  const [row] = await read((sql) => {
    const isMet = sql`v0 ${sql.unsafe(signOf(threshold.operator))} ${threshold.value}`;
    return sql<MeetingRow[]>`
      with matched as (
        select e.event_id, e.start_time_us, ${numberSql(sql, source)} as v0
        from events as e ${totalsSql(sql, [{ source }])}
        where ${matching(sql, query)}
      )
      select
        count(*)::integer as matched,
        (count(*) filter (where ${isMet}))::integer as meeting,
        array(
          select event_id from matched where ${isMet}
          order by start_time_us desc, event_id limit ${named}
        ) as "eventIds"
      from matched`;
  });
  return row ?? { matched: 0, meeting: 0, eventIds: [] };
}

export type MeetingQuestion = {
  readonly source: NumberSource;
  readonly threshold: Threshold;
  readonly named: number;
};
