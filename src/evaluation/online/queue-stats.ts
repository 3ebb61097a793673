// Waiting work of evaluators, for operators: the figures of `/metrics`.

import type { Clusters } from "../../postgres/clusters.ts";
import * as queueStore from "./queue-store.ts";

/** Waiting work in all clusters that are up. */
export type QueueStats = {
  /** Age of the oldest waiting work; 0 if nothing waits. */
  readonly oldestQueuedAgeSeconds: number;
  /** Number of waiting events and waiting runs. */
  readonly queuedEvents: number;
};

/** Returns a function that sums up the waiting work. */
export function createQueueStats(
  clusters: Pick<Clusters, "ids" | "database" | "away">,
): () => Promise<QueueStats> {
  return async () => {
    const away = clusters.away();
    const answering = clusters.ids().filter((id) => !away.includes(id));
    const sums = await Promise.all(
      answering.map((id) => queueStore.sumWaiting(clusters.database(id).sql())),
    );
    return {
      oldestQueuedAgeSeconds: Math.max(0, ...sums.map(({ ageSeconds }) => ageSeconds)),
      queuedEvents: sums.reduce((total, { events, runs }) => total + events + runs, 0),
    };
  };
}
