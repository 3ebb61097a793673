// Idempotency-Key: the first answer to a write is stored with its effect and returned again on
// retries. Source: docs/decisions.md, 8.1.

import type { ServiceError } from "../../base/errors.ts";
import { ingestionTimeoutMs } from "../../base/limits.ts";
import { createRunning } from "../../base/running.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import { type ClaimedRuns, createClaimedRuns } from "./claimed-runs.ts";
import { assertSameBody, inFlight, isRefusalToKeep, readKept } from "./kept-answer.ts";
import * as store from "./store.ts";
import type { Claim } from "./store.ts";

export type { Claim };

export type Idempotency = {
  /**
   * Runs `work` and stores its answer in the same transaction as its effect, or returns the stored
   * answer without running it. Stores refusals that explain themselves (4xx other than NOT_FOUND)
   * too, and throws them again; stores no other failures. Answers live 24 hours. Throws
   * IDEMPOTENCY_IN_FLIGHT while another call holds the key, IDEMPOTENCY_MISMATCH if the key was
   * used with another body.
   */
  run(claim: Claim, work: () => Promise<Uint8Array>): Promise<Uint8Array>;
  /**
   * Same as `run`, for work that takes minutes: no transaction is open meanwhile. Effects that
   * `work` hands over are committed with the answer, and also with a failure. The key is in flight
   * for at most `claimMs`; then another call may take it over, and the first call's answer is not
   * stored.
   */
  runLong: ClaimedRuns["run"];
  /** Resolves when no long work and no deletion of expired answers runs. */
  drain(): Promise<void>;
};

/** Maximum expired records that one call deletes, and minimum time between two deletions. */
const sweepRowsMax = 1_000;
const sweepMs = 1_000;

/** `timeoutMs`: maximum time of the steps of long work that wait for the database. */
export function createIdempotency(
  database: Database,
  { timeoutMs = ingestionTimeoutMs }: { readonly timeoutMs?: number } = {},
): Idempotency {
  const sweeping = createRunning();
  let sweptAtMs = -Infinity;

  /**
   * Begins a deletion, which no call waits for: it concerns every scope, so that on Citus it fails
   * or hangs while any worker is away.
   */
  function sweep(): void {
    if (Date.now() - sweptAtMs < sweepMs) return;
    sweptAtMs = Infinity;
    const work = (sql: Sql): Promise<void> => store.deleteExpired(sql, sweepRowsMax);
    const end = (): void => void (sweptAtMs = Date.now());
    // After a failure a later call deletes them.
    sweeping.run(() => database.transaction(work)).then(end, end);
  }

  async function runClaimed(sql: Sql, claim: Claim, work: () => Promise<Uint8Array>) {
    if (!(await store.tryLock(sql, claim))) throw inFlight();
    const kept = await store.findAnswer(sql, claim);
    if (kept) {
      assertSameBody(kept, claim);
      return readKept(kept);
    }
    const answer = await work();
    await store.insertRecord(sql, claim, store.outcomeOfAnswer(answer));
    return answer;
  }

  async function keepRefusal(claim: Claim, refusal: ServiceError): Promise<void> {
    const keep = async (sql: Sql): Promise<void> => {
      // The effect was rolled back; only a concurrent retry can have stored an answer by now.
      if (!(await store.tryLock(sql, claim))) return;
      await store.insertRecord(sql, claim, store.outcomeOfRefusal(refusal));
    };
    await database.transaction(keep, { owner: claim.scopeId });
  }

  const long = createClaimedRuns(database, { sweep, timeoutMs });
  return {
    async run(claim, work) {
      try {
        const answer = await database.transaction((sql) => runClaimed(sql, claim, work), {
          owner: claim.scopeId,
        });
        sweep();
        return answer;
      } catch (error) {
        if (isRefusalToKeep(error)) await keepRefusal(claim, error);
        throw error;
      }
    },
    runLong: (claim, claimMs, work) => long.run(claim, claimMs, work),
    async drain() {
      await long.drain();
      await sweeping.drain();
    },
  };
}
