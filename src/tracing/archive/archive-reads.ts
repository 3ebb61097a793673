// How much of archived projects is left to move, within bounds, for people who wait for the answer.
// Source: docs/decisions.md, 58.2.

import type { Database } from "../../postgres/database.ts";
import type { EventCounts, ProjectPlace } from "./archive.ts";
import * as store from "./store.ts";

export type ArchiveReads = {
  /** Returns the number of projects that have events or data derived from events. */
  countUnfinished(places: readonly ProjectPlace[], owner: string): Promise<number>;
  /** Counts the events of projects, each count up to `max` on each cluster. */
  countSome(
    places: readonly ProjectPlace[],
    options: { readonly max: number; readonly owner: string },
  ): Promise<EventCounts>;
};

export function createArchiveReads(databaseOf: (clusterId: string) => Database): ArchiveReads {
  return {
    async countUnfinished(places, owner) {
      let unfinished = 0;
      for (const [reads, projectIds] of groupsOf(places, databaseOf)) {
        unfinished += await reads.inTurn((sql) => store.countUnfinished(sql, projectIds), {
          owner,
        });
      }
      return unfinished;
    },

    async countSome(places, { max, owner }) {
      const counts = { done: 0, left: 0 };
      for (const [reads, projectIds] of groupsOf(places, databaseOf)) {
        const some = await reads.inTurn((sql) => store.countSomeEvents(sql, projectIds, max), {
          owner,
        });
        counts.done += some.done;
        counts.left += some.left;
      }
      return counts;
    },
  };
}

function groupsOf(
  places: readonly ProjectPlace[],
  databaseOf: (clusterId: string) => Database,
): readonly (readonly [reads: Database, projectIds: readonly string[]])[] {
  return [...Map.groupBy(places, ({ clusterId }) => clusterId)].map(([clusterId, group]) => [
    databaseOf(clusterId).on("reads"),
    group.map(({ projectId }) => projectId),
  ]);
}
