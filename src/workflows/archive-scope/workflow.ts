// Archives the contents of an archived organization, data plane or workspace, with one child
// workflow for each child. Started through the outbox, or by the workflow of the scope above.
// Source: docs/spec.md, "States and transitions"; docs/decisions.md, 29.

import {
  ApplicationFailure,
  CancellationScope,
  ParentClosePolicy,
  WorkflowIdReusePolicy,
  continueAsNew,
  executeChild,
  isCancellation,
  proxyActivities,
  setHandler,
  sleep,
  workflowInfo,
} from "@temporalio/workflow";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import { archiveEntry, type ArchiveInput } from "../../outbox/entry.ts";
import { activityOptions } from "../activity-options.ts";
import type { createArchiveProjectActivities } from "../archive-project/activities.ts";
import { waitUntilQuiet } from "../archive-project/workflow.ts";
import type { WorkflowState } from "../client.ts";
import { describeArchive } from "../describe-work.ts";
import { type Progress, progressQuery } from "../progress.ts";
import { scopeKey, searchAttributesOf } from "../search-attributes.ts";
import type { Child, createArchiveScopeActivities } from "./activities.ts";

type Activities = ReturnType<typeof createArchiveProjectActivities> &
  ReturnType<typeof createArchiveScopeActivities>;

const { markArchived, revokeKeys, listChildren, countInside, waitForWorkflow } =
  proxyActivities<Activities>(activityOptions);

/** Input of a child workflow or of one that continues as new. */
export type ArchiveScopeInput = ArchiveInput & {
  /** True if the parent workflow has already waited until no write is in progress. */
  readonly isQuiet?: boolean;
  /** Progress of the earlier run. */
  readonly resumed?: {
    readonly afterId: string;
    readonly children: number;
    readonly failed: readonly string[];
  };
};

/** Maximum concurrent children on each level: an organization moves at most 27 projects. */
const childrenAtOnce = 3;
/** Maximum starts of a child that an operator terminates. */
const childStartsMax = 3;
/** Maximum children named in the failure; the others are counted. */
const failedNamedMax = 20;
/** Interval of counting; it grows with time, because counting loads the database. */
const countMsMin = 1_000;
const countMsMax = 300_000;

export async function archiveOrganization(input: ArchiveScopeInput): Promise<Progress> {
  return archiveScope(input);
}

export async function archiveDataplane(input: ArchiveScopeInput): Promise<Progress> {
  return archiveScope(input);
}

export async function archiveWorkspace(input: ArchiveScopeInput): Promise<Progress> {
  return archiveScope(input);
}

async function archiveScope(input: ArchiveScopeInput): Promise<Progress> {
  const { isQuiet = false, resumed } = input;
  const progress = { state: "archiving what is inside", done: 0, left: 0, projects: 0 };
  const children = { done: resumed?.children ?? 0, failed: [...(resumed?.failed ?? [])] };
  setHandler(progressQuery, () => ({ ...progress, children_done: children.done }));

  if (!resumed) {
    progress.state = "ending what writes";
    await markArchived(input);
    await revokeKeys(input);
  }
  // Counts in parallel to the work: an unavailable cluster must not delay the others.
  const counting = new CancellationScope();
  const counted = counting.run(async () => {
    for (let ms = countMsMin; !workflowInfo().continueAsNewSuggested; ms *= 1.3) {
      Object.assign(progress, await countInside(input));
      await sleep(Math.min(ms, countMsMax));
    }
  });
  const countedOrCut = counted.catch((error: unknown) => {
    if (!isCancellation(error)) throw error;
  });
  try {
    if (!resumed && !isQuiet) await waitUntilQuiet(input.changeId);
    progress.state = "archiving what is inside";
    await archiveChildren(input, children);
  } finally {
    counting.cancel();
    await countedOrCut;
  }
  Object.assign(progress, await countInside(input), { state: "done" });
  if (children.failed.length > 0) throw describeFailed(children.failed);
  return { ...progress, children_done: children.done };
}

type Children = { done: number; failed: string[] };

async function archiveChildren(input: ArchiveScopeInput, children: Children): Promise<void> {
  let afterId = input.resumed?.afterId;
  for (;;) {
    const page = await listChildren(input, afterId);
    afterId = page.at(-1)?.id;
    if (afterId === undefined) return;
    await forEach(page, childrenAtOnce, async (child) => {
      if (!(await archiveChild(input, child))) children.failed.push(`${child.level} ${child.id}`);
      children.done += 1;
    });
    if (!workflowInfo().continueAsNewSuggested) continue;
    const resumed = { afterId, children: children.done, failed: children.failed };
    await continueAsNew<typeof archiveDataplane>({ ...input, isQuiet: true, resumed });
  }
}

/** Returns false if the child could not be archived, which needs an operator. */
async function archiveChild(parent: ArchiveScopeInput, child: Child): Promise<boolean> {
  const { orgId, actor, changeId } = parent;
  const input: ArchiveScopeInput = { ...child, orgId, actor, changeId, isQuiet: true };
  const entry = archiveEntry(input);
  const { workflowId, workflowType } = entry;
  // The namespace may lack search attributes; the parent was then started without them.
  const hasAttributes = workflowInfo().typedSearchAttributes.get(scopeKey) !== undefined;
  for (let starts = 1; starts <= childStartsMax; starts += 1) {
    try {
      await executeChild(workflowType, {
        workflowId,
        args: [input],
        // Starts a terminated child again, but not a completed one.
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
        // The request has already archived the children: they continue without their parent.
        parentClosePolicy: ParentClosePolicy.ABANDON,
        ...describeArchive(input),
        ...(hasAttributes && { typedSearchAttributes: searchAttributesOf(entry) }),
      });
      return true;
    } catch (error) {
      if (CancellationScope.current().consideredCancelled) throw error;
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) return false;
    }
    let state: WorkflowState;
    do state = await waitForWorkflow(workflowId);
    while (state === "running");
    if (state !== "failed") return true;
  }
  return false;
}

/** Processes items concurrently, at most `atOnce` at a time. */
async function forEach<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const item of waiting) await work(item);
    }),
  );
}

function describeFailed(failed: readonly string[]): ApplicationFailure {
  const named = failed.slice(0, failedNamedMax).join(", ");
  const more = failed.length > failedNamedMax ? ` and ${failed.length - failedNamedMax} more` : "";
  return ApplicationFailure.nonRetryable(`could not archive ${named}${more}`, "CHILDREN_FAILED");
}
