// Activities for archiving a project; each may be interrupted at any point and retried.

import type { Keys } from "../../access/keys/keys.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Archives } from "../../controlplane/scopes/archive.ts";
import type { Scopes } from "../../controlplane/scopes/scopes.ts";
import { type ArchiveInput, lastingWorkflowTypes } from "../../outbox/entry.ts";
import type { EventArchive, EventCounts, ProjectPlace } from "../../tracing/archive/archive.ts";
import { isRetry, stopSignal, toActivities } from "../activity.ts";
import { isAboutSearchAttributes, type WorkflowClient } from "../client.ts";

export type ArchiveActivitiesOptions = {
  readonly archives: Pick<Archives, "markArchived" | "listChildren">;
  readonly keys: Pick<Keys, "revokeInside">;
  readonly scopes: Pick<Scopes, "listProjects">;
  readonly eventArchive: EventArchive;
  readonly client: Pick<WorkflowClient, "listRunning" | "cancel" | "terminate" | "getState">;
};

/** Archived scope with the actor that archived it. */
export type ArchivedScope = Pick<ArchiveInput, "level" | "id" | "actor">;

/** Result of a step; `isEnd` if no events were left to move. */
export type MoveStep = { readonly left: number; readonly isEnd: boolean };

const keysPerStepMax = 500;
/**
 * Maximum events of one activity; at its end the workflow, which answers queries, gets progress.
 */
const eventsPerActivityMax = 5_000;
const activityMs = 5_000;
const workflowsPerStepMax = 100;

export function createArchiveProjectActivities(options: ArchiveActivitiesOptions) {
  const { archives, keys, scopes, eventArchive, client } = options;

  async function placeOf(projectId: string): Promise<ProjectPlace> {
    const [place] = await scopes.listProjects("project", projectId, { limit: 1 });
    if (!place) throw new ServiceError("NOT_FOUND", `there is no project ${projectId}`);
    return place;
  }

  return toActivities({
    /** Marks a scope that was not marked by archiving its parent; audited once. */
    markArchived: ({ level, id, actor }: ArchivedScope): Promise<void> =>
      archives.markArchived(level, id, actor),

    /** Revokes every key with its root at a scope or inside it; returns their number. */
    async revokeKeys({ level, id, actor }: ArchivedScope): Promise<number> {
      for (let revoked = 0; ;) {
        const step = await keys.revokeInside(level, id, actor, keysPerStepMax);
        if (step === 0) return revoked;
        revoked += step;
        stopSignal().throwIfAborted();
      }
    },

    /** Cancels or terminates the workflows that run on a project; returns their number. */
    async stopRunning(projectId: string, how: "cancel" | "terminate"): Promise<number> {
      const ids = await listRunning(client, projectId);
      for (const id of ids) {
        if (how === "cancel") await client.cancel(id);
        else await client.terminate(id, "its project is archived");
      }
      return ids.length;
    },

    countEvents: async (projectId: string): Promise<EventCounts> =>
      eventArchive.countEvents([await placeOf(projectId)]),

    /** Moves events for a limited time; returns how many of the known ones are left. */
    async moveEvents(projectId: string, leftBefore: number): Promise<MoveStep> {
      const place = await placeOf(projectId);
      // The workflow does not know what an earlier attempt has moved.
      let left = isRetry() ? (await eventArchive.countEvents([place])).left : leftBefore;
      const deadline = Date.now() + activityMs;
      for (let moved = 0; moved < eventsPerActivityMax && Date.now() < deadline;) {
        const step = await eventArchive.moveSome(place);
        if (step === 0) return { left: 0, isEnd: true };
        moved += step;
        left = Math.max(0, left - step);
        stopSignal().throwIfAborted();
      }
      return { left, isEnd: false };
    },

    /** Deletes data derived from the events. */
    async deleteDerived(projectId: string): Promise<void> {
      const place = await placeOf(projectId);
      while ((await eventArchive.deleteSomeDerived(place)) > 0) stopSignal().throwIfAborted();
    },
  });
}

async function listRunning(
  client: ArchiveActivitiesOptions["client"],
  projectId: string,
): Promise<readonly string[]> {
  try {
    const limit = workflowsPerStepMax;
    return await client.listRunning(projectId, { exceptTypes: lastingWorkflowTypes, limit });
  } catch (error) {
    // The namespace lacks our search attributes: no workflow can be found by its scope.
    if (isAboutSearchAttributes(error)) return [];
    throw error;
  }
}
