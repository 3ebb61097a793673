// Idempotency-Key: the first answer to a write is kept with its effect and given again.
// Called by transport/interceptors/idempotency.ts. Source: docs/decisions.md, 8.

import { outcomes, type Reason, ServiceError } from "../../base/errors.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import * as store from "./store.ts";
import type { Claim } from "./store.ts";

export type Idempotency = {
  /**
   * Runs `work` and keeps the answer it returns in the same transaction as its effect, or returns
   * the kept answer without running it. A refusal of `work` that explains itself (4xx other than
   * NOT_FOUND) is kept and thrown again; other failures are not kept. Answers live 24 hours.
   * Fails with IDEMPOTENCY_IN_FLIGHT while another call holds the key, and with
   * IDEMPOTENCY_MISMATCH when the key was used with another body.
   */
  run(claim: Claim, work: () => Promise<Uint8Array>): Promise<Uint8Array>;
};

/** A call deletes expired records in passing, but not each: so many, and not sooner than that. */
const sweepRowsMax = 1_000;
const sweepMs = 1_000;

export function createIdempotency(database: Database): Idempotency {
  let sweptAtMs = -Infinity;

  async function claimed(sql: Sql, claim: Claim): Promise<store.KeptAnswer | undefined> {
    if (!(await store.tryLock(sql, claim))) {
      throw new ServiceError(
        "IDEMPOTENCY_IN_FLIGHT",
        "a request with this Idempotency-Key is still running",
      );
    }
    const kept = await store.findAnswer(sql, claim);
    if (kept && !claim.requestHash.equals(kept.request_hash)) {
      throw new ServiceError(
        "IDEMPOTENCY_MISMATCH",
        "this Idempotency-Key was used with another body",
      );
    }
    return kept;
  }

  async function sweep(sql: Sql): Promise<void> {
    if (Date.now() - sweptAtMs < sweepMs) return;
    sweptAtMs = Date.now();
    await store.deleteExpired(sql, sweepRowsMax);
  }

  async function keepRefusal(claim: Claim, refusal: ServiceError): Promise<void> {
    await database.transaction(async (sql) => {
      // The effect was rolled back; only a retry that came in between can have answered by now.
      if (await store.tryLock(sql, claim)) await store.insertRefusal(sql, claim, refusal);
    });
  }

  return {
    async run(claim, work) {
      try {
        return await database.transaction(async (sql) => {
          const kept = await claimed(sql, claim);
          if (kept) return toAnswer(kept);
          const answer = await work();
          await store.insertAnswer(sql, claim, answer);
          await sweep(sql);
          return answer;
        });
      } catch (error) {
        if (error instanceof ServiceError && isKept(error.reason) && !replayed.has(error)) {
          await keepRefusal(claim, error);
        }
        throw error;
      }
    },
  };
}

/** Refusals that came out of a record and need not be written again. */
const replayed = new WeakSet<ServiceError>();

function toAnswer(kept: store.KeptAnswer): Uint8Array {
  if (kept.response) return kept.response;
  const refusal = new ServiceError(kept.reason as Reason, kept.message ?? "", {
    ...(kept.details ? { details: JSON.parse(kept.details) as Record<string, unknown> } : {}),
  });
  replayed.add(refusal);
  throw refusal;
}

function isKept(reason: Reason): boolean {
  const { status } = outcomes[reason];
  const isOwn = reason === "IDEMPOTENCY_IN_FLIGHT" || reason === "IDEMPOTENCY_MISMATCH";
  return status >= 400 && status < 500 && reason !== "NOT_FOUND" && !isOwn;
}
