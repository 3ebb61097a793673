// SQL of merges: locks events, reads the parts that a merge needs, and merges payloads inside
// Postgres. The caller decides the transaction; every statement names its project.

import type { JsonObject } from "../../base/json.ts";
import type { Fragment, Sql } from "../../postgres/database.ts";
import { type Bucket, buckets, type EventType } from "./event.ts";
import { countedBytesMax, countedKeys, type HeldEvent } from "./held-event.ts";
import { markingOf, unmarkedMs } from "./mark-store.ts";
import type { Pending } from "./merge.ts";
import { escapeText, unescapeJson, unescapeOrNull, unescapeText } from "./postgres-text.ts";
import { type CommitTexts, incomingRows } from "./store.ts";

type HeldRow = {
  readonly event_id: string;
  readonly event_type: EventType | "pending";
  readonly session_id: string;
  readonly event_name: string;
  readonly source: string;
  readonly parent_id: string | null;
  readonly has_error: boolean;
  readonly has_feedback: boolean;
  readonly start_time_us: number;
  readonly end_time_us: number | null;
  readonly duration_ms: number | null;
  readonly config: string | null;
  readonly metadata: string | null;
  readonly bucket_bytes: number;
  readonly children_bytes: number;
  readonly version: string;
};

/**
 * Locks the events of one project's ids, ordered by id, and returns them without payload; absent
 * ids are left out. The size of a returned row is bounded, even for large events.
 */
