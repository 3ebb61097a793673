// What the workflows that archive organizations, data planes and workspaces look up. Called by
// workflow.ts through Temporal.

import type { ArchiveInput } from "../../outbox/entry.ts";
import { toActivities, withHeartbeats } from "../activity.ts";
import type { ArchiveActivitiesOptions } from "../archive-project/activities.ts";
import type { WorkflowState } from "../client.ts";
import { setTimeout as delay } from "node:timers/promises";

type Scope = Pick<ArchiveInput, "level" | "id">;

export type Child = Pick<ArchiveInput, "level" | "id" | "name">;

/** What is inside a scope, and how much of it is archived. */
export type InsideCounts = {
  readonly projects: number;
  readonly done: number;
  readonly left: number;
};

const childrenPerPage = 50;
const projectsPerPage = 500;
const waitPollMs = 2_000;

export function createArchiveScopeActivities(options: ArchiveActivitiesOptions) {
  const { archives, scopes, eventArchive, client } = options;
  return toActivities({
    /** Returns a page of what is directly inside a scope, in order of id; an empty one at the end. */
    async listChildren({ level, id }: Scope, afterId?: string): Promise<readonly Child[]> {
      return archives.listChildren(level, id, afterId, childrenPerPage);
    },

    /** Counts the projects inside a scope, and their events. */
    countInside: ({ level, id }: Scope): Promise<InsideCounts> =>
      withHeartbeats(async (signal) => {
        const counts = { projects: 0, done: 0, left: 0 };
        for (let afterId: string | undefined; ;) {
          const page = await scopes.listProjects(level, id, { afterId, limit: projectsPerPage });
          const { done, left } = await eventArchive.countEvents(page);
          counts.projects += page.length;
          counts.done += done;
          counts.left += left;
          afterId = page.at(-1)?.projectId;
          if (page.length < projectsPerPage) return counts;
          signal.throwIfAborted();
        }
      }),

    /** Waits for the end of a workflow that somebody else has started. */
    waitForWorkflow: (workflowId: string): Promise<WorkflowState> =>
      withHeartbeats(async (signal) => {
        for (;;) {
          const state = await client.getState(workflowId);
          if (state !== "running") return state;
          await delay(waitPollMs, undefined, { signal });
        }
      }),
  });
}
