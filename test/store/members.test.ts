// People, their roles and the manifest on a real database: who may give what, races, and the
// sign-ins that end.

import { beforeAll, describe, expect, test } from "vitest";
import { createAudit } from "../../src/access/audit/audit.ts";
import type { People } from "../../src/access/people.ts";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { applyManifest } from "../../src/access/roles/apply-manifest.ts";
import { loadManifest } from "../../src/access/roles/manifest.ts";
import type { GroupRole, Manifest, Role } from "../../src/access/roles/manifest.ts";
import { type Scope, systemScope, systemScopeId } from "../../src/access/scope.ts";
import { createLocalPeople } from "../../src/commands/local-access.ts";
import { ServiceError } from "../../src/base/errors.ts";
import { createUuid } from "../../src/base/ids.ts";
import type { LocalProject } from "../../src/controlplane/projects/local-projects.ts";
import type { Sql } from "../../src/postgres/database.ts";
import { aKeyPrincipal, aUserPrincipal } from "../support/controlplane.ts";
import { givenTestDatabase } from "../support/database.ts";
import { scopeOfOrg, scopeOfProject } from "../support/keys.ts";
import { patience } from "../support/patience.ts";
import { givenAProject } from "../support/project.ts";
import { reasonOf } from "../support/reason.ts";

const own = givenTestDatabase();
let manifest: Manifest;
let people: People;
beforeAll(async () => {
  manifest = await loadManifest(undefined);
  people = createLocalPeople(own.database, manifest);
});

const everything: UserPrincipal = aUserPrincipal([
  { level: "system", scopeId: systemScopeId, permissions: ["*"] },
]);

/** Holds these permissions in an organization. */
function principalOf(scope: Scope, ...permissions: string[]): UserPrincipal {
  return aUserPrincipal([{ level: scope.level, scopeId: scope.id, permissions }]);
}

let count = 0;
function anEmail(): string {
  count += 1;
  return `person-${count}@example.org`;
}

async function givenAnOrg(): Promise<{ readonly org: Scope; readonly project: LocalProject }> {
  const project = await givenAProject(own.database);
  return { org: scopeOfOrg(project), project };
}

/** Begins a transaction, which is held open until `end`. */
function holding(begin: Statement, finish?: Statement) {
  const isHeld = Promise.withResolvers<undefined>();
  const isEnding = Promise.withResolvers<undefined>();
  const ended = own.database.transaction(async (sql) => {
    await begin(sql);
    isHeld.resolve(undefined);
    await isEnding.promise;
    await finish?.(sql);
  });
  const end = async () => {
    isEnding.resolve(undefined);
    await ended;
  };
  return { isHeld: isHeld.promise, end };
}

type Statement = (sql: Sql) => PromiseLike<unknown>;

async function untilSomebodyWaits(): Promise<void> {
  const sql = own.database.sql();
  await expect
    .poll(async () => {
      const rows = await sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return rows.length;
    }, patience)
    .toBe(1);
}

async function add(scope: Scope, role: string, email = anEmail()) {
  return people.members.add({ scope, role, email, principal: everything });
}

async function signIn(userId: string, groups: readonly string[] = []): Promise<string> {
  return people.signIns.create({ userId, groups, expiresAtMs: Date.now() + 3_600_000 });
}

async function isSignedIn(token: string): Promise<boolean> {
  try {
    await people.signIns.authenticate(token);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.reason === "NOT_FOUND") return false;
    throw error;
  }
}

async function actionsOn(targetId: string): Promise<readonly string[]> {
  const rows = await own.database.sql()<{ action: string }[]>`
    select action from audit_log where target_id = ${targetId} order by at, sequence`;
  return rows.map(({ action }) => action);
}

