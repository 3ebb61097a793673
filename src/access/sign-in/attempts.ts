// Sign-in attempts at the identity provider: each belongs to one browser, lives ten minutes and
// works once. Source: OpenID Connect Core 1.0, 3.1.2; RFC 9700, 2.1.

import { ServiceError } from "../../base/errors.ts";
import { signInAttemptsMax } from "../../base/tenant-limits.ts";
import type { Database } from "../../postgres/database.ts";
import * as store from "./store.ts";
import { createToken, hashToken, isToken } from "./token.ts";

export type Attempt = {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** Path to open after the sign-in. */
  readonly returnTo: string;
};

export type Attempts = {
  /** Stores an attempt until the browser returns. If too many are open, ends the oldest. */
  keep(attempt: Attempt, browser: string): Promise<void>;
  /**
   * Removes and returns an attempt by its state. Fails with SIGN_IN_REFUSED if it is too old, was
   * taken before, began in another browser or never existed.
   */
  take(state: string | null, browser: string | undefined): Promise<Attempt>;
};

/** Time that people have at the identity provider. */
export const attemptSeconds = 600;

const sweptMax = 200;

/** Returns a new attempt, which is valid once it is stored. */
export function createAttempt(returnTo: string): Attempt {
  // A PKCE verifier has the same form as a token (RFC 7636, 4.1).
  return { state: createToken(), nonce: createToken(), codeVerifier: createToken(), returnTo };
}

export function createAttempts(database: Database): Attempts {
  const ageMsMax = attemptSeconds * 1_000;
  return {
    async keep({ state, ...attempt }, browser) {
      const sql = database.sql();
      await store.deleteOldAttempts(sql, ageMsMax, sweptMax);
      await store.deleteSurplusAttempts(sql, signInAttemptsMax - 1, sweptMax);
      const hashes = { stateHash: hashToken(state), browserHash: hashToken(browser) };
      await store.insertAttempt(sql, { ...attempt, ...hashes });
    },

    async take(state, browser) {
      const row =
        isToken(state) && browser !== undefined
          ? await store.takeAttempt(database.sql(), {
              stateHash: hashToken(state),
              browserHash: hashToken(browser),
              ageMsMax,
            })
          : undefined;
      if (!row || state === null) {
        throw new ServiceError(
          "SIGN_IN_REFUSED",
          "This sign-in was begun in another browser, was finished before, or took longer than " +
            `${attemptSeconds / 60} minutes.`,
        );
      }
      return { state, ...row };
    },
  };
}
