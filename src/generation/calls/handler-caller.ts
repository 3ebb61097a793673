// Caller of a model for the handlers: its signal, its commit, and the response headers with the
// place of its generation. Source: docs/generations.md.

import type { HandlerContext } from "@connectrpc/connect";
import { commitEffectKey } from "../../access/call.ts";
import type { Caller } from "./recorded-calls.ts";
import type { Place } from "./store-generation.ts";

/** Error answers have the place too, because their events contain more details. */
export function callerOf({ signal, values, responseHeader }: HandlerContext): Caller {
  const onRecorded = (place: Place): void => setPlace(responseHeader, place);
  return { signal, commit: values.get(commitEffectKey), onRecorded };
}

export function setPlace(header: Headers, place: Omit<Place, "parentId">): void {
  header.set("x-waggle-generation-id", place.generationId);
  // Headers are ASCII: another session id is percent-encoded.
  const isAscii = /^[\x20-\x7e]*$/.test(place.sessionId);
  header.set(
    "x-waggle-session-id",
    isAscii ? place.sessionId : encodeURIComponent(place.sessionId),
  );
}
