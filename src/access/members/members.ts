// Members: people with roles in scopes, and the rules for giving and removing roles. Source:
// docs/spec.md, Authentication, 6; docs/decisions.md, 33.

import { type Actor, describeActor } from "../../base/actor.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { type Page, type PageOptions, toPage } from "../../base/pages.ts";
import { rolesOfMemberMax } from "../../base/tenant-limits.ts";
import type { Database } from "../../postgres/database.ts";
import type { Audit } from "../audit/audit.ts";
import { holds } from "../authorize.ts";
import { anyCovers } from "../permissions.ts";
import type { Principal } from "../principal.ts";
import { permissionsOf, type RoleInScope } from "../roles/grants.ts";
import { adminRoleOf, type Manifest, type Role } from "../roles/manifest.ts";
import { type Scope, type ScopeLevel, systemScope, withAbove } from "../scope.ts";
import type { User, Users } from "../users/users.ts";
import * as store from "./store.ts";
import type { MemberRow } from "./store.ts";

export type Member = MemberRow;

export type AddMemberOptions = {
  readonly scope: Scope;
  readonly email: string;
  /** Name of a role that exists at the scope's level. */
  readonly role: string;
  readonly principal: Principal;
};

export type ChangeMemberOptions = {
  readonly scope: Scope;
  readonly userId: string;
  readonly principal: Principal;
};

export type AppointCreatorOptions = {
  /** Scope in which the new scope is created. */
  readonly parent: Scope;
  readonly created: Scope;
  readonly email: string;
  /** Request field that holds the e-mail, for the error message. */
  readonly field: string;
  readonly principal: Principal;
};

/**
 * Every change ends the person's sign-ins and is audited. A caller who gives or removes a role must
 * hold all of the role's permissions in the scope; otherwise PERMISSION_NOT_HELD.
 */
export type Members = {
  /** Returns those among these people who have a role in an organization or inside it. */
  findInside(
    orgId: string,
    userIds: readonly string[],
  ): Promise<readonly Pick<User, "userId" | "email">[]>;
  /**
   * Gives a person a role. An unknown e-mail becomes a new person.
   *
   * Fails with MEMBER_EXISTS if the person already has a role in this exact scope, and with
   * INVALID_ARGUMENT if the role does not exist for the level or the person has 1,000 roles in the
   * organization.
   */
  add(options: AddMemberOptions): Promise<Member>;
  /** Returns the people with a role in this exact scope, oldest membership first. */
  list(scope: Scope, page: PageOptions): Promise<Page<Member>>;
  /**
   * Replaces a member's role. Throws the errors of `add`, NOT_FOUND if the person is not a member
   * here, and LAST_ADMIN if the last person who may manage the organization's members would lose
   * that role.
   */
  update(options: ChangeMemberOptions & { readonly role: string }): Promise<Member>;
  /** Removes a member's role and returns the old membership. Fails like `update`. */
  remove(options: ChangeMemberOptions): Promise<Member>;
  /**
   * Makes a person administrator of a new scope, in the ambient transaction. Only keys appoint a
   * creator: people who create a scope already hold it through a scope above.
   *
   * Fails with INVALID_ARGUMENT, naming the field, if the caller is a person, or if the e-mail's
   * owner has no role in the parent or above. For a new organization, any known person is accepted.
   */
  appointCreator(options: AppointCreatorOptions): Promise<void>;
  /**
   * Lets a person sign in by e-mail with another account of the identity provider, and ends the
   * person's sign-ins. Fails with NOT_FOUND if the e-mail is unknown.
   */
  release(email: string, actor: Actor): Promise<User>;
  /** Makes a person system administrator. Idempotent. */
  appointAdministrator(email: string, actor: Actor): Promise<User>;
  /** Returns every role of a person, in all scopes. */
  rolesOf(userId: string): Promise<readonly RoleInScope[]>;
};

export type MembersOptions = {
  readonly database: Database;
  readonly manifest: Manifest;
  readonly users: Users;
  readonly audit: Pick<Audit, "append">;
  /** Ends the sign-ins of people, in the ambient transaction. */
  readonly endSignIns: (userIds: readonly string[]) => Promise<void>;
};