describe("add", () => {
  test("makes a person of an e-mail that is new, in lower case, and writes both down", async () => {
    const { org } = await givenAnOrg();
    const email = anEmail();
    const got = await add(org, "org_member", ` ${email.toUpperCase()}`);

    expect(got).toMatchObject({ email, role: "org_member", level: "org", scopeId: org.id });
    expect(await people.users.findByEmail(email)).toMatchObject({ subject: null });
    expect(await actionsOn(got.userId)).toEqual(["user.create", "member.create"]);
  });

  test.each(["", "nobody", "a@b c", "a@b\0", `${"a".repeat(250)}@b.org`])(
    "refuses %j as an e-mail",
    async (email) => {
      const { org } = await givenAnOrg();

      expect(await reasonOf(add(org, "org_member", email))).toMatch(/^INVALID_ARGUMENT email: /);
    },
  );

  test("refuses roles that are none, or for another level", async () => {
    const { org } = await givenAnOrg();
    const names = "org_admin, org_member";

    for (const role of ["boss", "project_admin", "__proto__"]) {
      expect(await reasonOf(add(org, role))).toBe(
        `INVALID_ARGUMENT role: must be a role of level org: ${names}`,
      );
    }
  });

  test("refuses a person who has a role there, and not one who has it elsewhere", async () => {
    const [one, other] = [await givenAnOrg(), await givenAnOrg()];
    const { email } = await add(one.org, "org_member");

    expect(await reasonOf(add(one.org, "org_admin", email))).toMatch(/^MEMBER_EXISTS /);
    expect(await reasonOf(add(other.org, "org_admin", email))).toBe("none");
  });

  test("of one new person by several callers at once makes one member", async () => {
    const { org } = await givenAnOrg();
    const email = anEmail();
    const reasons = await Promise.all(
      Array.from({ length: 5 }, () => reasonOf(add(org, "org_member", email))),
    );

    expect(reasons.filter((reason) => reason === "none")).toHaveLength(1);
    expect(reasons.filter((reason) => reason.startsWith("MEMBER_EXISTS"))).toHaveLength(4);
  });

  test("refuses a role that permits more than the caller holds, naming what", async () => {
    const { org } = await givenAnOrg();
    const principal = principalOf(org, "org.*", "dataplane.*", "workspace.*");
    const give = (role: string) =>
      people.members.add({ scope: org, email: anEmail(), role, principal });

    expect(await reasonOf(give("org_admin"))).toBe(
      "PERMISSION_NOT_HELD role: org_admin permits project.*, which the caller does not hold " +
        "here; name a role that permits less, or have a member who holds it make this change",
    );
    expect(await reasonOf(give("org_member"))).toMatch(/permits project\.scope\.get/);
  });

  test("takes no account of what the caller holds elsewhere", async () => {
    const [one, other] = [await givenAnOrg(), await givenAnOrg()];
    const principal = principalOf(other.org, "*");
    const options = { scope: one.org, email: anEmail(), role: "org_member", principal };

    expect(await reasonOf(people.members.add(options))).toMatch(/^PERMISSION_NOT_HELD /);
  });

  test("by a key that a key made gives nobody the right to make keys", async () => {
    const { project } = await givenAnOrg();
    const scope = scopeOfProject(project);
    const principal = { ...aKeyPrincipal(scopeOfOrg(project)), mayCreateKeys: false };
    const give = (role: string) => people.members.add({ scope, email: anEmail(), role, principal });

    expect(await reasonOf(give("project_admin"))).toMatch(/^PERMISSION_NOT_HELD /);
    expect(await reasonOf(give("project_member"))).toBe("none");
  });

  test("ends the sign-ins of the person alone", async () => {
    const { org, project } = await givenAnOrg();
    const [one, other] = [await add(org, "org_member"), await add(org, "org_member")];
    const [token, otherToken] = [await signIn(one.userId), await signIn(other.userId)];
    await add(scopeOfProject(project), "project_viewer", one.email);

    expect(await isSignedIn(token)).toBe(false);
    expect(await isSignedIn(otherToken)).toBe(true);
  });
});

