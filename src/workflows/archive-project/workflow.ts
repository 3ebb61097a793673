// Archives the contents of an archived project: stops its workflows, revokes its keys, moves its
// events. Started through the outbox, or by the workspace's workflow.
// Source: docs/spec.md, "States and transitions"; docs/decisions.md, 29.

import {
  continueAsNew,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from "@temporalio/workflow";
import { ingestionTimeoutMs } from "../../base/limits.ts";
import type { ArchiveInput } from "../../outbox/entry.ts";
import { activityOptions } from "../activity-options.ts";
import { type Progress, progressQuery } from "../progress.ts";
import { waitForServers } from "../wait-for-servers/workflow.ts";
import type { createArchiveProjectActivities } from "./activities.ts";

type Activities = ReturnType<typeof createArchiveProjectActivities>;

const { markArchived, stopRunning, revokeKeys, countEvents, moveEvents, deleteDerived } =
  proxyActivities<Activities>(activityOptions);

/** Input of a child workflow or of one that continues as new. */
export type ArchiveProjectInput = ArchiveInput & {
  /** True if the parent workflow has already waited until no write is in progress. */
  readonly isQuiet?: boolean;
  /** Progress of the earlier run. */
  readonly moving?: { readonly total: number; readonly left: number };
};

/** Time that a project's workflows have for ending after they are cancelled. */
const stopTimeoutMs = 30_000;
const stopPollMs = 3_000;

/** Archives a project's contents; returns the final progress. */
export async function archiveProject(input: ArchiveProjectInput): Promise<Progress> {
  const { id, changeId, isQuiet = false, moving } = input;
  let progress: Progress = {
    state: moving ? "moving events" : "ending what runs and writes",
    done: moving ? moving.total - moving.left : 0,
    left: moving?.left ?? 0,
  };
  setHandler(progressQuery, () => progress);

  let total = moving?.total;
  if (total === undefined) {
    await markArchived(input);
    await Promise.all([
      countEvents(id).then((counts) => (progress = { ...progress, ...counts })),
      revokeKeys(input),
      endRunning(id),
      ...(isQuiet ? [] : [waitUntilQuiet(changeId)]),
    ]);
    const { done, left } = await countEvents(id);
    total = done + left;
    progress = { state: "moving events", done, left };
  }
  for (;;) {
    const { left, isEnd } = await moveEvents(id, progress.left);
    progress = { ...progress, left, done: total - left };
    if (isEnd) break;
    if (!workflowInfo().continueAsNewSuggested) continue;
    await continueAsNew<typeof archiveProject>({ ...input, moving: { total, left } });
  }
  progress = { ...progress, state: "deleting what was derived from events" };
  await deleteDerived(id);
  progress = { state: "done", ...(await countEvents(id)) };
  return progress;
}

/** Waits until no server admits writes, and until the writes admitted before have ended. */
export async function waitUntilQuiet(changeId: number): Promise<void> {
  await waitForServers(changeId, () => undefined);
  await sleep(ingestionTimeoutMs);
}

async function endRunning(projectId: string): Promise<void> {
  const deadline = Date.now() + stopTimeoutMs;
  while (Date.now() < deadline) {
    if ((await stopRunning(projectId, "cancel")) === 0) return;
    await sleep(stopPollMs);
  }
  while ((await stopRunning(projectId, "terminate")) > 0) await sleep(stopPollMs);
}
