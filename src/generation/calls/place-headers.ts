// Response headers with the place of a generation; error answers have them too, because their
// events contain more details. Source: docs/generations.md.

import type { Place } from "./store-generation.ts";

export function setPlace(header: Headers, place: Omit<Place, "parentId">): void {
  header.set("x-waggle-generation-id", place.generationId);
  header.set("x-waggle-session-id", toHeader(place.sessionId));
}

/** Percent-encodes a session id that is not ASCII, because headers are ASCII. */
function toHeader(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : encodeURIComponent(text);
}
