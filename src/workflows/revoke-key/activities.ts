// What the workflow of a revocation does to the database. Called by workflow.ts through Temporal.

import type { Keys } from "../../access/keys/keys.ts";
import { toActivities } from "../activity.ts";

export function createRevokeKeyActivities({
  keys,
}: {
  readonly keys: Pick<Keys, "recordConfirmation">;
}) {
  return toActivities({
    /** Writes down that no server takes a key any more; the first time counts. */
    recordConfirmation: (keyId: string): Promise<void> => keys.recordConfirmation(keyId),
  });
}
