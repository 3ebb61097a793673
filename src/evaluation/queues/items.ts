// The events of annotation queues: those that match, those that people put in, and their lists.
// Source: docs/queues.md; docs/decisions.md, 45.1.

import type { ProjectRef } from "../../access/scope.ts";
import { parseChoice } from "../../base/choices.ts";
import { refuse } from "../../base/errors.ts";
import {
  formatKeyCursor,
  type Page,
  type PageRequest,
  parseKeyCursor,
  parsePageLimit,
  parseSequence,
  toPageBy,
} from "../../base/pages.ts";
import { itemsOfCallMax, itemsOfQueueMax, openItemsOfQueueMax } from "../../base/tenant-limits.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Sql } from "../../postgres/database.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import * as store from "./item-store.ts";
import type { ItemCounts, ItemRow, ItemState } from "./item-store.ts";
import { listReviews, type ReviewRow } from "./review-store.ts";

/** An event of a queue with its reviews and claims. */
export type QueueItem = ItemRow & { readonly reviews: readonly ReviewRow[] };

export type ItemsRequest = PageRequest & { readonly state?: string | undefined };

/** Every method acts on a queue that the project has. */
export type QueueItems = {
  /**
   * Puts events in that match, which are held; those that are in or were removed stay as they are.
   * A full queue counts them and does not take them. Joins the caller's transaction.
   */
  addMatching(project: ProjectRef, queueId: string, eventIds: readonly string[]): Promise<void>;
  /**
   * Puts events in, removed ones again; returns how many were not in. Throws INVALID_ARGUMENT
   * naming the field for an event that does not exist, and for more events than the queue has room
   * for.
   */
  add(
    project: ProjectRef,
    queueId: string,
    added: { readonly eventIds: readonly string[]; readonly field: string },
  ): Promise<number>;
  /** Removes events and returns how many were in; events outside the queue are not an error. */
  remove(project: ProjectRef, queueId: string, eventIds: readonly string[]): Promise<number>;
  /** Completes the open events that have a number of reviews. */
  completeReviewed(project: ProjectRef, queueId: string, reviewers: number): Promise<void>;
  /** Deletes open events and claims. */
  deleteOpen(project: ProjectRef, queueId: string): Promise<void>;
  /** Returns events in the order in which they came. INVALID_ARGUMENT names a wrong option. */
  list(project: ProjectRef, queueId: string, request: ItemsRequest): Promise<Page<QueueItem>>;
  count(project: ProjectRef, queueId: string): Promise<ItemCounts>;
};

export type QueueItemsOptions = {
  readonly clusters: Pick<Clusters, "database">;
  readonly tracingOf: TracingOf;
};

export function createQueueItems({ clusters, tracingOf }: QueueItemsOptions): QueueItems {
  const databaseOf = ({ clusterId }: ProjectRef) => clusters.database(clusterId);

  return {
    async addMatching(project, queueId, eventIds) {
      const { projectId } = project;
      const key = { projectId, queueId };
      await databaseOf(project).transaction(async (sql) => {
        const known = await store.findKnown(sql, key, eventIds);
        if (eventIds.every((id) => known.has(id))) return;
        await store.lockQueue(sql, key);
        const { added, room } = await toNew(sql, key, eventIds, () => false);
        await store.insertItems(sql, key, added.slice(0, room));
        if (added.length > room) await store.addPassedOver(sql, key, added.length - room);
      });
    },

    async add(project, queueId, { eventIds, field }) {
      const { projectId } = project;
      const key = { projectId, queueId };
      const wanted = [...new Set(eventIds)];
      assertFew(field, eventIds);
      if (wanted.length === 0) return 0;
      return databaseOf(project).transaction(
        async (sql) => {
          const held = await tracingOf(project).metrics.hold(projectId, wanted);
          eventIds.forEach((id, index) => {
            if (!held.has(id)) refuse(`${field}[${index}]`, "the project has no such event");
          });
          await store.lockQueue(sql, key);
          const { added, room } = await toNew(sql, key, wanted, (isRemoved) => isRemoved);
          if (added.length > room) refuse(field, `the queue has room for ${room} more events`);
          return store.insertItems(sql, key, added);
        },
        { owner: projectId },
      );
    },

    async remove(project, queueId, eventIds) {
      const key = { projectId: project.projectId, queueId };
      assertFew("remove_event_ids", eventIds);
      if (eventIds.length === 0) return 0;
      return databaseOf(project).transaction(async (sql) => {
        await store.lockQueue(sql, key);
        return store.removeItems(sql, key, eventIds);
      });
    },

    async completeReviewed({ projectId, clusterId }, queueId, reviewers) {
      const key = { projectId, queueId };
      await clusters.database(clusterId).transaction(async (sql) => {
        await store.lockQueue(sql, key);
        await store.completeReviewed(sql, key, reviewers);
      });
    },

    async deleteOpen({ projectId, clusterId }, queueId) {
      const key = { projectId, queueId };
      await clusters.database(clusterId).transaction(async (sql) => {
        await store.lockQueue(sql, key);
        await store.deleteOpen(sql, key);
      });
    },

    async list(project, queueId, { state: stateAsked, limit: limitAsked, cursor }) {
      const key = { projectId: project.projectId, queueId };
      const limit = parsePageLimit(limitAsked);
      const page = {
        limit,
        state: stateAsked === undefined ? undefined : parseState(stateAsked),
        after:
          cursor === undefined ? undefined : parseKeyCursor("queue-items", cursor, parseSequence),
      };
      return databaseOf(project)
        .on("reads")
        .inTurn(async (sql) => {
          const rows = await store.listItems(sql, key, page);
          const cut = toPageBy(rows, limit, ({ position }) =>
            formatKeyCursor("queue-items", position),
          );
          return { ...cut, items: await withReviews(sql, key, cut.items) };
        });
    },

    count: (project, queueId) =>
      databaseOf(project)
        .on("reads")
        .inTurn((sql) => store.countItems(sql, { projectId: project.projectId, queueId })),
  };
}

/** Adds the reviews of items. */
export async function withReviews(
  sql: Sql,
  key: store.QueueKey,
  items: readonly ItemRow[],
): Promise<readonly QueueItem[]> {
  const ids = items.map(({ eventId }) => eventId);
  const reviews = Map.groupBy(await listReviews(sql, key, ids), ({ eventId }) => eventId);
  return items.map((item) => ({ ...item, reviews: reviews.get(item.eventId) ?? [] }));
}

/** Returns the events that are not in the queue yet, and the room for them. */
async function toNew(
  sql: Sql,
  key: store.QueueKey,
  eventIds: readonly string[],
  isTakenBack: (isRemoved: boolean) => boolean,
): Promise<{ readonly added: readonly string[]; readonly room: number }> {
  const known = await store.findKnown(sql, key, eventIds);
  const { open, all } = await store.countRoom(sql, key);
  const added = eventIds.filter(
    (id) => !known.has(id) || isTakenBack(known.get(id)?.isRemoved ?? false),
  );
  return {
    added,
    room: Math.max(0, Math.min(openItemsOfQueueMax - open, itemsOfQueueMax - all)),
  };
}

function assertFew(field: string, eventIds: readonly string[]): void {
  if (eventIds.length <= itemsOfCallMax) return;
  refuse(field, `a call adds or removes at most ${itemsOfCallMax} events`);
}

function parseState(text: string): ItemState {
  return parseChoice("state", store.itemStates, text);
}
