// What one tenant can learn of another tenant's people and change for them by giving roles.

import { beforeAll, describe, expect, test } from "vitest";
import type { People } from "../../src/access/people.ts";
import { loadManifest } from "../../src/access/roles/manifest.ts";
import { type Scope, systemScopeId } from "../../src/access/scope.ts";
import { createLocalPeople } from "../../src/commands/local-access.ts";
import { aKeyPrincipal, aUserPrincipal } from "../support/controlplane.ts";
import { givenTestDatabase } from "../support/database.ts";
import { scopeOfOrg, scopeOfProject } from "../support/keys.ts";
import { givenAProject } from "../support/project.ts";

const own = givenTestDatabase();
let people: People;
beforeAll(async () => {
  people = createLocalPeople(own.database, await loadManifest(undefined));
});

const principal = aUserPrincipal([{ level: "system", scopeId: systemScopeId, permissions: ["*"] }]);

let count = 0;
function anEmail(): string {
  count += 1;
  return `person-${count}@example.org`;
}

type TestScopes = { readonly org: Scope; readonly workspace: Scope; readonly project: Scope };

async function givenScopes(): Promise<TestScopes> {
  const made = await givenAProject(own.database);
  const { orgId, dataplaneId, workspaceId } = made;
  const above = { orgId, dataplaneId, workspaceId };
  return {
    org: scopeOfOrg(made),
    workspace: { level: "workspace", id: workspaceId, name: "a workspace", ...above },
    project: scopeOfProject(made),
  };
}

async function add(scope: Scope, role: string, email: string) {
  return people.members.add({ scope, role, email, principal });
}

async function signInAs(email: string): Promise<string> {
  const identity = { issuer: "https://id.example.org", subject: email, email, name: "Ada" };
  return (await people.users.recordSignIn(identity))?.userId ?? "";
}

/** Gives a person roles in projects that are made for this. */
async function givenRoles(userId: string, { workspaceId = "" }: Scope, rolesCount: number) {
  await own.database.sql()`
    with made as (
      insert into projects (project_id, workspace_id, name)
      select gen_random_uuid(), ${workspaceId}, 'project ' || n
      from generate_series(1, ${rolesCount}) as n
      returning project_id
    )
    insert into memberships (user_id, level, scope_id, role, created_by)
    select ${userId}, 'project', project_id, 'project_viewer', 'test' from made`;
}

describe("a person whom another tenant knows", () => {
  test("has no name until they have signed in as a member", async () => {
    const { org } = await givenScopes();
    const email = anEmail();
    await signInAs(email);
    const added = await add(org, "org_member", email);
    const [before] = (await people.members.list(org, { limit: 1, after: undefined })).items;
    await signInAs(email);
    const [after] = (await people.members.list(org, { limit: 1, after: undefined })).items;

    expect([added.name, before?.name, after?.name]).toEqual([null, null, "Ada"]);
  });

  test("has an id that does not tell since when", async () => {
    const { org } = await givenScopes();
    const { userId } = await add(org, "org_member", anEmail());

    // Version 7 begins with the time.
    expect(userId[14]).toBe("4");
  });
});

describe("roles of a person", () => {
  test("are at most 1,000 in one organization, and free in another", async () => {
    const [one, other] = [await givenScopes(), await givenScopes()];
    const email = anEmail();
    const userId = await signInAs(email);
    await givenRoles(userId, one.workspace, 1_000);

    await expect(add(one.org, "org_member", email)).rejects.toMatchObject({
      reason: "INVALID_ARGUMENT",
      message: expect.stringMatching(/^email: has 1000 roles in this organization/) as string,
    });
    await expect(add(other.org, "org_member", email)).resolves.toMatchObject({ userId });
  });

  test("in archived scopes do not count, and are forgotten after a day", async () => {
    const { org, workspace } = await givenScopes();
    const email = anEmail();
    const userId = await signInAs(email);
    await givenRoles(userId, workspace, 1_000);
    const archiveAgo = (interval: string) => own.database.sql()`
      update workspaces set archived_at = now() - ${interval}::interval
      where workspace_id = ${workspace.id}`;

    await archiveAgo("23 hours");
    const recent = await people.members.rolesOf(userId);
    await archiveAgo("25 hours");
    const old = await people.members.rolesOf(userId);

    expect([recent.length, old.length]).toEqual([1_000, 0]);
    await expect(add(org, "org_member", email)).resolves.toMatchObject({ userId });
  });
});

test("a workspace's key, which makes no keys, gives nobody the right to", async () => {
  const { workspace } = await givenScopes();
  const give = (role: string) =>
    people.members.add({
      scope: workspace,
      email: anEmail(),
      role,
      principal: aKeyPrincipal(workspace),
    });

  await expect(give("workspace_admin")).rejects.toMatchObject({ reason: "PERMISSION_NOT_HELD" });
  await expect(give("workspace_member")).resolves.toMatchObject({ role: "workspace_member" });
});
