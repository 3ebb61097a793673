// SQL of the events of an experiment run: the events of the sessions in which an event names the
// run, found by the index on metadata. Every statement names its project.

import type { PendingQuery } from "postgres";
import type { Fragment, Sql } from "../../postgres/database.ts";
import { estimatedCostSql } from "../charts/usage-sql.ts";
import { escapeJson, escapeText, unescapeOrNull, unescapeText } from "../events/postgres-text.ts";
import { eventColumnSql } from "../export/filter-sql.ts";
import { retriedBy } from "../export/run-conditions.ts";
import type { Totals } from "../sessions/totals.ts";

/**
 * Consecutive events of a run. Each column is the JSON text of an array with a value for each
 * event, since a row for each of them would cost as much again as reading them.
 */
export type RunEventPart = {
  readonly event_ids: string;
  readonly session_ids: string;
  readonly event_types: string;
  readonly event_names: string;
  readonly datapoint_ids: string;
  readonly failures: string;
  /** Null unless `is_sent`. */
  readonly metrics: string | null;
  readonly events: number;
  /** Bytes of the events. */
  readonly bytes: number;
  /** False if the events, or earlier ones, did not fit. */
  readonly is_sent: boolean;
};

/** Sessions of a run: those that the run lists, in addition to those whose events name it. */
export type RunSessions = { readonly runId: string; readonly sessionIds: readonly string[] };

/** Returns the condition that names the sessions of a run, as a query of their ids. */
function selectSessions(sql: Sql, projectId: string, { runId, sessionIds }: RunSessions): Fragment {
  return sql`
    select session_id
    from events
    where project_id = ${projectId} and event_type <> 'pending'
      and metadata @> ${escapeJson(JSON.stringify({ run_id: runId }))}::text::jsonb
      and not metadata ? ${retriedBy}::text
    union
    select unnest(${sessionIds.map(escapeText)}::text[])`;
}

/**
 * Returns the events of the sessions of a run as `e`, found session by session. As a join, which
 * the offset prevents, Postgres may read all events of the project and compare each with each
 * session: in a plan for any parameters it does not know how few sessions a run has.
 */
function eventsOfSessions(sql: Sql, projectId: string, sessions: RunSessions): Fragment {
  return sql`
    (${selectSessions(sql, projectId, sessions)}) as named
    cross join lateral (
      select
        event_id, session_id, event_type, event_name, error, start_time_us, outputs, metadata,
        metrics
      from events
      where project_id = ${projectId} and session_id = named.session_id
        and event_type <> 'pending'
      offset 0
    ) as e`;
}

/** Returns ids of events in the sessions of a run, after an id, in the order of the ids. */
export async function listEventIds(
  sql: Sql,
  projectId: string,
  sessions: RunSessions,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await sql<{ event_id: string }[]>`
    select e.event_id
    from ${eventsOfSessions(sql, projectId, sessions)}
    where e.event_id > ${escapeText(after)}
    order by e.event_id
    limit ${limit}`;
  return rows.map(({ event_id: id }) => unescapeText(id));
}

/** Returns the sessions of a run that have neither outputs nor an error. */
export async function listOpenSessionIds(
  sql: Sql,
  projectId: string,
  sessions: RunSessions,
): Promise<readonly string[]> {
  const rows = await sql<{ event_id: string }[]>`
    select e.event_id
    from ${eventsOfSessions(sql, projectId, sessions)}
    where e.event_type = 'session' and e.event_id = e.session_id
      and e.outputs = '{}' and e.error is null
    order by e.event_id`;
  return rows.map(({ event_id: id }) => unescapeText(id));
}

