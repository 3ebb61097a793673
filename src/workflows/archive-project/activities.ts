// What the workflow that archives a project does, in steps that may be cut off anywhere. Called by
// workflow.ts through Temporal.

import type { Keys } from "../../access/keys/keys.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Archives } from "../../controlplane/scopes/archive.ts";
import type { Scopes } from "../../controlplane/scopes/scopes.ts";
import { lastingWorkflowTypes } from "../../outbox/entry.ts";
import type { ArchiveInput } from "../../outbox/entry.ts";
import type { EventArchive, EventCounts, ProjectPlace } from "../../tracing/archive/archive.ts";
import { isRetry, stopSignal, toActivities } from "../activity.ts";
import { isAboutSearchAttributes } from "../client.ts";
import type { WorkflowClient } from "../client.ts";

export type ArchiveActivitiesOptions = {
  readonly archives: Pick<Archives, "markArchived" | "listChildren">;
  readonly keys: Pick<Keys, "revokeInside">;
  readonly scopes: Pick<Scopes, "listProjects">;
  readonly eventArchive: EventArchive;
  readonly client: Pick<WorkflowClient, "listRunning" | "cancel" | "terminate" | "getState">;
};

/** An archived scope and who archived it. */
export type ArchivedScope = Pick<ArchiveInput, "level" | "id" | "actor">;

/** `isEnd` when there was nothing more to move. */
export type MoveStep = { readonly left: number; readonly isEnd: boolean };

const keysPerStepMax = 500;
/** After so much the workflow is told, so that its progress can be asked for. */
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
    /** Marks a scope that its parent's archiving did not mark; written to the audit log once. */
    markArchived: ({ level, id, actor }: ArchivedScope): Promise<void> =>
      archives.markArchived(level, id, actor),

    /** Revokes every key that is rooted at a scope or inside it; returns how many there were. */
    async revokeKeys({ level, id, actor }: ArchivedScope): Promise<number> {
      for (let revoked = 0; ;) {
        const step = await keys.revokeInside(level, id, actor, keysPerStepMax);
        if (step === 0) return revoked;
        revoked += step;
        stopSignal().throwIfAborted();
      }
    },

    /** Asks what runs on a project to end, or ends it by force; returns how many it found. */
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

    /** Moves events for a while; returns how many are left of those that the caller knew of. */
    async moveEvents(projectId: string, leftBefore: number): Promise<MoveStep> {
      const place = await placeOf(projectId);
      // What an attempt before this one has moved, nobody was told.
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

    /** Deletes what was derived from the events. */
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
    // A namespace without our attributes: nothing can be found by its scope.
    if (isAboutSearchAttributes(error)) return [];
    throw error;
  }
}
