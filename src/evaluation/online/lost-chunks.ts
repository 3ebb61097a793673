// Finds chunks whose workflow has ended without them: an operator may end any workflow, and a
// Temporal may lose its data. What such a chunk still had to run is queued again. Called by
// dispatcher.ts; the chunks of backfills are the backfills' own.

import type { Logger } from "../../base/logger.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Scores } from "../scores/scores.ts";
import * as chunkStore from "./chunk-store.ts";

export type LostChunksOptions = {
  readonly clusters: Pick<Clusters, "database">;
  readonly scores: Pick<Scores, "endChunk" | "touchChunk">;
  readonly client: {
    getState(workflowId: string): Promise<"running" | "completed" | "failed" | "absent">;
  };
  readonly logger: Pick<Logger, "warn">;
  /** Without movement for so long a chunk is asked after; longer than any event takes. */
  readonly stillMs?: number;
};

const stillMsDefault = 120_000;
const chunksMax = 100;

export function createLostChunks(options: LostChunksOptions) {
  const { clusters, scores, client, logger, stillMs = stillMsDefault } = options;

  return {
    /**
     * Ends the lost chunks of a cluster; returns how many. Fails while Temporal does not answer.
     */
    async endLost(clusterId: string): Promise<number> {
      const sql = clusters.database(clusterId).sql();
      let ended = 0;
      for (const { projectId, chunkId, workflowId } of await chunkStore.listStill(
        sql,
        stillMs,
        chunksMax,
      )) {
        const state = await client.getState(workflowId);
        if (state === "running") {
          // At the end of the line, so that others are asked after, too.
          await scores.touchChunk({ projectId, clusterId }, chunkId);
          continue;
        }
        await scores.endChunk({ projectId, clusterId }, chunkId, "requeue");
        logger.warn({ workflowId, state }, "a chunk was lost with its workflow; it runs again");
        ended += 1;
      }
      return ended;
    },
  };
}
