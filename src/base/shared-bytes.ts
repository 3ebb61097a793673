// Bytes held in memory at once that organizations share: each organization and each project may
// hold a fixed part. Source: docs/limits.md; docs/generations.md, "What happens to a call".

import { createSharedBudget, type Reservation } from "./byte-budget.ts";
import type { Owner } from "./fair-places.ts";
import { organizationShare, projectShare } from "./limits.ts";

export type SharedBytes = {
  /** Opens a reservation for one unit of work of an organization and project. */
  open(owner: Owner): Reservation;
};

/**
 * Returns an empty budget. `what` names the bytes' use in the error message, such as `answers of
 * models`.
 */
export function createSharedBytes(bytesMax: number, what: string): SharedBytes {
  const budget = createSharedBudget(bytesMax, what);
  return {
    open: ({ orgId, projectId }) =>
      budget.open([
        { holder: `project ${projectId}`, part: projectShare },
        { holder: `all of org ${orgId}`, part: organizationShare },
      ]),
  };
}