describe("update and remove", () => {
  test("change the role, write it down and end the sign-ins", async () => {
    const { org } = await givenAnOrg();
    const member = await add(org, "org_member");
    const token = await signIn(member.userId);
    const change = { scope: org, userId: member.userId, principal: everything };
    const got = await people.members.update({ ...change, role: "org_admin" });

    expect(got).toEqual({ ...member, role: "org_admin" });
    expect(await isSignedIn(token)).toBe(false);
    expect((await actionsOn(member.userId)).at(-1)).toBe("member.update");
  });

  test("to the role that the member has change nothing", async () => {
    const { org } = await givenAnOrg();
    const { userId, ...member } = await add(org, "org_member");
    const token = await signIn(userId);
    const change = { scope: org, userId, principal: everything };

    expect(await people.members.update({ ...change, role: "org_member" })).toMatchObject(member);
    expect(await isSignedIn(token)).toBe(true);
  });

  test("of somebody who is no member here are NOT_FOUND", async () => {
    const [one, other] = [await givenAnOrg(), await givenAnOrg()];
    const { userId } = await add(other.org, "org_member");

    for (const id of [userId, createUuid(), "nobody", ""]) {
      const change = { scope: one.org, userId: id, principal: everything };
      expect(await reasonOf(people.members.remove(change))).toMatch(/^NOT_FOUND /);
      const update = people.members.update({ ...change, role: "org_admin" });
      expect(await reasonOf(update)).toMatch(/^NOT_FOUND /);
    }
  });

  test("are refused for members who hold more than the caller", async () => {
    const { org } = await givenAnOrg();
    await add(org, "org_admin");
    const { userId } = await add(org, "org_admin");
    const change = { scope: org, userId, principal: principalOf(org, "org.*") };

    expect(await reasonOf(people.members.remove(change))).toMatch(/^PERMISSION_NOT_HELD /);
    const update = people.members.update({ ...change, role: "org_member" });
    expect(await reasonOf(update)).toMatch(/^PERMISSION_NOT_HELD role: org_admin /);
  });

  test("keep one who manages the organization's members", async () => {
    const { org, project } = await givenAnOrg();
    const last = await add(org, "org_admin");
    await add(org, "org_member");
    await add(scopeOfProject(project), "project_admin");
    const change = { scope: org, userId: last.userId, principal: everything };

    expect(await reasonOf(people.members.remove(change))).toMatch(/^LAST_ADMIN /);
    const update = () => people.members.update({ ...change, role: "org_member" });
    expect(await reasonOf(update())).toMatch(/^LAST_ADMIN /);
    await add(org, "org_admin");
    expect(await reasonOf(update())).toBe("none");
  });

  test("of an organization that has no such member are free", async () => {
    const { org } = await givenAnOrg();
    const { userId } = await add(org, "org_member");

    const change = { scope: org, userId, principal: everything };
    expect(await reasonOf(people.members.remove(change))).toBe("none");
  });

  test("of two administrators who remove each other at once keep one", async () => {
    const { org } = await givenAnOrg();
    const admins = await Promise.all([1, 2, 3].map(() => add(org, "org_admin")));
    const reasons = await Promise.all(
      admins.map(({ userId }) =>
        reasonOf(people.members.remove({ scope: org, userId, principal: everything })),
      ),
    );

    expect(reasons.filter((reason) => reason.startsWith("LAST_ADMIN"))).toHaveLength(1);
    expect(reasons.filter((reason) => reason === "none")).toHaveLength(2);
  });

  test("of one member at once and of all others wait in one order", async () => {
    const { org } = await givenAnOrg();
    const [first, second] = (
      await Promise.all([add(org, "org_admin"), add(org, "org_admin")])
    ).toSorted((one, other) => (one.userId < other.userId ? -1 : 1));
    if (!first || !second) throw new Error("no members");
    const change = { scope: org, userId: first.userId, principal: everything };
    await people.members.update({ ...change, role: "org_member" });
    // Stands for a change that found the first one administrator still, and goes on to the second.
    const other = holding(
      (sql) => sql`select from memberships where user_id = ${first.userId} for update`,
      (sql) => sql`select from memberships where user_id = ${second.userId} for update nowait`,
    );
    await other.isHeld;
    const promoted = people.members.update({ ...change, role: "org_admin" });
    await untilSomebodyWaits();
    await other.end();

    expect((await promoted).role).toBe("org_admin");
  });

  test("take away a role that the manifest no longer has", async () => {
    const { org } = await givenAnOrg();
    const { userId } = await add(org, "org_member");
    await own.database.sql()`update memberships set role = 'gone' where user_id = ${userId}`;
    const principal = principalOf(org, "org.member.delete");

    const got = await people.members.remove({ scope: org, userId, principal });
    expect(got.role).toBe("gone");
  });
});

describe("list", () => {
  test("pages through the members of this very scope, the oldest first", async () => {
    const { org, project } = await givenAnOrg();
    await add(scopeOfProject(project), "project_viewer");
    const added: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      added.push((await add(org, "org_member")).userId);
    }
    const first = await people.members.list(org, { limit: 3, after: undefined });
    const { createdAtUs, id } = first.items.at(-1) as unknown as {
      createdAtUs: number;
      id: string;
    };
    const second = await people.members.list(org, { limit: 3, after: { createdAtUs, id } });

    expect([...first.items, ...second.items].map(({ userId }) => userId)).toEqual(added);
    expect(first.nextCursor).toBeDefined();
    expect(second.nextCursor).toBeUndefined();
  });
});

