// Moves the events of an archived project to the archive, in steps that may be interrupted
// anywhere.
// Source: docs/decisions.md, 29.

import type { Database } from "../../postgres/database.ts";
import * as store from "./store.ts";

/** A project and the cluster that holds its events. */
export type ProjectPlace = { readonly projectId: string; readonly clusterId: string };

/** Number of archived events, and of events still to archive. */
export type EventCounts = { readonly done: number; readonly left: number };

export type EventArchive = {
  /**
   * Moves some events of a project; returns how many, 0 if none was left. Each event is in exactly
   * one place at any time, so an interrupted step is simply repeated.
   */
  moveSome(place: ProjectPlace): Promise<number>;
  /** Deletes some data derived from the events; returns the number of rows, 0 at the end. */
  deleteSomeDerived(place: ProjectPlace): Promise<number>;
  /** Counts the events of projects, which may be on several clusters. */
  countEvents(places: readonly ProjectPlace[]): Promise<EventCounts>;
};

/** Size of a step: half a second of work for usual events, a few seconds for the largest. */
const step = { limit: 2_000, bytes: 16_000_000 };
const start = "";
/** Maximum projects with a remembered position. The steps of other projects begin at the start. */
const placesMax = 1_000;
/** Maximum derived rows deleted in a step; the rows are narrow. */
const derivedPerStepMax = 10_000;

export function createEventArchive(databaseOf: (clusterId: string) => Database): EventArchive {
  const sqlOf = ({ clusterId }: ProjectPlace) => databaseOf(clusterId).sql();
  // Before the remembered position there are only dead rows that Postgres has not vacuumed. Each
  // step would read them again, as long as an old transaction may see them.
  const reached = new Map<string, string>();

  async function moveAfter(place: ProjectPlace, after: string): Promise<number> {
    const { projectId } = place;
    const { moved, last } = await databaseOf(place.clusterId).transaction((sql) =>
      store.moveEvents(sql, projectId, { ...step, after }),
    );
    reached.delete(projectId);
    if (last !== null) reached.set(projectId, last);
    for (const oldest of reached.keys()) {
      if (reached.size <= placesMax) break;
      reached.delete(oldest);
    }
    return moved;
  }

  return {
    async moveSome(place) {
      const after = reached.get(place.projectId) ?? start;
      const moved = await moveAfter(place, after);
      // Late writes may lie before the position.
      return moved > 0 || after === start ? moved : moveAfter(place, start);
    },

    // Session totals, marks of hours and the field catalogue add nothing to the archived events
    // and are unreachable; keeping them would only enlarge the shared indexes.
    deleteSomeDerived: (place) =>
      store.deleteDerived(sqlOf(place), place.projectId, derivedPerStepMax),

    async countEvents(places) {
      const counts = { done: 0, left: 0 };
      for (const [clusterId, group] of Map.groupBy(places, (place) => place.clusterId)) {
        const projectIds = group.map(({ projectId }) => projectId);
        const { done, left } = await databaseOf(clusterId).transaction((sql) =>
          store.countEvents(sql, projectIds),
        );
        counts.done += done;
        counts.left += left;
      }
      return counts;
    },
  };
}
