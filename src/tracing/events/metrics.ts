// Metrics that the service itself gives to events: merged by the law of buckets, without reading or
// writing other parts of the event, however large. Source: docs/decisions.md, 6, 17, 24.1.

import type { ProjectId } from "../../base/ids.ts";
import type { Database } from "../../postgres/database.ts";
import type { FieldCatalogue } from "../fields/fields.ts";
import type { EventType } from "./event.ts";
import { listByStart, lockTypes, mergeMetrics, type MetricsMerge } from "./store.ts";

export type { MetricsMerge };

/**
 * Metrics of a project's events. Locks and merges throw outside a transaction, because metrics and
 * their scores are committed together.
 */
export type EventMetrics = {
  /** Returns the existing events of some ids, by start time. */
  inOrder(projectId: ProjectId, eventIds: readonly string[]): Promise<readonly string[]>;
  /** Returns the existing events of some ids; none is deleted until the transaction ends. */
  hold(projectId: ProjectId, eventIds: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Locks events against changes until the transaction ends; returns the types of existing ones.
   */
  lock(projectId: ProjectId, eventIds: readonly string[]): Promise<ReadonlyMap<string, EventType>>;
  /**
   * Merges metrics into events that `lock` has returned; each id at most once. `OnWritten`
   * (write-set.ts) is not called, and totals do not change.
   */
  merge(
    projectId: ProjectId,
    types: ReadonlyMap<string, EventType>,
    merges: readonly MetricsMerge[],
  ): Promise<void>;
};

export type EventMetricsOptions = {
  readonly database: Database;
  readonly fields: Pick<FieldCatalogue, "unseen" | "record" | "confirm">;
};

export function createEventMetrics({ database, fields }: EventMetricsOptions): EventMetrics {
  function assertTransaction(): void {
    if (!database.isInTransaction()) throw new Error("metrics of events outside a transaction");
  }

  return {
    inOrder: (projectId, eventIds) => listByStart(database.sql(), projectId, eventIds),

    async hold(projectId, eventIds) {
      assertTransaction();
      return new Set((await lockTypes(database.sql(), projectId, eventIds, "deletion")).keys());
    },

    async lock(projectId, eventIds) {
      assertTransaction();
      return lockTypes(database.sql(), projectId, eventIds);
    },

    async merge(projectId, types, merges) {
      assertTransaction();
      if (merges.length === 0) return;
      await mergeMetrics(database.sql(), projectId, merges);
      const sightings = merges.flatMap(({ eventId, metrics }) => {
        const event_type = types.get(eventId);
        return event_type ? fields.unseen(projectId, { event_type, metrics, start_time: 0 }) : [];
      });
      if (sightings.length === 0) return;
      await fields.record(database.sql(), projectId, sightings);
      database.afterCommit(() => fields.confirm(sightings));
    },
  };
}
