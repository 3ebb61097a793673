// Waits until a revoked key is forgotten by every server, and records the time. Started through the
// outbox. Source: docs/decisions.md, 32.

import { proxyActivities, setHandler } from "@temporalio/workflow";
import type { RevokeKeyInput } from "../../outbox/entry.ts";
import { activityOptions } from "../activity-options.ts";
import { type Progress, progressQuery } from "../progress.ts";
import { waitForServers } from "../wait-for-servers/workflow.ts";
import type { createRevokeKeyActivities } from "./activities.ts";

const { recordConfirmation } =
  proxyActivities<ReturnType<typeof createRevokeKeyActivities>>(activityOptions);

/** Follows a revocation; returns the final progress. */
export async function revokeKey({ keyId, changeId }: RevokeKeyInput): Promise<Progress> {
  let progress: Progress = { state: "waiting for servers to forget the key", done: 0, left: 0 };
  setHandler(progressQuery, () => progress);
  await waitForServers(changeId, ({ live, confirmed }) => {
    progress = { ...progress, done: confirmed, left: Math.max(0, live - confirmed) };
  });
  await recordConfirmation(keyId);
  progress = { ...progress, state: "done" };
  return progress;
}
