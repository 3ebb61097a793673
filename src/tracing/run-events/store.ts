// SQL of the events of an experiment run: the events of the sessions in which an event names the
// run, found by the index on metadata. Every statement names its project.

import type { PendingQuery } from "postgres";
import type { Sql } from "../../postgres/database.ts";
import { escapeJson, escapeText } from "../events/postgres-text.ts";

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

/** Bytes that a row takes in addition to its metrics. */
const rowBytes = 300;

/**
 * Returns the sessions of a run and its events with metrics, in the order of their start. Rows are
 * sent until their total exceeds `bytesMax`.
 */
export function runEventRows(
  sql: Sql,
  projectId: string,
  { runId, sessionIds }: RunSessions,
  { limit, bytesMax }: { readonly limit: number; readonly bytesMax: number },
): PendingQuery<RunEventRow[]> {
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
        from (
          select session_id
          from events
          where project_id = ${projectId} and event_type <> 'pending'
            and metadata @> ${escapeJson(JSON.stringify({ run_id: runId }))}::text::jsonb
          union
          select unnest(${sessionIds.map(escapeText)}::text[])
        ) as named
        join events as e on e.project_id = ${projectId} and e.session_id = named.session_id
        where e.event_type <> 'pending' and (e.event_type = 'session' or e.metrics <> '{}')
          and coalesce(e.metadata ->> 'run_id', ${escapeText(runId)}) = ${escapeText(runId)}
        order by e.start_time_us, e.event_id
        limit ${limit}
      ) as found
    ) as measured`;
}
