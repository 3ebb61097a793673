// Memory of requests and answers: one budget for callers with a key or a sign-in, with a share for
// each project, and a small separate one for anonymous callers.
// Source: docs/limits.md; docs/decisions.md, 36.1.

import type { Principal } from "../access/principal.ts";
import { createSharedBudget, type Reservation, type Share } from "../base/byte-budget.ts";
import { createGarbageCounter } from "../base/garbage.ts";
import {
  anonymousBytesInFlightMax,
  largeRequestsShare,
  organizationShare,
  projectShare,
} from "../base/limits.ts";
import type { BodyClassName } from "./access-rules.ts";

export type Memory = {
  /**
   * Opens the reservation of a call. `principal` is undefined for calls without a caller: then open
   * calls (health, reflection) and the pages of sign-in may each hold half of the anonymous budget.
   */
  open(principal: Principal | undefined, bodyClass?: BodyClassName): Reservation;
};

/** Returns the memory of a process. `bytesMax` is the budget of callers with a key or a sign-in. */
export function createMemory(bytesMax: number): Memory {
  const known = createSharedBudget(bytesMax, "requests and answers", {
    garbage: createGarbageCounter(),
    largeShare: largeRequestsShare,
  });
  const anonymous = createSharedBudget(anonymousBytesInFlightMax, "requests without a key");
  return {
    open(principal, bodyClass) {
      if (principal) return known.open(sharesOf(principal));
      const holder = bodyClass === "open" ? "open calls" : "pages";
      return anonymous.open([{ holder, part: 0.5 }]);
    },
  };
}

function sharesOf(principal: Principal): readonly Share[] {
  if (principal.kind === "user") {
    return [
      { holder: `user ${principal.actor.id}`, part: projectShare },
      { holder: "all users", part: organizationShare },
    ];
  }
  const { level, id, orgId } = principal.root;
  const own = { holder: `${level} ${id}`, part: projectShare };
  const organization = level === "org" ? id : orgId;
  if (organization === undefined) return [own];
  return [own, { holder: `all of org ${organization}`, part: organizationShare }];
}
