// Watches for work whose workflow was ended from outside, so that none stays running for ever.
// Every worker runs the watch; concurrent watches are safe.
// Source: docs/evaluators.md, "Backfills"; docs/experiments.md, "Execution".

import type { Logger } from "../base/logger.ts";

export type WorkflowWatchOptions = {
  /** Queries Temporal about a workflow. */
  readonly client: {
    getState(workflowId: string): Promise<"running" | "completed" | "failed" | "absent">;
  };
  readonly logger: Pick<Logger, "info">;
  /** Time without movement after which Temporal is asked; a slow model may take longer. */
  readonly stillMs?: number;
};

/** Work with a workflow of its own. */
export type WatchedWork<Row> = {
  /** Noun for the log. */
  readonly noun: string;
  /** Returns work that has not moved for a time, the longest first. */
  listStill(stillMs: number, limit: number): Promise<readonly Row[]>;
  /** Records that the work is making progress. */
  touch(row: Row): Promise<void>;
  /** Has another workflow started. */
  restart(row: Row): Promise<void>;
  /** Ends the work. */
  end(row: Row): Promise<void>;
};

/**
 * Short, so that work whose workflow is lost goes on soon: asking costs one call, and work whose
 * workflow runs is left alone.
 */
export const stillMsDefault = 30_000;
/** Maximum works per turn; the others wait for the next turn. */
const worksPerTurnMax = 100;

/** Checks all works of a kind that have not moved for some time. */
export async function watchWorkflows<Row extends { readonly workflowId: string }>(
  { client, logger, stillMs = stillMsDefault }: WorkflowWatchOptions,
  { noun, ...work }: WatchedWork<Row>,
): Promise<void> {
  for (const row of await work.listStill(stillMs, worksPerTurnMax)) {
    const { workflowId } = row;
    const state = await client.getState(workflowId);
    if (state === "running") {
      await work.touch(row);
    } else if (state === "absent") {
      logger.info(
        { workflowId },
        `Temporal does not know the workflow of a ${noun}; another starts`,
      );
      await work.restart(row);
    } else {
      logger.info({ workflowId }, `the workflow of a ${noun} was ended; the ${noun} ends with it`);
      await work.end(row);
    }
  }
}
