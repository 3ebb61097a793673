// SQL of the events of annotation queues, in the cluster of the project's events. Every statement
// names its project; ids of events are escaped as in tracing.

import type { Fragment, Sql } from "../../postgres/database.ts";
import { escapeText, unescapeText } from "../../tracing/events/postgres-text.ts";

export type QueueKey = { readonly projectId: string; readonly queueId: string };

/** States of an event: waiting, waiting with a claim, reviewed. */
export const itemStates = ["pending", "claimed", "completed"] as const;
export type ItemState = (typeof itemStates)[number];

export type ItemRow = {
  /** Grows from event to event of a queue. */
  readonly position: number;
  readonly eventId: string;
  readonly state: ItemState;
  readonly addedAt: Date;
  readonly completedAt: Date | null;
};

/** Waits until no other transaction changes the events and claims of a queue. */
export async function lockQueue(sql: Sql, { queueId }: QueueKey): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended('annotation queue ' || ${queueId}::text, 0))`;
}

/** Returns which of some events are in the queue, or were removed from it. */
export async function findKnown(
  sql: Sql,
  { projectId, queueId }: QueueKey,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, { readonly isRemoved: boolean }>> {
  const rows = await sql<{ event_id: string; is_removed: boolean }[]>`
    select event_id, state = 'removed' as is_removed
    from annotation_items
    where project_id = ${projectId} and queue_id = ${queueId}
      and event_id = any(${eventIds.map(escapeText)})`;
  return new Map(
    rows.map((row) => [unescapeText(row.event_id), { isRemoved: row.is_removed }] as const),
  );
}

/**
 * Adds events, which are held, in their order, and returns how many were not in the queue; removed
 * ones are open again. Positions are times in microseconds, and later than those of the queue,
 * which `lockQueue` has locked.
 */
export async function insertItems(
  sql: Sql,
  { projectId, queueId }: QueueKey,
  eventIds: readonly string[],
): Promise<number> {
  if (eventIds.length === 0) return 0;
  const { count } = await sql`
    insert into annotation_items as held (project_id, queue_id, event_id, position, state)
    select ${projectId}::uuid, ${queueId}::uuid, event_id, latest.position + place, 'open'
    from unnest(${eventIds.map(escapeText)}::text[]) with ordinality as given (event_id, place)
    cross join (
      select
        greatest(max(position), (extract(epoch from statement_timestamp()) * 1000000)::bigint)
          as position
      from annotation_items
      where project_id = ${projectId} and queue_id = ${queueId}
    ) as latest
    order by place
    on conflict (project_id, event_id, queue_id) do update set
      state = 'open',
      position = excluded.position,
      added_at = excluded.added_at,
      completed_at = null
    where held.state = 'removed'`;
  return count;
}

/** Marks events as removed and deletes their claims. Returns how many it removed. */
export async function removeItems(
  sql: Sql,
  { projectId, queueId }: QueueKey,
  eventIds: readonly string[],
): Promise<number> {
  if (eventIds.length === 0) return 0;
  const ids = eventIds.map(escapeText);
  const { count } = await sql`
    update annotation_items set state = 'removed'
    where project_id = ${projectId} and queue_id = ${queueId} and event_id = any(${ids})
      and state <> 'removed'`;
  await sql`
    delete from annotation_reviews
    where project_id = ${projectId} and queue_id = ${queueId} and event_id = any(${ids})
      and completed_at is null`;
  return count;
}

/** Deletes the open events of a queue, and all claims. */
export async function deleteOpen(sql: Sql, { projectId, queueId }: QueueKey): Promise<void> {
  await sql`
    delete from annotation_items
    where project_id = ${projectId} and queue_id = ${queueId} and state in ('open', 'removed')`;
  await sql`
    delete from annotation_reviews
    where project_id = ${projectId} and queue_id = ${queueId} and completed_at is null`;
}

/** Marks open events as completed, one or all, that have `reviewers` completed reviews. */
export async function completeReviewed(
  sql: Sql,
  { projectId, queueId, eventId }: QueueKey & { readonly eventId?: string },
  reviewers: number,
): Promise<void> {
  await sql`
    update annotation_items as item set
      state = 'completed',
      completed_at = statement_timestamp()
    where project_id = ${projectId} and queue_id = ${queueId} and state = 'open'
      and ${eventId === undefined ? sql`true` : sql`event_id = ${escapeText(eventId)}`}
      and (
        select count(*)
        from annotation_reviews as review
        where review.project_id = ${projectId} and review.event_id = item.event_id
          and review.queue_id = ${queueId} and review.completed_at is not null
      ) >= ${reviewers}`;
}

/** Returns the condition that an item has a claim that has not expired. */
function isHeld(sql: Sql, projectId: string): Fragment {
  return sql`exists (
    select 1
    from annotation_reviews as review
    where review.project_id = ${projectId} and review.event_id = item.event_id
      and review.queue_id = item.queue_id and review.completed_at is null
      and review.expires_at > statement_timestamp()
  )`;
}

function selectItems(sql: Sql, { projectId, queueId }: QueueKey): Fragment {
  return sql`
    select
      position::float8 as position,
      event_id as "eventId",
      case
        when state = 'completed' then state
        when ${isHeld(sql, projectId)} then 'claimed'
        else 'pending'
      end as state,
      added_at as "addedAt",
      completed_at as "completedAt"
    from annotation_items as item
    where project_id = ${projectId} and queue_id = ${queueId} and state <> 'removed'`;
}

function toRow(row: ItemRow): ItemRow {
  return { ...row, eventId: unescapeText(row.eventId) };
}

export async function findItem(
  sql: Sql,
  key: QueueKey,
  eventId: string,
): Promise<ItemRow | undefined> {
  const [row] = await sql<ItemRow[]>`
    ${selectItems(sql, key)} and event_id = ${escapeText(eventId)}`;
  return row && toRow(row);
}

export type ItemsPage = {
  readonly state: ItemState | undefined;
  /** Item after which the page begins. */
  readonly after: number | undefined;
  readonly limit: number;
};

/** Returns items in the order in which they came, at most one more than the limit. */
export async function listItems(
  sql: Sql,
  key: QueueKey,
  { state, after, limit }: ItemsPage,
): Promise<readonly ItemRow[]> {
  const { projectId } = key;
  const ofState = {
    pending: sql`state = 'open' and not ${isHeld(sql, projectId)}`,
    claimed: sql`state = 'open' and ${isHeld(sql, projectId)}`,
    completed: sql`state = 'completed'`,
  };
  const rows = await sql<ItemRow[]>`
    ${selectItems(sql, key)}
      and ${state === undefined ? sql`true` : ofState[state]}
      and ${after === undefined ? sql`true` : sql`position > ${after}`}
    order by item.position
    limit ${limit + 1}`;
  return rows.map(toRow);
}

export type ItemCounts = {
  readonly pending: number;
  readonly claimed: number;
  readonly completed: number;
  readonly passedOver: number;
};

export async function countItems(sql: Sql, { projectId, queueId }: QueueKey): Promise<ItemCounts> {
  const [row] = await sql<ItemCounts[]>`
    select
      (count(*) filter (where state = 'open' and not is_held))::integer as pending,
      (count(*) filter (where state = 'open' and is_held))::integer as claimed,
      (count(*) filter (where state = 'completed'))::integer as completed,
      coalesce((
        select least(events, 2147483647)
        from annotation_overflows
        where project_id = ${projectId} and queue_id = ${queueId}
      ), 0)::integer as "passedOver"
    from (
      select state, state = 'open' and ${isHeld(sql, projectId)} as is_held
      from annotation_items as item
      where project_id = ${projectId} and queue_id = ${queueId}
    ) as items`;
  return row ?? { pending: 0, claimed: 0, completed: 0, passedOver: 0 };
}

/** Returns the number of open events of a queue, and of all, removed ones included. */
export async function countRoom(
  sql: Sql,
  { projectId, queueId }: QueueKey,
): Promise<{ readonly open: number; readonly all: number }> {
  // Two counts, so that each reads an index alone.
  const [row] = await sql<{ open: number; all: number }[]>`
    select
      (select count(*)
        from annotation_items
        where project_id = ${projectId} and queue_id = ${queueId} and state = 'open'
      )::integer as open,
      (select count(*)
        from annotation_items
        where project_id = ${projectId} and queue_id = ${queueId}
      )::integer as all`;
  return row ?? { open: 0, all: 0 };
}

/** Counts matching events that did not come in. */
export async function addPassedOver(
  sql: Sql,
  { projectId, queueId }: QueueKey,
  events: number,
): Promise<void> {
  await sql`
    insert into annotation_overflows as held (project_id, queue_id, events)
    values (${projectId}, ${queueId}, ${events})
    on conflict (project_id, queue_id) do update set events = held.events + excluded.events`;
}
