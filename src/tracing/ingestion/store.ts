// SQL of ingestion counts, in the control database.

import type { ProjectId } from "../../base/ids.ts";
import { toStorableText } from "../../base/storable-text.ts";
import type { Sql } from "../../postgres/database.ts";

/** Identity of a count within a project and an hour. */
export type CountKey = {
  readonly projectId: ProjectId;
  readonly hourMs: number;
  readonly actorType: string;
  readonly actorId: string;
  readonly rpc: string;
  readonly reason: string;
};

export type CountRow = CountKey & {
  readonly actorName: string;
  readonly calls: number;
  readonly stored: number;
  readonly rejected: number;
  readonly lastAtMs: number;
  /** What the last refusal said; undefined if nothing was refused. */
  readonly message: string | undefined;
};

/** Adds to the counts. Servers add at the same time, so the rows are locked in one order. */
export async function addCounts(sql: Sql, rows: readonly CountRow[]): Promise<void> {
  const column = <T>(read: (row: CountRow) => T): T[] => rows.map(read);
  const seconds = (read: (row: CountRow) => number) => column((row) => read(row) / 1_000);
  await sql`
    insert into ingestion_counts (
      project_id, hour, actor_type, actor_id, rpc, reason,
      actor_name, calls, stored, rejected, last_at, message
    )
    select
      project_id, to_timestamp(hour), actor_type, actor_id, rpc, reason,
      actor_name, calls, stored, rejected, to_timestamp(last_at), message
    from unnest(
      ${column((row) => row.projectId)}::uuid[],
      ${seconds((row) => row.hourMs)}::float8[],
      ${column((row) => row.actorType)}::text[],
      ${column((row) => row.actorId)}::text[],
      ${column((row) => row.rpc)}::text[],
      ${column((row) => row.reason)}::text[],
      ${column((row) => toStorableText(row.actorName))}::text[],
      ${column((row) => row.calls)}::bigint[],
      ${column((row) => row.stored)}::bigint[],
      ${column((row) => row.rejected)}::bigint[],
      ${seconds((row) => row.lastAtMs)}::float8[],
      ${column(({ message }) => (message === undefined ? null : toStorableText(message)))}::text[]
    ) as added (
      project_id, hour, actor_type, actor_id, rpc, reason,
      actor_name, calls, stored, rejected, last_at, message
    )
    order by project_id, hour, actor_type, actor_id, rpc, reason
    on conflict (project_id, hour, actor_type, actor_id, rpc, reason) do update set
      actor_name = excluded.actor_name,
      calls = ingestion_counts.calls + excluded.calls,
      stored = ingestion_counts.stored + excluded.stored,
      rejected = ingestion_counts.rejected + excluded.rejected,
      last_at = greatest(ingestion_counts.last_at, excluded.last_at),
      message = coalesce(excluded.message, ingestion_counts.message)`;
}

/** Deletes up to `limit` rows of hours before a time; returns how many. */
export async function deleteCountsBefore(sql: Sql, before: Date, limit: number): Promise<number> {
  const { count } = await sql`
    delete from ingestion_counts
    where ctid = any(array(
      select ctid from ingestion_counts where hour < ${before} limit ${limit}
    ))`;
  return count;
}

export type HourRow = {
  readonly at: Date;
  readonly acceptedCalls: number;
  readonly refusedCalls: number;
  readonly storedEvents: number;
  readonly rejectedEvents: number;
};

export async function listHours(sql: Sql, projectId: ProjectId, from: Date): Promise<HourRow[]> {
  return sql<HourRow[]>`
    select
      hour as at,
      coalesce(sum(calls) filter (where reason = 'OK'), 0)::float8 as "acceptedCalls",
      coalesce(sum(calls) filter (where reason <> 'OK'), 0)::float8 as "refusedCalls",
      sum(stored)::float8 as "storedEvents",
      coalesce(sum(rejected) filter (where reason = 'OK'), 0)::float8 as "rejectedEvents"
    from ingestion_counts
    where project_id = ${projectId} and hour >= ${from}
    group by hour
    order by hour`;
}

export type GroupRow = {
  readonly actorType: string;
  readonly actorId: string;
  readonly actorName: string;
  readonly rpc: string;
  readonly reason: string;
  readonly calls: number;
  readonly storedEvents: number;
  readonly rejectedEvents: number;
  readonly lastAt: Date;
  readonly message: string | null;
  /** How many groups there are, without the limit. */
  readonly total: number;
};

export async function listGroups(
  sql: Sql,
  projectId: ProjectId,
  { from, limit }: { readonly from: Date; readonly limit: number },
): Promise<GroupRow[]> {
  return sql<GroupRow[]>`
    select
      actor_type as "actorType",
      actor_id as "actorId",
      (array_agg(actor_name order by last_at desc))[1] as "actorName",
      rpc,
      reason,
      sum(calls)::float8 as calls,
      sum(stored)::float8 as "storedEvents",
      sum(rejected)::float8 as "rejectedEvents",
      max(last_at) as "lastAt",
      (array_agg(message order by last_at desc) filter (where message is not null))[1] as message,
      count(*) over ()::int as total
    from ingestion_counts
    where project_id = ${projectId} and hour >= ${from}
    group by actor_type, actor_id, rpc, reason
    order by max(last_at) desc, actor_id, rpc, reason
    limit ${limit}`;
}