describe("appointCreator", () => {
  const appoint = (parent: Scope, created: Scope, email: string, principal = aKeyPrincipal()) => {
    const options = { parent, created, email, field: "project_creator", principal };
    return own.database.transaction(() => people.members.appointCreator(options));
  };

  test("makes a member from above the administrator", async () => {
    const { org, project } = await givenAnOrg();
    const created = scopeOfProject(project);
    const { email, userId } = await add(org, "org_member");
    const { clusterId = "default" } = created;
    const parent: Scope = {
      level: "workspace",
      id: project.workspaceId,
      name: "w",
      clusterId,
      orgId: org.id,
      dataplaneId: project.dataplaneId,
      workspaceId: project.workspaceId,
    };
    await appoint(parent, created, email.toUpperCase());

    const roles = await people.members.rolesOf(userId);
    expect(roles).toContainEqual({ level: "project", scopeId: created.id, role: "project_admin" });
  });

  test.each([
    { name: "somebody unknown", email: "nobody@example.org" },
    { name: "no e-mail", email: "nobody" },
    { name: "a text that Postgres refuses", email: "a\0@example.org" },
  ])("refuses $name, naming the field", async ({ email }) => {
    const { org, project } = await givenAnOrg();

    expect(await reasonOf(appoint(org, scopeOfProject(project), email))).toBe(
      "INVALID_ARGUMENT project_creator: must be the e-mail of a member of the org",
    );
  });

  test("refuses members of another organization and of scopes further in", async () => {
    const [one, other] = [await givenAnOrg(), await givenAnOrg()];
    const stranger = await add(other.org, "org_admin");
    const inner = await add(scopeOfProject(one.project), "project_admin");

    for (const { email } of [stranger, inner]) {
      const got = await reasonOf(appoint(one.org, scopeOfProject(one.project), email));
      expect(got).toMatch(/^INVALID_ARGUMENT project_creator: /);
    }
  });

  test("is for keys alone", async () => {
    const { org, project } = await givenAnOrg();
    const { email } = await add(org, "org_member");
    const options = { parent: org, created: scopeOfProject(project), email, field: "x_creator" };
    const got = people.members.appointCreator({ ...options, principal: everything });

    expect(await reasonOf(got)).toMatch(/^INVALID_ARGUMENT x_creator: /);
  });

  test("above all organizations takes anybody known", async () => {
    const [one, other] = [await givenAnOrg(), await givenAnOrg()];
    const { email, userId } = await add(other.org, "org_member");
    await appoint(systemScope, one.org, email);

    const roles = await people.members.rolesOf(userId);
    expect(roles).toContainEqual({ level: "org", scopeId: one.org.id, role: "org_admin" });
  });
});

describe("appointAdministrator", () => {
  test("makes one system administrator, however often it is asked", async () => {
    const email = anEmail();
    const first = await people.members.appointAdministrator(email, everything.actor);
    const token = await signIn(first.userId);
    const second = await people.members.appointAdministrator(email, everything.actor);

    expect(second.userId).toBe(first.userId);
    expect(await isSignedIn(token)).toBe(true);
    expect(await people.members.rolesOf(first.userId)).toEqual([
      { level: "system", scopeId: systemScopeId, role: "system_admin" },
    ]);
  });
});

test("an administrator who had another role of the system is written down with it", async () => {
  const email = anEmail();
  const { userId } = await people.users.ensure(email, everything.actor);
  await own.database.sql()`
    insert into memberships (user_id, level, scope_id, role, created_by)
    values (${userId}, 'system', ${systemScopeId}, 'auditor', 'test')`;

  await people.members.appointAdministrator(email, everything.actor);

  const rows = await own.database.sql()`
    select action, before, after from audit_log
    where target_type = 'member' and target_id = ${userId}`;
  const want = { before: { email, role: "auditor" }, after: { email, role: "system_admin" } };
  expect(rows).toEqual([{ action: "member.update", ...want }]);
});

