// Idempotency-Key on every write: a retry gets the first answer, over any protocol. The rule is in
// access/idempotency; this file converts messages to bytes and back. Source: docs/decisions.md,
// 8.1.

import { createHash } from "node:crypto";
import { type DescMethod, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type {
  ContextValues,
  Interceptor,
  StreamResponse,
  UnaryRequest,
  UnaryResponse,
} from "@connectrpc/connect";
import type { Claim, Idempotency } from "../../access/idempotency/idempotency.ts";
import { openAnswer, sealAnswer } from "../../access/idempotency/seal.ts";
import type { Principal } from "../../access/principal.ts";
import { sessionCookie } from "../../access/sign-in/cookies.ts";
import type { Scope } from "../../access/scope.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { idempotencyKeyLengthMax } from "../../base/field-limits.ts";
import {
  keptAnswerBytesMax,
  keptAnswerGrowthMax,
  smallKeptAnswerBytesMax,
} from "../../base/tenant-limits.ts";
import { accessRuleOf } from "../access-rules.ts";
import { isLongerThan } from "../encode/large.ts";
import {
  answerMetadataKey,
  commitEffectKey,
  type Ingested,
  ingestedKey,
  isScopeGoneKey,
  principalKey,
  type RequestDigest,
  requestDigestKey,
  scopeKey,
} from "../../access/call.ts";
import { rpcNameOf } from "./log.ts";

export const idempotencyHeader = "idempotency-key";
const keyPattern = /^[\x20-\x7e]+$/;

/**
 * Returns the store of a call's answer, in the database that the call changes: the project's
 * cluster for project data, the control database otherwise.
 */
export type IdempotencyOf = (
  scope: Scope,
  isProjectData: boolean,
) => Pick<Idempotency, "run" | "runLong">;

export type IdempotencyOptions = {
  readonly idempotencyOf: IdempotencyOf;
  /** Deadline of calls that run a model. */
  readonly generationTimeoutMs: number;
};

/** Time that a claim lasts after a generation's deadline, when its commit may still be running. */
const claimSlackMs = 60_000;

type UnaryCall = UnaryRequest;
type Next = (request: UnaryCall) => Promise<UnaryResponse | StreamResponse>;

/** Returns the innermost interceptor, which therefore keeps the handler's own answer. */
export function createIdempotencyInterceptor(options: IdempotencyOptions): Interceptor {
  return (next) => async (request) => {
    const { method, contextValues } = request;
    const key = request.header.get(idempotencyHeader);
    const principal = contextValues.get(principalKey);
    const scope = contextValues.get(scopeKey);
    const rule = accessRuleOf(method);
    // A retry could only get the stream as a whole, which the client did not ask for.
    if (key !== null && request.stream && isWrite(method)) {
      refuse("Idempotency-Key", "is not for calls that answer with a stream; leave it out");
    }
    if (key === null || request.stream || !principal || !scope || !isWrite(method)) {
      assertScopeIsThere(contextValues);
      return next(request);
    }
    if (key.length > idempotencyKeyLengthMax || !keyPattern.test(key)) {
      assertScopeIsThere(contextValues);
      const form = `1 to ${idempotencyKeyLengthMax} printable ASCII characters`;
      refuse("Idempotency-Key", `must be ${form}`);
    }
    const isOfKeysProject = rule.scope === "";
    const isProjectData = isOfKeysProject && !rule.isControlData;
    const digest = contextValues.get(requestDigestKey) ?? digestOf(method, request.message);
    const claim: Claim = {
      scopeId: isOfKeysProject ? scope.id : scopeIdOf(principal),
      route: rpcNameOf(method),
      key,
      requestHash: digest.hash,
    };
    const idempotency = options.idempotencyOf(scope, isProjectData);
    if (!rule.isGeneration) {
      const answerBytesMax = Math.min(
        keptAnswerBytesMax,
        Math.max(smallKeptAnswerBytesMax, digest.bytes * keptAnswerGrowthMax),
      );
      return runOnce(idempotency, { claim, answerBytesMax }, request, next);
    }
    const claimMs = options.generationTimeoutMs + claimSlackMs;
    return runGenerationOnce(idempotency, claim, claimMs, request, next);
  };
}

/** Runs a write and keeps its answer in the transaction of its effect. */
async function runOnce(
  idempotency: Pick<Idempotency, "run">,
  { claim, answerBytesMax }: { readonly claim: Claim; readonly answerBytesMax: number },
  request: UnaryCall,
  next: Next,
): Promise<UnaryResponse> {
  const { method, contextValues } = request;
  const { isSecretAnswer } = accessRuleOf(method);
  const ingested = contextValues.get(ingestedKey);
  const secret = isSecretAnswer ? secretOf(request.header, claim.key) : undefined;
  let first: { readonly bytes: Uint8Array; readonly response: UnaryResponse } | undefined;
  const bytes = await idempotency.run(claim, async () => {
    // The work runs again if its transaction collides with another one.
    contextValues.set(ingestedKey, ingested);
    const response = await answerOf(request, next);
    if (isLongerThan(response.message, answerBytesMax)) throw tooLargeToKeep(answerBytesMax);
    const answer = toBinary(method.output, response.message);
    first = { bytes: secret === undefined ? answer : sealAnswer(answer, secret), response };
    return first.bytes;
  });
  if (first && first.bytes === bytes) return first.response;
  return keptResponse(request, secret === undefined ? bytes : openKept(bytes, secret));
}

/** Runs a generation. No transaction is open while the model runs. */
async function runGenerationOnce(
  idempotency: Pick<Idempotency, "runLong">,
  claim: Claim,
  claimMs: number,
  request: UnaryCall,
  next: Next,
): Promise<UnaryResponse> {
  const { method, contextValues } = request;
  const protocolHeaders = new Set(contextValues.get(answerMetadataKey)?.header.keys());
  let first: UnaryResponse | undefined;
  const { bytes, headers } = await idempotency.runLong(claim, claimMs, async (handOver) => {
    contextValues.set(commitEffectKey, handOver);
    first = await answerOf(request, next);
    const own = [...first.header].filter(([name]) => !protocolHeaders.has(name));
    return { bytes: toBinary(method.output, first.message), headers: Object.fromEntries(own) };
  });
  if (first) return first;
  const kept = keptResponse(request, bytes);
  for (const [name, value] of Object.entries(headers)) kept.header.set(name, value);
  return kept;
}

/** What a call stores that gets a kept answer. */
const nothingIngested: Ingested = { stored: 0, rejected: 0, message: undefined };

async function answerOf(request: UnaryCall, next: Next): Promise<UnaryResponse> {
  assertScopeIsThere(request.contextValues);
  const response = await next(request);
  if (response.stream) throw new Error("a unary call was answered by a stream");
  return response;
}

function keptResponse({ method, contextValues }: UnaryCall, bytes: Uint8Array): UnaryResponse {
  contextValues.set(ingestedKey, nothingIngested);
  return {
    stream: false,
    service: method.parent,
    method,
    ...(contextValues.get(answerMetadataKey) ?? noMetadata()),
    message: fromBinary(method.output, bytes),
  };
}

/** Throws NOT_FOUND if the scope is archived: only a kept answer may then be given. */
function assertScopeIsThere(values: ContextValues): void {
  if (values.get(isScopeGoneKey)) throw new ServiceError("NOT_FOUND", "the scope is archived");
}

/**
 * Returns the owner of the Idempotency-Key on a call whose rule names a scope: the root scope of
 * the caller's key, or the person. On other calls the project owns it, since the bytes of a
 * person's request do not name the project.
 */
function scopeIdOf(principal: Principal): string {
  return principal.kind === "user" ? principal.actor.id : principal.root.id;
}

/**
 * Returns the secret that seals a kept answer: the credential of the call and its Idempotency-Key.
 * Other cookies of the host are left out, because they may change between two tries.
 */
function secretOf(header: Headers, key: string): string {
  const cookies = (header.get("cookie") ?? "").split(";").map((pair) => pair.trim());
  const signIn = cookies.find((pair) => pair.includes(`${sessionCookie}=`));
  return JSON.stringify([header.get("authorization"), signIn, key]);
}

/**
 * Returns a kept answer unsealed. Throws IDEMPOTENCY_MISMATCH if another credential of the same
 * scope sent the Idempotency-Key.
 */
function openKept(sealed: Uint8Array, secret: string): Uint8Array {
  try {
    return openAnswer(sealed, secret);
  } catch (cause) {
    throw new ServiceError(
      "IDEMPOTENCY_MISMATCH",
      "this Idempotency-Key was used with another credential",
      { cause },
    );
  }
}

/** Returns whether an rpc changes data: true unless its proto declares no side effects. */
export function isWrite(method: DescMethod): boolean {
  return method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

function noMetadata(): { header: Headers; trailer: Headers } {
  return { header: new Headers(), trailer: new Headers() };
}

function digestOf(method: DescMethod, message: Message): RequestDigest {
  const bytes = toBinary(method.input, message);
  return { hash: createHash("sha256").update(bytes).digest(), bytes: bytes.length };
}

function tooLargeToKeep(bytesMax: number): ServiceError {
  const message =
    `the answer has over ${bytesMax} bytes, too many to keep for an Idempotency-Key; ` +
    "send the call without that header";
  return new ServiceError("ANSWER_TOO_LARGE", message);
}
