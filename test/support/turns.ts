// Turns at commits for tests that say how many run at a time.

import { createTurns, type Turns } from "../../src/postgres/turns.ts";

/** Returns turns at a few places, all but one of which an owner may take; at least one. */
export function turnsAt(places: number): Turns {
  return createTurns({
    places,
    placesPerOwner: Math.max(1, places - 1),
    waitingMax: 1_000,
    waitMsMax: 10_000,
    what: "commits",
  });
}
