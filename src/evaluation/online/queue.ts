// The evaluation queue: written events to route, to evaluators and into annotation queues. Filled
// in the commit of the events, so that none is lost. Costs ingestion one small statement per
// commit, and nothing if no evaluator and no annotation queue may take them.
// Source: docs/evaluators.md; docs/decisions.md, 22.2.

import type { ProjectScope } from "../../access/scope.ts";
import { createUuid, type ProjectId } from "../../base/ids.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Sql } from "../../postgres/database.ts";
import type { WrittenEvent, WrittenListener } from "../../tracing/events/write-set.ts";
import type { Scores } from "../scores/scores.ts";
import { isNeverEvaluated } from "./conditions.ts";
import * as queueStore from "./queue-store.ts";

/** Waiting work in all clusters that are up. */
export type QueueStats = {
  /** Age of the oldest waiting work; 0 if nothing waits. */
  readonly oldestQueuedAgeSeconds: number;
  /** Number of waiting events and waiting runs. */
  readonly queuedEvents: number;
};

export type EvaluationQueue = WrittenListener & {
  /** Adds stored events in a transaction, so that they are looked at once more. */
  addAgain(sql: Sql, project: ProjectScope, eventIds: readonly string[]): Promise<void>;
  /** Returns the time since which an event waits to be routed; undefined if it does not wait. */
  waitsSince(project: ProjectScope, eventId: string): Promise<Date | undefined>;
  /** Returns how many of the events wait to be routed. */
  countWaiting(project: ProjectScope, eventIds: readonly string[]): Promise<number>;
  stats(): Promise<QueueStats>;
};

export type EvaluationQueueOptions = {
  readonly clusters: Pick<Clusters, "ids" | "database" | "away">;
  /** Metrics and annotation queues. */
  readonly takers: readonly {
    /** Returns false only if certainly none of the project takes new events. */
    mayHaveEnabled(projectId: ProjectId): boolean;
  }[];
  readonly scores: Pick<Scores, "sumQueued">;
};

/** Maximum events of one row; a router takes whole rows. */
const eventsPerRowMax = 1_000;

export function createEvaluationQueue(options: EvaluationQueueOptions): EvaluationQueue {
  const { clusters, takers, scores } = options;
  // Asks all of them, so that each begins to look up a project that it does not know.
  const mayTake = (projectId: string): boolean =>
    takers.map((taker) => taker.mayHaveEnabled(projectId as ProjectId)).includes(true);

  function rowsOf(written: readonly WrittenEvent[]): queueStore.QueueRow[] {
    const rows: queueStore.QueueRow[] = [];
    for (const [projectId, events] of Map.groupBy(written, (event) => event.projectId)) {
      if (!mayTake(projectId)) continue;
      const routed = events.filter(({ after }) => !isNeverEvaluated(after.source));
      const eventIds = routed.map(({ after }) => after.event_id);
      rows.push(...toRows(projectId, eventIds));
    }
    return rows;
  }

  return {
    wants: mayTake,
    queuedOf: (written) => rowsOf(written).map(queueStore.toQueuedRow),

    async onWritten(sql, written) {
      const rows = rowsOf(written);
      if (rows.length > 0) await queueStore.insertQueueRows(sql, rows);
    },

    async addAgain(sql, { projectId }, eventIds) {
      if (eventIds.length === 0 || !mayTake(projectId)) return;
      await queueStore.insertQueueRows(sql, toRows(projectId, eventIds));
    },

    waitsSince: ({ projectId, clusterId }, eventId) =>
      queueStore.findWaitingSince(clusters.database(clusterId).sql(), projectId, eventId),

    countWaiting: ({ projectId, clusterId }, eventIds) =>
      queueStore.countWaiting(clusters.database(clusterId).sql(), projectId, eventIds),

    async stats() {
      const away = clusters.away();
      const answering = clusters.ids().filter((id) => !away.includes(id));
      const sums = await Promise.all(
        answering.flatMap((id) => [
          queueStore.sumWaiting(clusters.database(id).sql()),
          scores.sumQueued(id),
        ]),
      );
      const now = Date.now();
      const ages = sums.map(({ oldest }) => (oldest ? (now - oldest.getTime()) / 1_000 : 0));
      return {
        oldestQueuedAgeSeconds: Math.max(0, ...ages),
        queuedEvents: sums.reduce((total, { count }) => total + count, 0),
      };
    },
  };
}

/** Returns the rows of events, each with at most `eventsPerRowMax` of them. */
function toRows(projectId: string, eventIds: readonly string[]): queueStore.QueueRow[] {
  const rows: queueStore.QueueRow[] = [];
  for (let at = 0; at < eventIds.length; at += eventsPerRowMax) {
    const part = eventIds.slice(at, at + eventsPerRowMax);
    rows.push({ projectId, queueId: createUuid(), eventIds: part });
  }
  return rows;
}
