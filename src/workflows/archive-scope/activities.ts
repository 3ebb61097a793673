// Activities of the workflows that archive organizations, data planes and workspaces.

import { setTimeout as delay } from "node:timers/promises";
import type { ArchiveInput } from "../../outbox/entry.ts";
import { stopSignal, toActivities } from "../activity.ts";
import type { ArchiveActivitiesOptions } from "../archive-project/activities.ts";
import type { WorkflowState } from "../client.ts";

type Scope = Pick<ArchiveInput, "level" | "id">;

export type Child = Pick<ArchiveInput, "level" | "id" | "name">;

/** Number of projects inside a scope, and of their events that are archived or left. */
export type InsideCounts = {
  readonly projects: number;
  readonly done: number;
  readonly left: number;
};

const childrenPerPage = 50;
const projectsPerPage = 500;
const waitPollMs = 2_000;
/** Well below the time-out of an activity; the workflow calls it again. */
const waitMs = 120_000;

export function createArchiveScopeActivities(options: ArchiveActivitiesOptions) {
  const { archives, scopes, eventArchive, client } = options;
  return toActivities({
    /** Returns a page of the direct children of a scope, by id; empty at the end. */
    async listChildren({ level, id }: Scope, afterId?: string): Promise<readonly Child[]> {
      return archives.listChildren(level, id, afterId, childrenPerPage);
    },

    /** Counts the projects inside a scope and their events. */
    async countInside({ level, id }: Scope): Promise<InsideCounts> {
      const counts = { projects: 0, done: 0, left: 0 };
      let afterId: string | undefined;
      for (;;) {
        const page = await scopes.listProjects(level, id, { afterId, limit: projectsPerPage });
        const { done, left } = await eventArchive.countEvents(page);
        counts.projects += page.length;
        counts.done += done;
        counts.left += left;
        afterId = page.at(-1)?.projectId;
        if (page.length < projectsPerPage) return counts;
        stopSignal().throwIfAborted();
      }
    },

    /** Waits for a limited time until a workflow that was started elsewhere ends. */
    async waitForWorkflow(workflowId: string): Promise<WorkflowState> {
      const deadline = Date.now() + waitMs;
      for (;;) {
        const state = await client.getState(workflowId);
        if (state !== "running" || Date.now() > deadline) return state;
        await delay(waitPollMs, undefined, { signal: stopSignal() });
      }
    },
  });
}
