// Sign-in sessions. They end at a fixed time, by sign-out, or when the person's permissions change.
// Source: docs/spec.md, Authentication, 6; docs/decisions.md, 32.

import { sessionsOfPersonMax } from "../../base/tenant-limits.ts";
import type { Database } from "../../postgres/database.ts";
import type { SignInReader } from "../authenticate.ts";
import { createCallerMemory, everything } from "../caller-memory.ts";
import type { AccessChanges } from "../changes/changes.ts";
import type { Grant, UserPrincipal } from "../principal.ts";
import type { Cookies } from "./cookies.ts";
import * as store from "./store.ts";
import { createToken, hashToken } from "./token.ts";

export type NewSignIn = {
  readonly userId: string;
  /** Groups from the identity provider. */
  readonly groups: readonly string[];
  /** End in Unix milliseconds; never changes. */
  readonly expiresAtMs: number;
};

export type SignIns = SignInReader & {
  /** Begins a session and returns its token, which is not stored. */
  create(signIn: NewSignIn): Promise<string>;
  /** Ends a session on every server; succeeds if it has already ended. */
  end(token: string): Promise<void>;
  /** Ends every session of these users on every server when the ambient transaction commits. */
  endOfUsers(userIds: readonly string[]): Promise<void>;
};

export type SignInsOptions = {
  readonly database: Database;
  readonly changes: Pick<AccessChanges, "append" | "onForget">;
  readonly cookies: Cookies;
  /** Returns the grants from memberships and groups. */
  readonly grantsOfUser: (userId: string, groups: readonly string[]) => Promise<readonly Grant[]>;
  readonly cacheEntriesMax: number;
  readonly cacheAgeMs: number;
};

/**
 * Maximum sessions that are forgotten one by one. More are forgotten with all callers, which costs
 * each caller one lookup.
 */
const forgottenSinglyMax = 100;
const sweptMax = 100;

export function createSignIns(options: SignInsOptions): SignIns {
  const { database, changes, cookies, grantsOfUser } = options;
  const memory = createCallerMemory<UserPrincipal>({
    entriesMax: options.cacheEntriesMax,
    ageMsMax: options.cacheAgeMs,
    async find(hash) {
      const row = await store.findSession(database.sql(), hash);
      if (!row) return undefined;
      const { userId, email, groups, expiresAt } = row;
      return {
        kind: "user",
        actor: { type: "user", id: userId, name: email },
        email,
        grants: await grantsOfUser(userId, groups),
        expiresAtMs: expiresAt.getTime(),
      };
    },
  });
  changes.onForget((subject) => memory.forget(subject));

  return {
    tokenOf: (cookie) => cookies.session.find(cookie),

    authenticate: (token) => memory.get(hashToken(token)),

    async create(signIn) {
      // Expired rows are deleted before the transaction, which would otherwise hold locks on them
      // while it waits for the person's lock.
      await store.deleteExpiredSessions(database.sql(), sweptMax);
      return database.transaction(async (sql) => {
        const token = createToken();
        await store.insertSession(sql, { ...signIn, sessionHash: hashToken(token) });
        const surplus = await store.deleteSurplusSessions(sql, signIn.userId, sessionsOfPersonMax);
        for (const subject of surplus) await changes.append(subject);
        return token;
      });
    },

    async end(token) {
      const sessionHash = hashToken(token);
      await database.transaction(async (sql) => {
        const isEnded = await store.deleteSession(sql, sessionHash);
        if (isEnded) await changes.append(sessionHash.toString("hex"));
      });
    },

    async endOfUsers(userIds) {
      if (userIds.length === 0) return;
      if (!database.isInTransaction()) throw new Error("sign-ins end without their cause");
      const hashes = await store.deleteSessionsOfUsers(database.sql(), userIds);
      const subjects = hashes.length > forgottenSinglyMax ? [everything] : hashes;
      for (const subject of subjects) await changes.append(subject);
    },
  };
}
