// Idempotency-Key on every write: the first answer again, whichever protocol asks. The rule is in
// access/idempotency; here messages become bytes and back. Source: docs/decisions.md, 8.

import { createHash } from "node:crypto";
import { type DescMethod, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { ContextValues, Interceptor, UnaryResponse } from "@connectrpc/connect";
import type { Idempotency } from "../../access/idempotency/idempotency.ts";
import { openAnswer, sealAnswer } from "../../access/idempotency/seal.ts";
import type { Principal } from "../../access/principal.ts";
import { sessionCookie } from "../../access/sign-in/cookies.ts";
import type { Scope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import { accessRuleOf } from "../access-rules.ts";
import {
  answerMetadataKey,
  isScopeGoneKey,
  principalKey,
  requestDigestKey,
  scopeKey,
} from "../context.ts";
import { rpcNameOf } from "./log.ts";

export const idempotencyHeader = "idempotency-key";
const keyPattern = /^[\x20-\x7e]{1,255}$/;

/**
 * Returns where the answer of a call is kept: beside what it changes, which is in the project's
 * cluster when the call is about project data, and in the control database otherwise.
 */
export type IdempotencyOf = (scope: Scope, isProjectData: boolean) => Idempotency;

/** The interceptor next to the handlers, so that what it keeps is the handler's own answer. */
export function createIdempotencyInterceptor(idempotencyOf: IdempotencyOf): Interceptor {
  return (next) => async (request) => {
    const key = request.header.get(idempotencyHeader);
    const principal = request.contextValues.get(principalKey);
    const scope = request.contextValues.get(scopeKey);
    if (key === null || request.stream || !principal || !scope || !isWrite(request.method)) {
      assertScopeIsThere(request.contextValues);
      return next(request);
    }
    if (!keyPattern.test(key)) {
      assertScopeIsThere(request.contextValues);
      throw new ServiceError(
        "INVALID_ARGUMENT",
        "Idempotency-Key: must be 1 to 255 printable ASCII characters",
      );
    }
    const { method } = request;
    const requestHash =
      request.contextValues.get(requestDigestKey) ?? hashOf(method, request.message);
    let first: { readonly bytes: Uint8Array; readonly response: UnaryResponse } | undefined;
    const rule = accessRuleOf(method);
    const secret = rule.isSecretAnswer ? secretOf(request.header, key) : undefined;
    const isProjectData = rule.scope === "";
    const bytes = await idempotencyOf(scope, isProjectData).run(
      {
        scopeId: isProjectData ? scope.id : scopeIdOf(principal),
        route: rpcNameOf(method),
        key,
        requestHash,
      },
      async () => {
        assertScopeIsThere(request.contextValues);
        const response = await next(request);
        if (response.stream) throw new Error("a unary call was answered by a stream");
        const answer = toBinary(method.output, response.message);
        first = { bytes: secret === undefined ? answer : sealAnswer(answer, secret), response };
        return first.bytes;
      },
    );
    if (first && first.bytes === bytes) return first.response;
    return {
      stream: false,
      service: method.parent,
      method,
      ...(request.contextValues.get(answerMetadataKey) ?? noMetadata()),
      message: fromBinary(method.output, secret === undefined ? bytes : openKept(bytes, secret)),
    };
  };
}

/** Throws where only a kept answer could be given, because the scope is archived. */
function assertScopeIsThere(values: ContextValues): void {
  if (values.get(isScopeGoneKey)) throw new ServiceError("NOT_FOUND", "the scope is archived");
}

/**
 * Whose the Idempotency-Key is on a call that is about no project's data: the scope where a key is
 * rooted, or the person. On the others it is the project's, which the bytes of the request do not
 * name when a person sends them.
 */
function scopeIdOf(principal: Principal): string {
  return principal.kind === "user" ? principal.actor.id : principal.root.id;
}

/** The credential of the call: other cookies of the same host change between two tries. */
function secretOf(header: Headers, key: string): string {
  const cookies = (header.get("cookie") ?? "").split(";").map((pair) => pair.trim());
  const signIn = cookies.find((pair) => pair.includes(`${sessionCookie}=`));
  return JSON.stringify([header.get("authorization"), signIn, key]);
}

/** Another credential of the same scope sent the Idempotency-Key: not its answer to read. */
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

/** Tells whether an rpc changes something: every one that does not say it has no side effects. */
export function isWrite(method: DescMethod): boolean {
  return method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

function noMetadata(): { header: Headers; trailer: Headers } {
  return { header: new Headers(), trailer: new Headers() };
}

function hashOf(method: DescMethod, message: Message): Buffer {
  return createHash("sha256").update(toBinary(method.input, message)).digest();
}
