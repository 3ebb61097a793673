// Activity that records a revocation as complete.

import type { Keys } from "../../access/keys/keys.ts";
import { toActivities } from "../activity.ts";

export function createRevokeKeyActivities({
  keys,
}: {
  readonly keys: Pick<Keys, "recordConfirmation">;
}) {
  return toActivities({
    /** Records that no server accepts a key any more; only the first call has an effect. */
    recordConfirmation: (keyId: string): Promise<void> => keys.recordConfirmation(keyId),
  });
}
