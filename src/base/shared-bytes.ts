// Bytes held in memory at once that organizations share: one of them, and one of its projects, has
// a part at most. Source: docs/limits.md; docs/generations.md, "What happens to a call".

import { createSharedBudget, type Reservation } from "./byte-budget.ts";
import type { Owner } from "./fair-places.ts";
import { organizationShare, projectShare } from "./limits.ts";

export type SharedBytes = {
  /** Opens what one work of an organization and project holds. */
  open(owner: Owner): Reservation;
};

/** `what` names in the refusal what holds the bytes, such as `answers of models`. */
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
