// Puts the events of an archived project into the archive, in steps that can be cut off anywhere.
// Called by the activities of workflows/archive-project and archive-scope.
// Source: docs/decisions.md, 29.

import type { Database } from "../../postgres/database.ts";
import * as store from "./store.ts";

/** A project and the cluster that holds its events. */
export type ProjectPlace = { readonly projectId: string; readonly clusterId: string };

/** Events that are in the archive, and those that are still to go there. */
export type EventCounts = { readonly done: number; readonly left: number };

export type EventArchive = {
  /**
   * Moves some events of a project; returns how many, 0 when none was left. Each is in one place at
   * any time, so a step that was cut off is simply taken again.
   */
  moveSome(place: ProjectPlace): Promise<number>;
  /** Deletes some of what was derived from the events; returns how many rows, 0 at the end. */
  deleteSomeDerived(place: ProjectPlace): Promise<number>;
  /** Counts over projects, which may be in several clusters. */
  countEvents(places: readonly ProjectPlace[]): Promise<EventCounts>;
};

/** Of usual events, half a second of work; of the largest, a few. */
const step = { limit: 2_000, bytes: 16_000_000 };
const start = "";
/** Projects that are moved side by side, and more; of another the step begins at the start. */
const placesMax = 1_000;
/** Narrow rows. */
const derivedPerStepMax = 10_000;

export function createEventArchive(databaseOf: (clusterId: string) => Database): EventArchive {
  const sqlOf = ({ clusterId }: ProjectPlace) => databaseOf(clusterId).sql();
  // Before it there is nothing but what Postgres has not cleared away yet, which each step would
  // read over again, for as long as any old transaction may see it.
  const reached = new Map<string, string>();

  async function moveAfter(place: ProjectPlace, after: string): Promise<number> {
    const { projectId } = place;
    const { moved, last } = await store.moveEvents(sqlOf(place), projectId, { ...step, after });
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
      // What was written meanwhile may stand before it.
      return moved > 0 || after === start ? moved : moveAfter(place, start);
    },

    // Totals of sessions and the catalogue of fields say nothing that the archived events do not,
    // and nobody can read them any more: they would only weigh on everyone's indexes.
    async deleteSomeDerived(place) {
      const totals = await store.deleteTotals(sqlOf(place), place.projectId, derivedPerStepMax);
      if (totals > 0) return totals;
      return store.deleteFields(sqlOf(place), place.projectId, derivedPerStepMax);
    },

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