test("release ends the sign-ins of somebody whom no provider has signed in yet", async () => {
  const email = anEmail();
  const { userId } = await people.members.appointAdministrator(email, everything.actor);
  const token = await signIn(userId);

  await people.members.release(email, everything.actor);

  expect(await isSignedIn(token)).toBe(false);
});

describe("recordSignIn", () => {
  const identity = (email: string, subject = createUuid()) => ({
    issuer: "https://id.example.org",
    subject,
    email,
    name: "Ada",
  });

  test("binds whoever was invited by e-mail, and finds them by subject from then on", async () => {
    const { org } = await givenAnOrg();
    const { email, userId } = await add(org, "org_member");
    const first = identity(email.toUpperCase());

    expect(await people.users.recordSignIn(first)).toMatchObject({ userId, email, name: "Ada" });
    const got = await people.users.recordSignIn({ ...first, name: undefined });
    expect(got).toMatchObject({ userId, name: "Ada" });
    expect(await actionsOn(userId)).toEqual(["user.create", "member.create", "user.update"]);
  });

  test("keeps a name as one line without control characters", async () => {
    const chosen = identity(anEmail());
    const name = "\u001b]0;x\u0007\u202eAda\r\n\0\u2028Núñez\u009b2J ";

    const got = await people.users.recordSignIn({ ...chosen, name });

    expect(got?.name).toBe("]0;x Ada Núñez 2J");
  });

  test("makes a person of somebody new", async () => {
    const email = anEmail();
    const got = await people.users.recordSignIn(identity(email));

    expect(got).toMatchObject({ email });
    expect(got?.lastSignInAt).toBeInstanceOf(Date);
  });

  test("refuses an e-mail that is bound to somebody else", async () => {
    const email = anEmail();
    const first = await people.users.recordSignIn(identity(email));

    expect(await people.users.recordSignIn(identity(email))).toBeUndefined();
    expect(await people.users.findByEmail(email)).toEqual(first);
  });

  test("follows a new e-mail that is free, and not one that is taken", async () => {
    const [taken, free] = [anEmail(), anEmail()];
    const { org } = await givenAnOrg();
    await add(org, "org_admin", taken);
    const first = identity(anEmail());
    const user = await people.users.recordSignIn(first);
    const kept = await people.users.recordSignIn({ ...first, email: taken });
    const moved = await people.users.recordSignIn({ ...first, email: free });

    expect(kept).toMatchObject({ userId: user?.userId, email: first.email });
    expect(moved).toMatchObject({ userId: user?.userId, email: free });
  });

  test("of one person in several browsers at once makes one person", async () => {
    const first = identity(anEmail());
    const got = await Promise.all(
      Array.from({ length: 5 }, () => people.users.recordSignIn(first)),
    );

    expect(new Set(got.map((user) => user?.userId)).size).toBe(1);
    expect(got[0]?.userId).toBeDefined();
  });

  test("of one person by two e-mails at once makes one person", async () => {
    const first = identity(anEmail());
    const { userId } = await people.users.ensure(first.email, everything.actor);
    const other = holding(
      (sql) => sql`
        update users set issuer = ${first.issuer}, subject = ${first.subject}
        where user_id = ${userId}`,
    );
    await other.isHeld;
    const got = people.users.recordSignIn({ ...first, email: anEmail() });
    await untilSomebodyWaits();
    await other.end();

    expect(await got).toMatchObject({ userId });
  });
});