export async function lockHeld(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<HeldEvent[]> {
  const rows = await sql<HeldRow[]>`
    ${selectHeld(sql, projectId, eventIds)}
    order by e.event_id
    for no key update`;
  return rows.map(toHeldEvent);
}

/** A stored event with its xmin, which every change of the event changes. */
export type VersionedEvent = HeldEvent & { readonly version: string };

/** Returns events like `lockHeld`, without locking them. */
export async function readHeld(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<VersionedEvent[]> {
  const rows = await sql<HeldRow[]>`${selectHeld(sql, projectId, eventIds)}`;
  return rows.map((row) => ({ ...toHeldEvent(row), version: row.version }));
}

function selectHeld(sql: Sql, projectId: string, eventIds: readonly string[]): Fragment {
  return sql`
    select
      e.event_id, e.event_type, e.session_id, e.event_name, e.source, e.parent_id,
      e.error is not null as has_error, e.feedback <> '{}' as has_feedback,
      e.start_time_us, e.end_time_us, e.duration_ms,
      ${countedIn(sql, sql`e.config`, countedKeys.config)} as config,
      ${countedIn(sql, sql`e.metadata`, countedKeys.metadata)} as metadata,
      ${bucketBytes(sql)} as bucket_bytes,
      pg_column_size(e.children_ids) as children_bytes, e.xmin::text as version
    from events as e
    where e.project_id = ${projectId} and e.event_id = any(${eventIds.map(escapeText)})`;
}

function countedIn(sql: Sql, bucket: Fragment, keys: readonly string[]): Fragment {
  return sql`
    (select jsonb_object_agg(key, value)::text
      from jsonb_each(${bucket})
      where key = any(${[...keys]}) and pg_column_size(value) <= ${countedBytesMax})`;
}

function bucketBytes(sql: Sql): Fragment {
  let sum = sql`0`;
  for (const bucket of buckets) sum = sql`${sum} + pg_column_size(e.${sql(bucket)})`;
  return sum;
}

function toHeldEvent(row: HeldRow): HeldEvent {
  return {
    event_id: unescapeText(row.event_id),
    event_type: row.event_type,
    session_id: unescapeText(row.session_id),
    event_name: unescapeText(row.event_name),
    source: unescapeText(row.source),
    parent_id: unescapeOrNull(row.parent_id),
    hasError: row.has_error,
    hasFeedback: row.has_feedback,
    start_time: row.start_time_us / 1000,
    end_time: row.end_time_us === null ? null : row.end_time_us / 1000,
    duration: row.duration_ms,
    config: row.config === null ? {} : parseJson(row.config),
    metadata: row.metadata === null ? {} : parseJson(row.metadata),
    bucketBytes: row.bucket_bytes,
    childrenBytes: row.children_bytes,
  };
}

function parseJson(text: string): JsonObject {
  return JSON.parse(unescapeJson(text)) as JsonObject;
}

/** Returns the updates waiting under ids that `lockHeld` has locked. */
export async function listPending(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<Map<string, Pending>> {
  const rows = await sql<{ event_id: string; inputs: string }[]>`
    select event_id, inputs::text as inputs
    from events
    where project_id = ${projectId} and event_id = any(${eventIds.map(escapeText)})
      and event_type = 'pending'`;
  return new Map(rows.map((row) => [unescapeText(row.event_id), parseJson(row.inputs)]));
}

/** Returns the children of events, by event id. */
export async function listChildren(
  sql: Sql,
  projectId: string,
  eventIds: readonly string[],
): Promise<Map<string, readonly string[]>> {
  const rows = await sql<{ event_id: string; children_ids: string[] }[]>`
    select event_id, children_ids
    from events
    where project_id = ${projectId} and event_id = any(${eventIds.map(escapeText)})`;
  return new Map(
    rows.map((row) => [unescapeText(row.event_id), row.children_ids.map(unescapeText)]),
  );
}

/** Returns the payload of an event. */
export async function findBuckets(
  sql: Sql,
  projectId: string,
  eventId: string,
): Promise<{ readonly [B in Bucket]?: JsonObject }> {
  const texts = buckets.map((bucket) => sql`${sql(bucket)}::text as ${sql(bucket)}`);
  const [row] = await sql<{ readonly [B in Bucket]: string }[]>`
    select ${texts.reduce((list, text) => sql`${list}, ${text}`)}
    from events
    where project_id = ${projectId} and event_id = ${escapeText(eventId)}`;
  if (row === undefined) return {};
  return Object.fromEntries(buckets.map((bucket) => [bucket, parseJson(row[bucket])]));
}

type MeasuredMerge = {
  /** Ids of all rows. */
  readonly eventIds: readonly string[];
  readonly measured: readonly string[];
  readonly bytesMax: number;
};

/**
 * Merges rows into events that `lockHeld` has locked. A bucket takes the given keys, children are
 * replaced, an error changes only if the row `sets_error`; a row that `is_whole` replaces its
 * event. Returns the measured events that now take more than `bytesMax`: bytes of text, or of
 * Postgres' binary form if that is larger, as for a list of small numbers.
 */
export async function mergeRows(
  sql: Sql,
  projectId: string,
  rows: string,
  { eventIds, measured, bytesMax }: MeasuredMerge,
): Promise<string[]> {
  // The extra list of ids keeps Postgres from reading all events of the project, which it sometimes
  // does for the join alone.
  await sql`
    update events set
      session_id = incoming.session_id,
      event_type = incoming.event_type,
      event_name = incoming.event_name,
      source = incoming.source,
      parent_id = incoming.parent_id,
      children_ids = coalesce(incoming.children_ids, events.children_ids),
      error = case when incoming.sets_error then incoming.error else events.error end,
      start_time_us = incoming.start_time_us,
      end_time_us = incoming.end_time_us,
      duration_ms = incoming.duration_ms,
      ${mergedBuckets(sql)},
      cost_estimate = incoming.cost_estimate
    from ${incomingRows(sql, rows)}
    where events.project_id = ${projectId} and events.event_id = incoming.event_id
      and events.event_id = any(${eventIds.map(escapeText)})`;
  if (measured.length === 0) return [];
  const tooLarge = await sql<{ event_id: string }[]>`
    select event_id
    from events
    where project_id = ${projectId} and event_id = any(${measured.map(escapeText)})
      and ${measuredBytes(sql)} > ${bytesMax}`;
  return tooLarge.map((row) => unescapeText(row.event_id));
}

/**
 * Merges rows, adds to totals and to the evaluation queue in one statement. Fails with
 * serialization_failure if an event is no longer of the row's `version`. Source: migrations 0019
 * and 0030.
 */
export async function mergeUnchanged(sql: Sql, commit: CommitTexts): Promise<void> {
  const { rows, totals, queued, hours } = commit;
  await sql`
    select
      merge_events(${rows}::text::jsonb, ${totals}::text::jsonb, ${queued}::text::jsonb),
      ${markingOf(sql, hours)}`;
}

export type UnreadLimits = {
  /** Maximum bytes of an event's buckets as Postgres stores them. */
  readonly storedBytesMax: number;
  /** Table of the estimates of cost that stay as they are. */
  readonly priceTable: string;
};

/**
 * Merges updates into events without reading them, adds to totals and marks past hours in one
 * statement. Fails with serialization_failure if an event has to be read. Source: migration 0036.
 */
export async function mergeUnread(
  sql: Sql,
  updates: string,
  { storedBytesMax, priceTable }: UnreadLimits,
): Promise<void> {
  await sql`
    select merge_unread_events(
      ${updates}::text::jsonb, ${storedBytesMax}, ${priceTable}, ${[...countedKeys.metadata]},
      ${unmarkedMs})`;
}

// A bucket without given keys keeps its stored value, which Postgres does not read for that.
function mergedBuckets(sql: Sql): Fragment {
  return buckets
    .map((bucket) => {
      const [held, given] = [sql`events.${sql(bucket)}`, sql`incoming.${sql(bucket)}`];
      return sql`
        ${sql(bucket)} = case
          when incoming.is_whole then ${given}
          else coalesce(${held} || ${given}, ${held})
        end`;
    })
    .reduce((list, one) => sql`${list}, ${one}`);
}

function measuredBytes(sql: Sql): Fragment {
  return buckets
    .map((bucket) => sql`events.${sql(bucket)}`)
    .map((value) => sql`greatest(octet_length(${value}::text), pg_column_size(${value}))::bigint`)
    .reduce((sum, one) => sql`${sum} + ${one}`);
}
