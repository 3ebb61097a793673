// SQL of the events of an experiment run: the events of the sessions in which an event names the
// run, found by the index on metadata. Every statement names its project.

import type { PendingQuery, Row } from "postgres";
import type { Sql } from "../../postgres/database.ts";
import { escapeJson, escapeText, unescapeText } from "../events/postgres-text.ts";

/** An event of a run; its texts are null unless `is_sent`. */
export type RunEventRow = {
  readonly event_id: string;
  readonly session_id: string;
  readonly event_type: string;
  readonly event_name: string;
  readonly datapoint_id: string | null;
  readonly bytes: number;
  readonly is_sent: boolean;
  readonly metrics: string | null;
};

/** Sessions of a run: those that the run lists, in addition to those whose events name it. */
export type RunSessions = { readonly runId: string; readonly sessionIds: readonly string[] };

/** Returns the condition that names the sessions of a run, as a query of their ids. */
function selectSessions(
  sql: Sql,
  projectId: string,
  { runId, sessionIds }: RunSessions,
): PendingQuery<Row[]> {
  return sql`
    select session_id
    from events
    where project_id = ${projectId} and event_type <> 'pending'
      and metadata @> ${escapeJson(JSON.stringify({ run_id: runId }))}::text::jsonb
    union
    select unnest(${sessionIds.map(escapeText)}::text[])`;
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
    from (${selectSessions(sql, projectId, sessions)}) as named
    join events as e on e.project_id = ${projectId} and e.session_id = named.session_id
    where e.event_type <> 'pending' and e.event_id > ${escapeText(after)}
    order by e.event_id
    limit ${limit}`;
  return rows.map(({ event_id: id }) => unescapeText(id));
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
    error: error === null ? null : unescapeText(error),
  }));
}

/** Bytes that a row takes in addition to its metrics. */
const rowBytes = 300;

/**
 * Returns the sessions of a run and its events with metrics, in the order of their start. Rows are
 * sent until their total exceeds `bytesMax`.
 */
export function runEventRows(
  sql: Sql,
  projectId: string,
  sessions: RunSessions,
  { limit, bytesMax }: { readonly limit: number; readonly bytesMax: number },
): PendingQuery<RunEventRow[]> {
  const { runId } = sessions;
  return sql<RunEventRow[]>`
    select
      event_id, session_id, event_type, event_name, datapoint_id, bytes, is_sent,
      case when is_sent then metrics end as metrics
    from (
      select
        *,
        octet_length(metrics) + ${rowBytes} as bytes,
        sum(octet_length(metrics) + ${rowBytes}) over (rows unbounded preceding) <= ${bytesMax}
          as is_sent
      from (
        select
          e.event_id, e.session_id, e.event_type, e.event_name, e.metrics::text as metrics,
          e.metadata ->> 'datapoint_id' as datapoint_id
        from (${selectSessions(sql, projectId, sessions)}) as named
        join events as e on e.project_id = ${projectId} and e.session_id = named.session_id
        where e.event_type <> 'pending' and (e.event_type = 'session' or e.metrics <> '{}')
          and coalesce(e.metadata ->> 'run_id', ${escapeText(runId)}) = ${escapeText(runId)}
        order by e.start_time_us, e.event_id
        limit ${limit}
      ) as found
    ) as measured`;
}
