// What waits for evaluators, for operators: the figures of `/metrics`. Made by evaluation.ts.

import type { Clusters } from "../../postgres/clusters.ts";
import * as queueStore from "./queue-store.ts";

/** What waits in all clusters that answer. */
export type QueueStats = {
  /** Of what waits longest; 0 when nothing waits. */
  readonly oldestQueuedAgeSeconds: number;
  /** Events that wait to be looked at, and runs that wait. */
  readonly queuedEvents: number;
};

/** Returns what counts what waits. */
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
