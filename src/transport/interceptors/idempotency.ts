// Idempotency-Key on every write: the first answer again, whichever protocol asks. The rule is in
// access/idempotency; here messages become bytes and back. Source: docs/decisions.md, 8.

import { createHash } from "node:crypto";
import { type DescMethod, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { Interceptor, UnaryResponse } from "@connectrpc/connect";
import type { Idempotency } from "../../access/idempotency/idempotency.ts";
import { ServiceError } from "../../base/errors.ts";
import { answerMetadataKey, principalKey, requestDigestKey } from "../context.ts";
import { rpcNameOf } from "./log.ts";

const headerName = "idempotency-key";
const keyPattern = /^[\x20-\x7e]{1,255}$/;

/** The interceptor next to the handlers, so that what it keeps is the handler's own answer. */
export function createIdempotencyInterceptor(idempotency: Idempotency): Interceptor {
  return (next) => async (request) => {
    const key = request.header.get(headerName);
    const principal = request.contextValues.get(principalKey);
    if (key === null || request.stream || !principal || !isWrite(request.method)) {
      return next(request);
    }
    if (!keyPattern.test(key)) {
      throw new ServiceError(
        "INVALID_ARGUMENT",
        "Idempotency-Key: must be 1 to 255 printable ASCII characters",
      );
    }
    const { method } = request;
    const requestHash =
      request.contextValues.get(requestDigestKey) ?? hashOf(method, request.message);
    let first: { readonly bytes: Uint8Array; readonly response: UnaryResponse } | undefined;
    const bytes = await idempotency.run(
      { projectId: principal.projectId, route: rpcNameOf(method), key, requestHash },
      async () => {
        const response = await next(request);
        if (response.stream) throw new Error("a unary call was answered by a stream");
        first = { bytes: toBinary(method.output, response.message), response };
        return first.bytes;
      },
    );
    if (first && first.bytes === bytes) return first.response;
    return {
      stream: false,
      service: method.parent,
      method,
      ...(request.contextValues.get(answerMetadataKey) ?? noMetadata()),
      message: fromBinary(method.output, bytes),
    };
  };
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
