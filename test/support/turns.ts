// Turns at commits for tests of a given number of places.

import { createTurns, type Turns } from "../../src/postgres/turns.ts";

/**
 * Returns turns at `places` places. One owner may take all but one, but at least one; one
 * organization takes `ofOrganization`.
 */
export function turnsAt(places: number, { ofOrganization = places } = {}): Turns {
  return createTurns({
    places,
    placesPerOrganization: ofOrganization,
    placesPerOwner: Math.max(1, places - 1),
    waitingMax: 1_000,
    waitMsMax: 10_000,
    what: "commits",
  });
}
