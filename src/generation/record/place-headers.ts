// Headers of an answer that say where a generation is recorded; answers of failures have them too,
// since their events say more. Called by the handlers of chat and proxy.
// Source: docs/generations.md.

import type { Place } from "./generations.ts";

export function setPlace(header: Headers, place: Omit<Place, "parentId">): void {
  header.set("x-waggle-generation-id", place.generationId);
  header.set("x-waggle-session-id", toHeader(place.sessionId));
}

/** Headers are ASCII; a session may be named by any text, and is percent-encoded then. */
function toHeader(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : encodeURIComponent(text);
}
