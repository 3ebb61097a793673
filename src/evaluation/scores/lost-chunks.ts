// Finds chunks whose workflow ended without finishing them: an operator may end any workflow, and
// Temporal may lose its data. Unfinished runs are queued again. Backfills handle their own chunks.

import type { Logger } from "../../base/logger.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import { stillMsDefault } from "../workflow-watch.ts";
import type { Scores } from "./scores.ts";
import * as chunkStore from "./chunk-store.ts";

export type LostChunksOptions = {
  readonly clusters: Pick<Clusters, "database">;
  readonly scores: Pick<Scores, "endChunk" | "touchChunk">;
  readonly client: {
    getState(workflowId: string): Promise<"running" | "completed" | "failed" | "absent">;
  };
  readonly logger: Pick<Logger, "warn">;
  /** Time without progress after which Temporal is asked; an event may take longer. */
  readonly stillMs?: number;
};

const chunksMax = 100;

/** Ends the lost chunks of a cluster. Throws while Temporal does not answer. */
export async function endLostChunks(options: LostChunksOptions, clusterId: string): Promise<void> {
  const { clusters, scores, client, logger, stillMs = stillMsDefault } = options;
  const sql = clusters.database(clusterId).sql();
  const still = await chunkStore.listStill(sql, stillMs, chunksMax);
  for (const { projectId, chunkId, workflowId } of still) {
    const state = await client.getState(workflowId);
    if (state === "running") {
      // Moves the chunk to the end of the queue, so that the others are checked too.
      await scores.touchChunk({ projectId, clusterId }, chunkId);
      continue;
    }
    await scores.endChunk({ projectId, clusterId }, chunkId, "requeue");
    logger.warn({ workflowId, state }, "a chunk was lost with its workflow; it runs again");
  }
}
