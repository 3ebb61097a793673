// Creates users, members and sign-ins together, because they need each other: a changed membership
// ends sign-ins, and memberships grant the permissions of sign-ins. Source: docs/spec.md,
// Authentication, 6.

import type { Database } from "../postgres/database.ts";
import type { Audit } from "./audit/audit.ts";
import type { AccessChanges } from "./changes/changes.ts";
import { createMembers, type Members } from "./members/members.ts";
import { grantsOf } from "./roles/grants.ts";
import type { Manifest } from "./roles/manifest.ts";
import { type Cookies, createCookies } from "./sign-in/cookies.ts";
import { createSignIns, type SignIns } from "./sign-in/sign-ins.ts";
import { createUsers, type Users } from "./users/users.ts";

export type People = {
  readonly users: Users;
  readonly members: Members;
  readonly signIns: SignIns;
  readonly cookies: Cookies;
};

export type PeopleOptions = {
  readonly database: Database;
  readonly audit: Pick<Audit, "append">;
  readonly changes: Pick<AccessChanges, "append" | "onForget">;
  readonly manifest: Manifest;
  /** Origin at which browsers reach the service; with https, cookies are sent over https only. */
  readonly publicOrigin: string | undefined;
  readonly cacheEntriesMax: number;
  readonly cacheAgeMs: number;
};

export function createPeople(options: PeopleOptions): People {
  const { manifest, publicOrigin } = options;
  const cookies = createCookies(publicOrigin?.startsWith("https:") === true);
  const users = createUsers(options);
  const signIns: SignIns = createSignIns({
    ...options,
    cookies,
    grantsOfUser: async (userId, groups) =>
      grantsOf(manifest, await members.rolesOf(userId), groups),
  });
  const members: Members = createMembers({
    ...options,
    users,
    endSignIns: (userIds) => signIns.endOfUsers(userIds),
  });
  return { users, members, signIns, cookies };
}
