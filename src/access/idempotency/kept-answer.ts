// Turns a record into the answer of a repeated call. Source: docs/decisions.md, 8.1.

import { outcomes, type Reason, ServiceError } from "../../base/errors.ts";
import { smallKeptAnswerBytesMax } from "../../base/tenant-limits.ts";
import type { Claim, KeptAnswer } from "./store.ts";

export function inFlight(): ServiceError {
  const message = "a request with this Idempotency-Key is still running";
  return new ServiceError("IDEMPOTENCY_IN_FLIGHT", message);
}

/** Throws IDEMPOTENCY_MISMATCH if the record belongs to another body. */
export function assertSameBody(kept: KeptAnswer, { requestHash }: Claim): void {
  if (requestHash.equals(kept.request_hash)) return;
  const message = "this Idempotency-Key was used with another body";
  throw new ServiceError("IDEMPOTENCY_MISMATCH", message);
}

/** Returns the bytes of a stored answer; throws a stored refusal. */
export function readKept(kept: KeptAnswer): Uint8Array {
  if (kept.response && kept.reason === null) return kept.response;
  const refusal = new ServiceError(kept.reason as Reason, kept.message ?? "", {
    ...(kept.details ? { details: JSON.parse(kept.details) as Record<string, unknown> } : {}),
    ...(kept.relayed_status !== null && {
      relayed: {
        status: kept.relayed_status,
        contentType: readKeptHeaders(kept)["content-type"] ?? "",
        body: kept.response ?? Buffer.alloc(0),
      },
    }),
  });
  replayed.add(refusal);
  throw refusal;
}

/** Returns the stored headers. */
export function readKeptHeaders({ headers }: KeptAnswer): Readonly<Record<string, string>> {
  return headers === null ? {} : (JSON.parse(headers) as Record<string, string>);
}

/** Refusals that were read from a record and need not be stored again. */
const replayed = new WeakSet<ServiceError>();

/**
 * Tells whether a failure is a refusal to store: a 4xx that explains itself, does not say when to
 * try again, does not come from a record, is not large and is not an error of the Idempotency-Key
 * itself.
 */
export function isRefusalToKeep(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError) || replayed.has(error)) return false;
  const { reason, retryAfterSeconds } = error;
  const { status } = outcomes[reason];
  const isSmall = JSON.stringify(error.details ?? "").length <= smallKeptAnswerBytesMax;
  const isOwn = reason === "IDEMPOTENCY_IN_FLIGHT" || reason === "IDEMPOTENCY_MISMATCH";
  const isFinal = retryAfterSeconds === undefined && reason !== "NOT_FOUND" && !isOwn;
  return status >= 400 && status < 500 && isFinal && isSmall;
}
