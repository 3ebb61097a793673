// Context of a request beside its message: caller, scope, request id, errors of single batch items,
// memory. The gate, the interceptors and the REST reader write it; handlers read it.

import type { Actor } from "../base/actor.ts";
import { type ContextValues, createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { Credentials } from "./authenticate.ts";
import type { Whose } from "./change.ts";
import type { Principal } from "./principal.ts";
import { isProject, type ProjectScope, type Scope } from "./scope.ts";
import { createByteBudget, type Reservation } from "../base/byte-budget.ts";

export const principalKey = createContextKey<Principal | undefined>(undefined, {
  description: "the caller, set by the gate",
});

export const credentialsKey = createContextKey<Credentials | undefined>(undefined, {
  description: "what the gate found the caller by",
});

export const scopeKey = createContextKey<Scope | undefined>(undefined, {
  description: "the scope that the call is about, set by the authorize interceptor",
});

export const isScopeGoneKey = createContextKey(false, {
  description: "the scope is archived, and only an answer kept for it may be given",
});

export const requestIdKey = createContextKey("", { description: "x-request-id of the call" });

export const connectionKey = createContextKey<object | undefined>(undefined, {
  description: "the connection that brought the call: an HTTP/2 session or a socket",
});

/** Hash of a request, and its bytes. */
export type RequestDigest = { readonly hash: Buffer; readonly bytes: number };

/**
 * Digest of the request for Idempotency-Key, from the bytes that the client sent if the transport
 * still has them; undefined if the message itself is to be hashed.
 */
export const requestDigestKey = createContextKey<RequestDigest | undefined>(undefined, {
  description: "SHA-256 of the request as sent",
});

/**
 * Headers and trailers of the answer. An interceptor that answers in the handler's place returns
 * these, since the protocol has already set its own there (`content-type`, `grpc-status`).
 */
export const answerMetadataKey = createContextKey<
  { readonly header: Headers; readonly trailer: Headers } | undefined
>(undefined, { description: "headers and trailers of the answer" });

/**
 * Reason why one item of a `(lenient_items)` field was not read. An empty message stands at `index`
 * of the field, so the other items keep their positions. `message` names the path inside the item:
 * `start_time: must be a number …`.
 */
export type ItemFault = {
  /** Proto name of the repeated field: `events`, `logs`. */
  readonly field: string;
  readonly index: number;
  readonly message: string;
};

export const itemFaultsKey = createContextKey<readonly ItemFault[]>([], {
  description: "items that the REST reader could not read",
});

/** What became of the events of a call that writes events. */
export type Ingested = {
  readonly stored: number;
  readonly rejected: number;
  /** Why the first rejected event was. */
  readonly message: string | undefined;
};

export const ingestedKey = createContextKey<Ingested | undefined>(undefined, {
  description: "events stored and rejected; undefined: the call is about one event",
});

export const pathProjectKey = createContextKey<string | undefined>(undefined, {
  description: "id of the project that the path names, beside the fields of the message",
});

export const parsedBodyKey = createContextKey<unknown>(undefined, {
  description: "the JSON of a body that passes as it is, where the transport has read it",
});

/** Memory of a call: the decoded request, and further memory of its work and its answer. */
export const memoryKey = createContextKey<Reservation | undefined>(undefined, {
  description: "bytes that the call holds, released when its answer is written",
});

/**
 * Returns the memory of a call. Work that needs far more bytes than the request has (rows read, one
 * attribute copied into many events) first calls `grow`, which throws OVERLOADED if there is no
 * room. The transport releases everything when the answer is written.
 */
export function memoryOf(context: Pick<HandlerContext, "values">): Reservation {
  return context.values.get(memoryKey) ?? createByteBudget(Infinity).open();
}

/** Work of a handler. It may outlive its call if the client left or the deadline passed. */
export type Work = { readonly ended: Promise<unknown>; isEnded: boolean };

export const workKey = createContextKey<Work | undefined>(undefined, {
  description: "the work of a unary call's handler",
});

/** Releases a call's memory, after its handler has ended if it still runs. */
export function releaseAfterWork(values: ContextValues, memory: Reservation | undefined): void {
  const work = values.get(workKey);
  const release = (): void => memory?.release();
  if (!work || work.isEnded) release();
  else void work.ended.then(release, release);
}

/** Runs the effect of a generation, either at once or in one transaction with the kept answer. */
export type CommitEffect = (effect: () => Promise<void>) => Promise<void>;

export const commitEffectKey = createContextKey<CommitEffect>((effect) => effect(), {
  description: "how a call that runs a model commits its effect; set for an Idempotency-Key",
});

/** Returns the caller. Throws if the gate has not run, which is a bug of the transport. */
export function principalOf(context: Pick<HandlerContext, "values">): Principal {
  const principal = context.values.get(principalKey);
  if (!principal) throw new Error("no principal in the context of a call");
  return principal;
}

/** Returns the actor for the audit log. */
export function actorOf(context: Pick<HandlerContext, "values">): Actor {
  return principalOf(context).actor;
}

/** Returns the active scope of the call, for which its caller is authorized. */
export function scopeOf(context: Pick<HandlerContext, "values">): Scope {
  const scope = context.values.get(scopeKey);
  if (!scope) throw new Error("no scope in the context of a call");
  return scope;
}

/** Returns the project of the call. */
export function projectOf(context: Pick<HandlerContext, "values">): ProjectScope {
  const scope = scopeOf(context);
  if (!isProject(scope)) throw new Error("the call is about no project");
  return scope;
}

/** Returns the resource of an id in the project of the call, and the actor. */
export function whoseOf(id: string, context: Pick<HandlerContext, "values">): Whose {
  return { project: projectOf(context), id, actor: actorOf(context) };
}

/**
 * Returns the errors of single items of a repeated field, by index. Handlers of batch rpcs reject
 * these items with these messages and process the others; the message at such an index is an empty
 * placeholder. Always empty for RPC protocols, whose decoding has no errors of single items.
 */
export function itemFaultsOf(
  context: { readonly values: ContextValues },
  field: string,
): ReadonlyMap<number, string> {
  const faults = context.values.get(itemFaultsKey).filter((fault) => fault.field === field);
  return new Map(faults.map((fault) => [fault.index, fault.message]));
}

/** Adds to the events that the call stored, and to those that it rejected with these reasons. */
export function noteIngested(
  { values }: { readonly values: ContextValues },
  { stored, reasons }: { readonly stored: number; readonly reasons: readonly string[] },
): void {
  const before = values.get(ingestedKey);
  values.set(ingestedKey, {
    stored: (before?.stored ?? 0) + stored,
    rejected: (before?.rejected ?? 0) + reasons.length,
    message: before?.message ?? reasons[0],
  });
}
