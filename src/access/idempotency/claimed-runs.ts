// Idempotency-Key on calls that run a model, sometimes for minutes: the key is claimed first, no
// transaction is open while the model runs, and one transaction stores the effects and the answer.
// Source: docs/decisions.md, 8.2, 20.1.

import { setTimeout as delay } from "node:timers/promises";
import { createRunning } from "../../base/running.ts";
import { inDatabaseTime } from "../../base/within.ts";
import type { Database, Sql } from "../../postgres/database.ts";
import {
  assertSameBody,
  inFlight,
  isRefusalToKeep,
  readKept,
  readKeptHeaders,
} from "./kept-answer.ts";
import * as store from "./store.ts";
import type { Claim, ClaimToken } from "./store.ts";

/** A change to the database, and the call that makes it. */
type Effect = () => Promise<void>;

/** Registers an effect that runs after the run has ended. */
export type HandOver = (effect: Effect) => Promise<void>;

/** An answer with its headers. */
export type RunAnswer = {
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
};

export type ClaimedRuns = {
  run(
    claim: Claim,
    claimMs: number,
    work: (handOver: HandOver) => Promise<RunAnswer>,
  ): Promise<RunAnswer>;
  drain(): Promise<void>;
};

/** A claim of this process, and the time for which it was taken. */
type Claimed = {
  readonly claim: Claim;
  readonly token: ClaimToken;
  readonly claimMs: number;
};

/** Pause between tries to free a key while the database is away. */
const releasePauseMs = 1_000;

export type ClaimedRunsOptions = {
  /** Called after the transaction in which a run ends. */
  readonly sweep: () => void;
  /** Maximum time of the claim, and of the end, of a run; then the database counts as away. */
  readonly timeoutMs: number;
};

export function createClaimedRuns(
  database: Database,
  { sweep, timeoutMs }: ClaimedRunsOptions,
): ClaimedRuns {
  const running = createRunning();

  /** Returns the claim, or the answer of the call that used the key before. */
  async function claimOrAnswer(claim: Claim, claimMs: number): Promise<ClaimToken | RunAnswer> {
    const owner = claim.scopeId;
    // Waits in Postgres while a call with the same key ends.
    const insert = (sql: Sql) => store.insertClaim(sql, claim, claimMs);
    const token = await database.inTurn(insert, { owner });
    if (token !== undefined) return token;
    const kept = await database.inTurn((sql) => store.findAnswer(sql, claim), { owner });
    // The key was released meanwhile: a retry can claim it.
    if (!kept) throw inFlight();
    assertSameBody(kept, claim);
    if (kept.is_claim) throw inFlight();
    return { bytes: readKept(kept), headers: readKeptHeaders(kept) };
  }

  /** Same as `claimOrAnswer`, in time. A claim that is made too late is released. */
  async function claimInTime(claim: Claim, claimMs: number): Promise<ClaimToken | RunAnswer> {
    const claiming = claimOrAnswer(claim, claimMs);
    try {
      return await inDatabaseTime(claiming, timeoutMs);
    } catch (error) {
      const releaseLate = async (late: ClaimToken | RunAnswer): Promise<void> => {
        if (typeof late === "string") await release(claim, late, claimMs);
      };
      void running.run(() => claiming.then(releaseLate, () => undefined));
      throw error;
    }
  }

  /** Same as `end`, in time. An end that takes longer may commit: then a retry finds the answer. */
  function endInTime(...ending: Parameters<typeof end>): Promise<void> {
    return inDatabaseTime(
      running.run(() => end(...ending)),
      timeoutMs,
    );
  }

  /** Commits the effects and the outcome of the call; without an outcome, releases the key. */
  async function end(
    { claim, token, claimMs }: Claimed,
    effects: readonly Effect[],
    outcome: store.Outcome | undefined,
  ): Promise<void> {
    try {
      const commit = async (sql: Sql): Promise<boolean> => {
        if (!outcome) await store.deleteClaim(sql, claim, token);
        const isKept = !outcome || (await store.endClaim(sql, claim, token, outcome));
        for (const effect of effects) await effect();
        return isKept;
      };
      const isOurs = await database.transaction(commit, { owner: claim.scopeId });
      sweep();
      if (!isOurs) throw inFlight();
    } catch (error) {
      await release(claim, token, claimMs);
      throw error;
    }
  }

  /**
   * Frees the key at once, or in the background once the database is back: else the next tries
   * would be refused as in flight until the claim expires, although nothing runs.
   */
  async function release(claim: Claim, token: ClaimToken, claimMs: number): Promise<void> {
    if (await tryRelease(claim, token)) return;
    const expiresAtMs = Date.now() + claimMs;
    const retry = async () => {
      while (Date.now() < expiresAtMs) {
        await delay(releasePauseMs, undefined, { ref: false });
        if (await tryRelease(claim, token)) return;
      }
    };
    void retry();
  }

  async function tryRelease(claim: Claim, token: ClaimToken): Promise<boolean> {
    try {
      const remove = (sql: Sql) => store.deleteClaim(sql, claim, token);
      await database.inTurn(remove, { owner: claim.scopeId });
      return true;
    } catch {
      // The caller gets the first error.
      return false;
    }
  }

  async function run(
    claim: Claim,
    claimMs: number,
    work: (handOver: HandOver) => Promise<RunAnswer>,
  ): Promise<RunAnswer> {
    const token = await claimInTime(claim, claimMs);
    if (typeof token !== "string") return token;
    const claimed = { claim, token, claimMs };
    const effects: Effect[] = [];
    const handOver: HandOver = (effect) => {
      effects.push(effect);
      return Promise.resolve();
    };
    let answer: RunAnswer;
    try {
      answer = await work(handOver);
    } catch (error) {
      const refusal = isRefusalToKeep(error) ? store.outcomeOfRefusal(error) : undefined;
      await endInTime(claimed, effects, refusal);
      throw error;
    }
    await endInTime(claimed, effects, store.outcomeOfAnswer(answer.bytes, answer.headers));
    return answer;
  }

  return {
    run: (claim, claimMs, work) => running.run(() => run(claim, claimMs, work)),
    drain: () => running.drain(),
  };
}