/** Returns the runs that events of ids name in their metadata, with the events. */
export async function listRunsOfEvents(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<readonly { readonly eventId: string; readonly runId: string }[]> {
  const rows = await sql<{ event_id: string; run_id: string | null }[]>`
    select event_id, metadata ->> 'run_id' as run_id
    from events
    where project_id = ${projectId} and event_id = any(${eventIds.map(escapeText)}::text[])
      and event_type <> 'pending'`;
  return rows.flatMap(({ event_id: eventId, run_id: runId }) =>
    runId === null ? [] : [{ eventId: unescapeText(eventId), runId: unescapeText(runId) }],
  );
}

/** Sums over the sessions of a run, and percentiles of their durations in milliseconds. */
export type RunUsage = {
  /** Sessions of the run that are stored. */
  readonly sessions: number;
  readonly totals: Totals;
  /** US dollars by the price table of events without a cost; null if none has an estimate. */
  readonly estimatedCost: number | null;
  /** Null if no session has a duration. */
  readonly durationP50: number | null;
  readonly durationP95: number | null;
};

/** Returns what the sessions of a run took. */
export async function findUsage(
  sql: Sql,
  projectId: string,
  sessions: RunSessions,
): Promise<RunUsage> {
  // The offsets keep Postgres from joining with all sessions of the project (eventsOfSessions).
  const [row] = await sql<(Totals & Omit<RunUsage, "totals">)[]>`
    select
      count(e.event_id)::integer as sessions,
      coalesce(sum(t.num_events), 0)::integer as num_events,
      coalesce(sum(t.num_model_events), 0)::integer as num_model_events,
      coalesce(sum(t.num_errors), 0)::integer as num_errors,
      coalesce(sum(t.num_costs), 0)::integer as num_costs,
      coalesce(sum(t.num_feedback), 0)::integer as num_feedback,
      coalesce(sum(t.prompt_tokens), 0)::double precision as prompt_tokens,
      coalesce(sum(t.completion_tokens), 0)::double precision as completion_tokens,
      coalesce(sum(t.total_tokens), 0)::double precision as total_tokens,
      coalesce(sum(t.cost), 0)::double precision as cost,
      sum(priced.estimate)::double precision as "estimatedCost",
      percentile_cont(0.5) within group (order by e.duration) as "durationP50",
      percentile_cont(0.95) within group (order by e.duration) as "durationP95"
    from (${selectSessions(sql, projectId, sessions)}) as named
    left join lateral (
      select e.event_id, ${eventColumnSql["duration"]?.(sql) ?? sql`null`} as duration
      from events as e
      where e.project_id = ${projectId} and e.event_id = named.session_id
        and e.event_type <> 'pending'
      offset 0
    ) as e on true
    left join lateral (
      select *
      from session_totals
      where project_id = ${projectId} and session_id = named.session_id
      offset 0
    ) as t on true
    cross join lateral (
      select sum((${estimatedCostSql(sql)})::numeric) as estimate
      from events as e
      where e.project_id = ${projectId} and e.session_id = named.session_id
        and e.event_type <> 'pending' and e.cost_estimate is not null
    ) as priced`;
  if (row === undefined) throw new Error("an aggregate has no row");
  const { sessions: count, estimatedCost, durationP50, durationP95, ...totals } = row;
  return { sessions: count, totals, estimatedCost, durationP50, durationP95 };
}

/** How a model call ended: its cost, if that is known, and its error. */
export type CallOutcome = {
  readonly eventId: string;
  readonly cost: number | null;
  readonly error: string | null;
};

/** Returns the outcomes of the events of ids that exist, in no order. */
export async function listOutcomes(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<readonly CallOutcome[]> {
  const rows = await sql<CallOutcome[]>`
    select
      event_id as "eventId",
      case when jsonb_typeof(metadata -> 'cost') = 'number' then (metadata ->> 'cost')::float8 end
        as cost,
      error
    from events
    where project_id = ${projectId} and event_id = any(${eventIds.map(escapeText)}::text[])
      and event_type <> 'pending'`;
  return rows.map(({ eventId, cost, error }) => ({
    eventId: unescapeText(eventId),
    cost,
    error: unescapeOrNull(error),
  }));
}

/** Bytes that an event takes in addition to its metrics. */
const eventBytes = 300;

/** Events of a part: their texts are parsed in about a millisecond. */
const eventsOfPart = 1_000;

/**
 * Returns the sessions of a run and its events with metrics, in the order of their start. Parts are
 * sent until their total exceeds `bytesMax`.
 */
export function runEventParts(
  sql: Sql,
  projectId: string,
  sessions: RunSessions,
  { limit, bytesMax }: { readonly limit: number; readonly bytesMax: number },
): PendingQuery<RunEventPart[]> {
  const { runId } = sessions;
  return sql<RunEventPart[]>`
    select
      array_to_json(array_agg(event_id))::text as event_ids,
      array_to_json(array_agg(session_id))::text as session_ids,
      array_to_json(array_agg(event_type))::text as event_types,
      array_to_json(array_agg(event_name))::text as event_names,
      array_to_json(array_agg(datapoint_id))::text as datapoint_ids,
      array_to_json(array_agg(has_failed))::text as failures,
      case when bool_and(is_sent) then '[' || string_agg(metrics, ',') || ']' end as metrics,
      count(*)::integer as events,
      sum(bytes)::integer as bytes,
      bool_and(is_sent) as is_sent
    from (
      select
        *,
        octet_length(metrics) + ${eventBytes} as bytes,
        sum(octet_length(metrics) + ${eventBytes}) over all_before <= ${bytesMax} as is_sent,
        (row_number() over all_before - 1) / ${eventsOfPart} as part
      from (
        select
          e.event_id, e.session_id, e.event_type, e.event_name, e.metrics::text as metrics,
          e.metadata ->> 'datapoint_id' as datapoint_id,
          e.event_id = e.session_id and e.error is not null as has_failed
        from ${eventsOfSessions(sql, projectId, sessions)}
        where (e.event_type = 'session' or e.metrics <> '{}')
          and coalesce(e.metadata ->> 'run_id', ${escapeText(runId)}) = ${escapeText(runId)}
        order by e.start_time_us, e.event_id
        limit ${limit}
      ) as found
      window all_before as (rows unbounded preceding)
    ) as measured
    group by part
    order by part`;
}