/** People with this permission in an organization can repair its memberships. */
const managingPermission = "org.member.put";

export function createMembers(options: MembersOptions): Members {
  const { database, manifest, users } = options;

  return {
    add: ({ scope, email, role, principal }) =>
      database.transaction(async () => {
        const { name } = getRole(manifest, role, scope.level);
        assertHeld(manifest, { principal, scope, role: name });
        const user = await users.ensure(email, principal.actor);
        return give(options, { user, scope, role: name, actor: principal.actor });
      }),

    findInside: (orgId, userIds) => store.listInside(database.sql(), orgId, userIds),

    async list(scope, page) {
      const rows = await store.listMembers(database.sql(), scope, page);
      return toPage("members", rows, page.limit);
    },

    update: (change) =>
      database.transaction(async () => {
        const { scope, principal } = change;
        const role = getRole(manifest, change.role, scope.level);
        const before = await lockForChange(options, change, role);
        assertHeld(manifest, { principal, scope, role: role.name });
        if (before.role === role.name) return before;
        const { actor } = principal;
        await changeRole(options, { member: before, scope, role: role.name, actor });
        return { ...before, role: role.name };
      }),

    remove: (change) =>
      database.transaction(async (sql) => {
        const { scope, principal } = change;
        const member = await lockForChange(options, change, undefined);
        await store.deleteMembership(sql, scope, member.userId);
        const { actor } = principal;
        const before = member.role;
        await recordChange(options, { ...member, before, scope, actor, action: "member.delete" });
        return member;
      }),

    appointCreator: (appointment) =>
      database.transaction(async () => {
        const { created, principal } = appointment;
        const user = await getCreator(options, appointment);
        const role = adminRoleOf(created.level);
        await give(options, { user, scope: created, role, actor: principal.actor });
      }),

    release: (email, actor) =>
      database.transaction(async () => {
        const found = await users.findByEmail(email);
        const user = found && (await users.lock(found.userId));
        if (!user) throw new ServiceError("NOT_FOUND", "nobody has this e-mail");
        if (user.subject !== null) await users.release(user, actor);
        await options.endSignIns([user.userId]);
        return user;
      }),

    appointAdministrator: (email, actor) =>
      database.transaction(async (sql) => {
        const user = await users.ensure(email, actor);
        const role = adminRoleOf(systemScope.level);
        const known = await store.findMember(sql, systemScope, user.userId);
        if (known?.role === role) return user;
        if (known) await changeRole(options, { member: known, scope: systemScope, role, actor });
        else await give(options, { user, scope: systemScope, role, actor });
        return user;
      }),

    rolesOf: (userId) => store.listRolesOf(database.sql(), userId),
  };
}

function getRole(manifest: Manifest, name: string, level: ScopeLevel): Role {
  const role = manifest.roles.get(name);
  if (role?.levels.includes(level) === true) return role;
  const here = [...manifest.roles.values()].filter((one) => one.levels.includes(level));
  const names = here.map((one) => one.name).join(", ");
  return refuse("role", `must be a role of level ${level}: ${names || "there are none"}`);
}

/**
 * Throws if a role permits more here than the caller holds. A role that the manifest no longer has
 * permits nothing.
 */
function assertHeld(
  manifest: Manifest,
  { principal, scope, role }: { principal: Principal; scope: Scope; role: string },
): void {
  const missing = permissionsOf(manifest, { role, level: scope.level }).find(
    (pattern) => !holds(principal, pattern, scope),
  );
  if (missing === undefined) return;
  throw new ServiceError(
    "PERMISSION_NOT_HELD",
    `role: ${role} permits ${missing}, which the caller does not hold here; name a role that ` +
      "permits less, or have a member who holds it make this change",
  );
}

type Gift = {
  readonly user: User;
  readonly scope: Scope;
  readonly role: string;
  readonly actor: Actor;
};

/** Gives a role to a locked person. */
async function give(options: MembersOptions, { user, scope, role, actor }: Gift): Promise<Member> {
  const { database } = options;
  const sql = database.sql();
  const { userId } = user;
  await assertRoomFor(database, user, scope);
  if (
    !(await store.insertMembership(sql, { userId, scope, role, createdBy: describeActor(actor) }))
  ) {
    throw new ServiceError("MEMBER_EXISTS", "email: has a role here; change that one instead");
  }
  await recordChange(options, { ...user, scope, actor, action: "member.create", after: role });
  const member = await store.findMember(sql, scope, userId);
  if (!member) throw new Error("a membership went away in the transaction that made it");
  return member;
}

