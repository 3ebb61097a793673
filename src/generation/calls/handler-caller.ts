// Caller of a model for the handlers: its signal, its commit, and the response headers with the
// ids of its generation. Source: docs/generations.md.

import type { HandlerContext } from "@connectrpc/connect";
import { commitEffectKey, principalKey } from "../../access/call.ts";
import type { Caller } from "./recorded-calls.ts";
import type { GenerationIds } from "./generation-event.ts";

/** Error answers have the ids too, because their events contain more details. */
export function callerOf({ signal, values, responseHeader }: HandlerContext): Caller {
  const onRecorded = (ids: GenerationIds): void => setIdHeaders(responseHeader, ids);
  const principal = values.get(principalKey);
  const keyId = principal?.kind === "user" ? undefined : principal?.actor.id;
  return { keyId, signal, commit: values.get(commitEffectKey), onRecorded };
}

export function setIdHeaders(header: Headers, ids: Omit<GenerationIds, "parentId">): void {
  header.set("x-waggle-generation-id", ids.generationId);
  // Headers are ASCII: another session id is percent-encoded.
  const isAscii = /^[\x20-\x7e]*$/.test(ids.sessionId);
  header.set("x-waggle-session-id", isAscii ? ids.sessionId : encodeURIComponent(ids.sessionId));
}
