// Digest of a request with an Idempotency-Key, from its bytes while the transport has them.
// Source: docs/decisions.md, 8.1.

import { createHash } from "node:crypto";
import type { ContextValues } from "@connectrpc/connect";
import { requestDigestKey } from "../access/call.ts";
import { type Exchange, headerOf } from "./exchange.ts";

/**
 * Maximum bytes of an RPC or OTLP message that is hashed by its content, which is the same in every
 * encoding. A larger one is hashed by its bytes, since its content takes long to encode.
 */
export const hashedMessageBytesMax = 1_000_000;

/** Sets the digest of a request that has an Idempotency-Key, from the parts of the request. */
export function setRequestDigest(
  { request }: Exchange,
  values: ContextValues,
  ...parts: readonly (string | Buffer)[]
): void {
  if (headerOf(request, "idempotency-key") === undefined) return;
  const hash = createHash("sha256");
  let bytes = 0;
  for (const part of parts) {
    hash.update(part);
    bytes += part.length;
  }
  values.set(requestDigestKey, { hash: hash.digest(), bytes });
}
