// Sign-in sessions: begun once it is known who somebody is, ended at a fixed time, by sign-out, or
// by a change of what the person may do. Called by pages.ts, by the gate on every request with a
// cookie, and by whoever changes memberships and roles.
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
  /** Groups that the identity provider named. */
  readonly groups: readonly string[];
  /** Unix milliseconds; never moved. */
  readonly expiresAtMs: number;
};

export type SignIns = SignInReader & {
  /** Begins a session and returns its token, which is stored nowhere. */
  create(signIn: NewSignIn): Promise<string>;
  /** Ends a session on every server; one that has ended already is no failure. */
  end(token: string): Promise<void>;
  /** Ends every session of these users on every server, when the ambient transaction commits. */
  endOfUsers(userIds: readonly string[]): Promise<void>;
};

export type SignInsOptions = {
  readonly database: Database;
  readonly changes: Pick<AccessChanges, "append" | "onForget">;
  readonly cookies: Cookies;
  /** Returns what memberships and groups allow. */
  readonly grantsOfUser: (userId: string, groups: readonly string[]) => Promise<readonly Grant[]>;
  readonly cacheEntriesMax: number;
  readonly cacheAgeMs: number;
};

/** More sessions than this are forgotten as everything, which costs each caller one lookup. */
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
      // Before the transaction: ended rows are not held while it waits for the person.
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