describe("applyManifest", () => {
  const withRoles = (changed: readonly Role[], groups: readonly GroupRole[] = []): Manifest => ({
    ...manifest,
    roles: new Map([...manifest.roles, ...changed.map((role) => [role.name, role] as const)]),
    groups,
  });
  const viewer = (permissions: readonly string[], title = "V"): Role => ({
    name: "project_viewer",
    title,
    levels: ["project"],
    permissions,
  });

  async function apply(to: Manifest, warnings: object[] = []): Promise<void> {
    const { database } = own;
    await applyManifest(to, {
      database,
      audit: createAudit(database),
      endSignIns: (userIds) => people.signIns.endOfUsers(userIds),
      permissions: ["org.scope.get", "dataplane.scope.get", "workspace.scope.get"],
      logger: {
        warn: (fields: unknown) => {
          warnings.push(fields as object);
        },
      },
    });
  }

  async function givenAViewer(): Promise<string> {
    const { project } = await givenAnOrg();
    const { userId } = await add(scopeOfProject(project), "project_viewer");
    return signIn(userId);
  }

  async function countApplied(): Promise<number> {
    return (await actionsOn(systemScopeId)).length;
  }

  test("ends the sign-ins of members whose role changed, and of no one else", async () => {
    await apply(manifest);
    const { org } = await givenAnOrg();
    const token = await givenAViewer();
    const other = await signIn((await add(org, "org_member")).userId);
    const before = await countApplied();
    await apply(withRoles([viewer(["project.event.get"])]));

    expect(await isSignedIn(token)).toBe(false);
    expect(await isSignedIn(other)).toBe(true);
    expect(await countApplied()).toBe(before + 1);
  });

  test("of what is the same but for a title or an order changes nothing", async () => {
    await apply(withRoles([viewer(["project.event.get", "project.event.list"])]));
    const token = await givenAViewer();
    const before = await countApplied();
    await apply(withRoles([viewer(["project.event.list", "project.event.get"], "Viewer")]));

    expect(await isSignedIn(token)).toBe(true);
    expect(await countApplied()).toBe(before);
  });

  test("ends the sign-ins whose groups are mapped differently", async () => {
    const { org } = await givenAnOrg();
    const groupRole = (group: string, role: string): GroupRole => ({
      group,
      role,
      level: "org",
      scopeId: org.id,
    });
    const [staff, others] = [groupRole("staff", "org_member"), groupRole("others", "org_member")];
    await apply(withRoles([], [staff, others]));
    const { userId } = await add(org, "org_member");
    const { userId: otherId } = await add(org, "org_member");
    const [token, other] = [await signIn(userId, ["staff"]), await signIn(otherId, ["others"])];
    await apply(withRoles([], [groupRole("staff", "org_admin"), others]));

    expect(await isSignedIn(token)).toBe(false);
    expect(await isSignedIn(other)).toBe(true);
  });

  test("ends the sign-ins of whoever has a role that changed by a group alone", async () => {
    const { org, project } = await givenAnOrg();
    const groups: readonly GroupRole[] = [
      { group: "watchers", role: "project_viewer", level: "project", scopeId: project.projectId },
      { group: "staff", role: "org_member", level: "org", scopeId: org.id },
    ];
    await apply(withRoles([viewer(["project.event.get"])], groups));
    const signInOfGroup = async (group: string) => {
      const actor = { type: "operator", id: "op", name: "op" } as const;
      return signIn((await people.users.ensure(anEmail(), actor)).userId, [group]);
    };
    const [token, other] = [await signInOfGroup("watchers"), await signInOfGroup("staff")];

    await apply(withRoles([viewer(["project.event.list"])], groups));

    expect(await isSignedIn(token)).toBe(false);
    expect(await isSignedIn(other)).toBe(true);
  });

  test("warns of memberships whose role is gone, and ends their sign-ins", async () => {
    const without = (name: string): Manifest => {
      const roles = new Map(manifest.roles);
      roles.delete(name);
      return { ...manifest, roles };
    };
    await apply(manifest);
    const token = await givenAViewer();
    const warnings: object[] = [];
    await apply(without("project_viewer"), warnings);

    expect(await isSignedIn(token)).toBe(false);
    const gone = warnings.find((warning) => "role" in warning && warning.role === "project_viewer");
    expect(gone).toMatchObject({ memberships: expect.any(Number) as number });
    const { userId } = await add((await givenAnOrg()).org, "org_member");
    const user = await createLocalPeople(own.database, without("org_member")).signIns.authenticate(
      await signIn(userId),
    );
    expect(user.grants).toEqual([]);
  });

  test("warns of patterns that no call asks for, with their lines", async () => {
    const warnings: object[] = [];
    await apply(manifest, warnings);

    expect(warnings).toContainEqual({
      file: "roles.yaml",
      line: manifest.patterns.find(({ pattern }) => pattern === "project.event.get")?.line,
      pattern: "project.event.get",
    });
    expect(warnings).not.toContainEqual(expect.objectContaining({ pattern: "org.*" }));
  });

  test("by several servers at once is written down once", async () => {
    await apply(manifest);
    const before = await countApplied();
    const changed = withRoles([viewer(["project.session.get"])]);
    await Promise.all([apply(changed), apply(changed), apply(changed)]);

    expect(await countApplied()).toBe(before + 1);
  });
});
