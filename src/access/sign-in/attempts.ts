// Attempts to sign in that are on their way through the identity provider: each belongs to one
// browser, lives ten minutes and is good once. Called by pages.ts.
// Source: OpenID Connect Core 1.0, 3.1.2; RFC 9700, 2.1.

import { ServiceError } from "../../base/errors.ts";
import { signInAttemptsMax } from "../../base/tenant-limits.ts";
import type { Database } from "../../postgres/database.ts";
import * as store from "./store.ts";
import { createToken, hashToken, isToken } from "./token.ts";

export type Attempt = {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** Path to go to afterwards. */
  readonly returnTo: string;
};

export type Attempts = {
  /** Keeps one for the way back. Where too many are open, the oldest are given up. */
  keep(attempt: Attempt, browser: string): Promise<void>;
  /**
   * Takes an attempt out by its state; a second time there is none. Fails with SIGN_IN_REFUSED
   * when it is too old, was begun in another browser, or never was.
   */
  take(state: string | null, browser: string | undefined): Promise<Attempt>;
};

/** How long people get at the identity provider. */
export const attemptSeconds = 600;

const sweptMax = 200;

/** Begins one, which counts once it is kept. */
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