type RoleChange = Omit<Gift, "user"> & { readonly member: Member };

/** Gives a locked member another role. */
async function changeRole(
  options: MembersOptions,
  { member, scope, role, actor }: RoleChange,
): Promise<void> {
  await store.updateRole(options.database.sql(), scope, member.userId, role);
  const roles = { before: member.role, after: role };
  await recordChange(options, { ...member, ...roles, scope, actor, action: "member.update" });
}

async function assertRoomFor(database: Database, user: User, { orgId }: Scope): Promise<void> {
  if (orgId === undefined) return;
  const count = await store.countRolesInside(database.sql(), user.userId, orgId);
  if (count < rolesOfMemberMax) return;
  const fault = `has ${rolesOfMemberMax} roles in this organization`;
  refuse("email", `${fault}; give one further up in place of many`);
}

/**
 * Locks a member, so that of two concurrent changes the second sees the first. Checks that the
 * caller may remove the current role and that a person who manages the organization's members
 * remains.
 */
async function lockForChange(
  { database, manifest, users }: MembersOptions,
  { scope, userId, principal }: ChangeMemberOptions,
  role: Role | undefined,
): Promise<Member> {
  const sql = database.sql();
  const user = await users.lock(userId);
  // Locked with the member, always in one order: two administrators may remove each other.
  const administrators = user ? await lockAdministrators(database, manifest, scope, user) : [];
  const before = user && (await store.findMember(sql, scope, user.userId));
  if (!before) throw new ServiceError("NOT_FOUND", "no such member");
  assertHeld(manifest, { principal, scope, role: before.role });
  const isLast = administrators.length === 1 && administrators[0] === before.userId;
  if (isLast && !(role && isManaging(role))) {
    throw new ServiceError(
      "LAST_ADMIN",
      "the organization would have no member who manages its members; add one first",
    );
  }
  return before;
}

async function lockAdministrators(
  database: Database,
  manifest: Manifest,
  scope: Scope,
  { userId }: User,
): Promise<readonly string[]> {
  if (scope.level !== "org") return [];
  const roles = [...manifest.roles.values()].filter(isManaging).map(({ name }) => name);
  return store.lockMembersWithRole(database.sql(), scope, { userId, roles });
}

function isManaging({ levels, permissions }: Role): boolean {
  return levels.includes("org") && anyCovers(permissions, managingPermission);
}

type MemberChange = Pick<User, "userId" | "email"> & {
  readonly scope: Scope;
  readonly actor: Actor;
  readonly action: string;
  /** Roles before and after; undefined for none. */
  readonly before?: string;
  readonly after?: string;
};

/** Audits a change of a person's role and ends the person's sign-ins. */
async function recordChange(options: MembersOptions, change: MemberChange): Promise<void> {
  const { scope, actor, action, userId, email, before, after } = change;
  await options.audit.append({
    actor,
    scope,
    action,
    target: { type: "member", id: userId },
    ...(before !== undefined && { before: { email, role: before } }),
    ...(after !== undefined && { after: { email, role: after } }),
  });
  await options.endSignIns([userId]);
}

async function getCreator(
  { database, users }: MembersOptions,
  { parent, email, field, principal }: AppointCreatorOptions,
): Promise<User> {
  if (principal.kind === "user") refuse(field, "is for API keys only; leave it out");
  const found = await users.findByEmail(email);
  // Locked before the membership is read, so that no other transaction removes it meanwhile.
  const user = found && (await users.lock(found.userId));
  const isKnown =
    user !== undefined &&
    (parent.level === "system" ||
      (await store.hasMembership(database.sql(), user.userId, withAbove(parent))));
  if (!isKnown) {
    const level = parent.level === "dataplane" ? "data plane" : parent.level;
    const where = level === "system" ? "a user" : `a member of the ${level}`;
    refuse(field, `must be the e-mail of ${where}`);
  }
  return user;
}
