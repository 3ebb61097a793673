// Organizations, data planes, workspaces and projects against a real Postgres: their names, their
// place in the tree, their first administrator, and their pages.

import fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Scope, systemScope } from "../../../src/access/scope.ts";
import { createUuid } from "../../../src/base/ids.ts";
import { parsePageOptions } from "../../../src/base/pages.ts";
import { aControlplane, aKeyPrincipal, aUserPrincipal } from "../../support/controlplane.ts";
import type { TestControlplane } from "../../support/controlplane.ts";
import { givenTestDatabase } from "../../support/database.ts";

const testDatabase = givenTestDatabase();
let plane: TestControlplane;
let automatic: TestControlplane;
let org: Scope;
let dataplane: Scope;
let workspace: Scope;

const key = aKeyPrincipal();
const { actor } = key;
const anybody = { description: undefined, creator: undefined };
const refused = (reason: string, message = /./) =>
  expect.objectContaining({ reason, message: expect.stringMatching(message) as string }) as Error;

beforeAll(async () => {
  const { database } = testDatabase;
  plane = await aControlplane({ database });
  automatic = await aControlplane({ database, assignment: "automatic" });
});

beforeEach(async () => {
  org = await anOrg();
  const { id } = await plane.dataplanes.create(org, aDataplane({ clusterId: "eu" }), key);
  dataplane = await plane.database.transaction(() => plane.scopes.hold("dataplane", id));
  workspace = await aWorkspace();
});

async function anOrg(name = createUuid()): Promise<Scope> {
  const { id } = await plane.orgs.create({ name, creator: undefined }, key);
  return plane.database.transaction(() => plane.scopes.hold("org", id));
}

async function aWorkspace(name = createUuid()): Promise<Scope> {
  const { id } = await plane.workspaces.create(dataplane, { name, ...anybody }, key);
  return plane.database.transaction(() => plane.scopes.hold("workspace", id));
}

function aDataplane(fields: { name?: string; clusterId?: string; creator?: string } = {}) {
  const { name = createUuid(), clusterId, creator } = fields;
  return { name, clusterId, creator };
}

async function auditOf(orgId: string) {
  const sql = plane.database.sql();
  return sql<{ action: string; target_id: string; before: unknown; after: unknown }[]>`
    select action, target_id, before, after from audit_log
    where org_id = ${orgId} order by sequence`;
}

describe("names", () => {
  const levels = [
    {
      level: "organization",
      create: (name: string) => plane.orgs.create({ name, creator: undefined }, key),
      rename: (id: string, name: string) => plane.orgs.rename(id, name, actor),
    },
    {
      level: "data plane",
      create: (name: string) => plane.dataplanes.create(org, aDataplane({ name }), key),
      rename: (id: string, name: string) => plane.dataplanes.rename(id, name, actor),
    },
    {
      level: "workspace",
      create: (name: string) => plane.workspaces.create(dataplane, { name, ...anybody }, key),
      rename: (id: string, name: string) =>
        plane.workspaces.update(id, { name, description: undefined }, actor),
    },
    {
      level: "project",
      create: (name: string) => plane.projects.create(workspace, { name, ...anybody }, key),
      rename: (id: string, name: string) =>
        plane.projects.update(id, { name, description: undefined }, actor),
    },
  ];

  describe.each(levels)("of a $level", ({ level, create, rename }) => {
    test("are unique among active siblings", async () => {
      const name = `Team ${createUuid()}`;
      await create(name);

      await expect(create(name)).rejects.toThrow(refused("NAME_TAKEN", new RegExp(level)));
    });

    test("of two made at once go to one", async () => {
      const name = `Team ${createUuid()}`;

      const got = await Promise.allSettled(Array.from({ length: 4 }, () => create(name)));

      expect(got.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const one of got) {
        if (one.status === "rejected") expect(one.reason).toEqual(refused("NAME_TAKEN"));
      }
    });

    test("change, but not to a sibling's", async () => {
      const [one, other] = [await create(createUuid()), await create(createUuid())];
      const name = `Team ${createUuid()}`;

      const renamed = await rename(one.id, name);

      expect(renamed).toMatchObject({ id: one.id, name });
      await expect(rename(other.id, name)).rejects.toThrow(refused("NAME_TAKEN"));
      await expect(rename(one.id, name)).resolves.toMatchObject({ name });
    });

    test("of an archived one are free again", async () => {
      const name = `Team ${createUuid()}`;
      const { id } = await create(name);
      const found = await plane.database.transaction(() =>
        plane.scopes.hold(scopeLevelOf(level), id),
      );
      await plane.archives.archive(found, { withChildren: false, actor });

      await expect(create(name)).resolves.toMatchObject({ name });
      await expect(rename(id, "Other")).rejects.toThrow(refused("NOT_FOUND"));
    });

    test.each([
      { name: "nothing", value: "" },
      { name: "spaces only", value: "   " },
      { name: "NUL, which Postgres refuses", value: "a\0b" },
      { name: "a line break", value: "a\nb" },
      { name: "half of a surrogate pair", value: "a\ud800b" },
      { name: "257 characters", value: "x".repeat(257) },
    ])("cannot be $name", async ({ value }) => {
      await expect(create(value)).rejects.toThrow(refused("INVALID_ARGUMENT", /^name: /));
    });

    test("may have 256 characters", async () => {
      const name = createUuid().padEnd(256, "x");

      await expect(create(name)).resolves.toMatchObject({ name });
    });
  });

  test("are no secret between siblings of other parents", async () => {
    const name = createUuid();
    const other = await aWorkspace();

    await plane.projects.create(workspace, { name, ...anybody }, key);

    await expect(plane.projects.create(other, { name, ...anybody }, key)).resolves.toMatchObject({
      name,
    });
  });
});

function scopeLevelOf(level: string) {
  if (level === "organization") return "org";
  return level === "data plane" ? "dataplane" : level === "workspace" ? "workspace" : "project";
}

describe("names of data planes", () => {
  test("hold letters, digits, space and four signs", async () => {
    const allowed = fc.stringMatching(/^[A-Za-z0-9_'&-][A-Za-z0-9 _'&-]{0,20}$/);
    await fc.assert(
      fc.asyncProperty(allowed, async (text) => {
        const name = `a${text}${createUuid()}`;
        const created = await plane.dataplanes.create(org, aDataplane({ name }), key);
        expect(created.name).toBe(name);
      }),
      { numRuns: 20 },
    );
  });

  test.each([" a", "-_'&", "a/b", "a.b", "a\tb", "naïve!", "a<b>"])(
    "are never %j",
    async (name) => {
      await expect(plane.dataplanes.create(org, aDataplane({ name }), key)).rejects.toThrow(
        refused("INVALID_ARGUMENT", /^name: /),
      );
      await expect(plane.dataplanes.rename(dataplane.id, name, actor)).rejects.toThrow(
        refused("INVALID_ARGUMENT", /^name: /),
      );
    },
  );
});

describe("the cluster of a data plane", () => {
  test("is that of the organization's others when none is given", async () => {
    const created = await plane.dataplanes.create(org, aDataplane(), key);

    expect(created.clusterId).toBe("eu");
  });

  test("is required where the organization has no data plane yet", async () => {
    await expect(plane.dataplanes.create(await anOrg(), aDataplane(), key)).rejects.toThrow(
      refused("CLUSTER_REQUIRED", /^cluster_id: is required/),
    );
  });

  test("is required again once all data planes are archived", async () => {
    await plane.archives.archive(dataplane, { withChildren: true, actor });

    await expect(plane.dataplanes.create(org, aDataplane(), key)).rejects.toThrow(
      refused("CLUSTER_REQUIRED"),
    );
  });

  test("is ambiguous where the organization's data planes span several", async () => {
    await plane.dataplanes.create(org, aDataplane({ clusterId: "us" }), key);

    await expect(plane.dataplanes.create(org, aDataplane(), key)).rejects.toThrow(
      refused("CLUSTER_AMBIGUOUS", /^cluster_id: is ambiguous/),
    );
    await expect(
      plane.dataplanes.create(org, aDataplane({ clusterId: "us" }), key),
    ).resolves.toMatchObject({ clusterId: "us" });
  });

  test.each(["mars", "", "EU"])("is configured: %j is refused", async (clusterId) => {
    await expect(plane.dataplanes.create(org, aDataplane({ clusterId }), key)).rejects.toThrow(
      refused("CLUSTER_UNKNOWN", /^cluster_id: no cluster/),
    );
  });

  test("that is configured no more takes no further data plane", async () => {
    const { database } = testDatabase;
    const smaller = await aControlplane({ database, clusterIds: ["default"] });

    await expect(smaller.dataplanes.create(org, aDataplane(), key)).rejects.toThrow(
      refused("CLUSTER_UNKNOWN", /configured no more/),
    );
  });
});

describe("where data planes are assigned automatically", () => {
  test("an organization is made with its data plane", async () => {
    const name = createUuid();

    const { id } = await automatic.orgs.create({ name, creator: undefined }, key);

    const { items } = await automatic.dataplanes.list(id, parsePageOptions("dataplane", {}));
    expect(items).toMatchObject([{ name: "default", clusterId: "default", orgId: id }]);
    expect((await auditOf(id)).map(({ action }) => action)).toEqual([
      "org.create",
      "dataplane.create",
    ]);
  });

  test("writes on data planes are refused as absent, and reads work", async () => {
    const absent = refused("NOT_FOUND");
    const options = { withChildren: true, actor };

    await expect(
      automatic.dataplanes.create(org, aDataplane({ clusterId: "default" }), key),
    ).rejects.toThrow(absent);
    await expect(automatic.dataplanes.rename(dataplane.id, "New", actor)).rejects.toThrow(absent);
    await expect(automatic.dataplanes.archive(dataplane, options)).rejects.toThrow(absent);
    await expect(automatic.dataplanes.get(dataplane.id)).resolves.toMatchObject({
      id: dataplane.id,
      clusterId: "eu",
    });
  });
});

describe("creators", () => {
  const email = () => `${createUuid()}@example.org`;

  async function aMember(scope: Scope, role: string): Promise<string> {
    const { email: added } = await plane.members.add({
      scope,
      email: email(),
      role,
      principal: key,
    });
    return added;
  }

  async function rolesIn(level: string, scopeId: string) {
    const sql = plane.database.sql();
    return sql<{ email: string; role: string }[]>`
      select email, role from memberships join users using (user_id)
      where level = ${level} and scope_id = ${scopeId}`;
  }

  test("of workspaces are members of the data plane and become administrators", async () => {
    const creator = await aMember(dataplane, "dataplane_member");

    const options = { name: createUuid(), description: undefined, creator };
    const { id } = await plane.workspaces.create(dataplane, options, key);

    expect(await rolesIn("workspace", id)).toEqual([{ email: creator, role: "workspace_admin" }]);
  });

  test("of projects and data planes may be members further up", async () => {
    const creator = await aMember(org, "org_member");

    const project = await plane.projects.create(
      workspace,
      { name: createUuid(), description: undefined, creator },
      key,
    );
    const made = await plane.dataplanes.create(org, aDataplane({ creator }), key);

    expect(await rolesIn("project", project.id)).toEqual([
      { email: creator, role: "project_admin" },
    ]);
    expect(await rolesIn("dataplane", made.id)).toEqual([
      { email: creator, role: "dataplane_admin" },
    ]);
  });

  test("of organizations are users", async () => {
    const creator = await aMember(org, "org_member");

    const { id } = await plane.orgs.create({ name: createUuid(), creator }, key);

    expect(await rolesIn("org", id)).toEqual([{ email: creator, role: "org_admin" }]);
  });

  test("when left out, nobody is a member", async () => {
    expect(await rolesIn("workspace", workspace.id)).toEqual([]);
  });

  test("who are no members there undo the whole creation", async () => {
    const name = createUuid();
    const stranger = await aMember(await anOrg(), "org_member");

    for (const creator of [email(), stranger, ""]) {
      await expect(
        plane.workspaces.create(dataplane, { name, description: undefined, creator }, key),
      ).rejects.toThrow(refused("INVALID_ARGUMENT", /^workspace_creator: /));
    }
    await expect(aWorkspace(name)).resolves.toMatchObject({ name });
  });

  test("are taken from keys only", async () => {
    const creator = await aMember(dataplane, "dataplane_member");
    const person = aUserPrincipal([
      { level: "system", scopeId: systemScope.id, permissions: ["*"] },
    ]);

    await expect(
      plane.workspaces.create(
        dataplane,
        { name: createUuid(), description: undefined, creator },
        person,
      ),
    ).rejects.toThrow(refused("INVALID_ARGUMENT", /^workspace_creator: /));
  });
});

describe("changes", () => {
  test("of name and description each leave the other", async () => {
    const { id } = await plane.workspaces.create(
      dataplane,
      { name: createUuid(), description: "first", creator: undefined },
      key,
    );

    const renamed = await plane.workspaces.update(
      id,
      { name: "New", description: undefined },
      actor,
    );
    const emptied = await plane.workspaces.update(id, { name: undefined, description: "" }, actor);

    expect(renamed).toMatchObject({ name: "New", description: "first" });
    expect(emptied).toMatchObject({ name: "New", description: null });
    expect(emptied.updatedAt.getTime()).toBeGreaterThan(emptied.createdAt.getTime());
  });

  test("need a name or a description", async () => {
    const change = { name: undefined, description: undefined };
    const empty = refused("INVALID_ARGUMENT", /^name: /);

    await expect(plane.workspaces.update(workspace.id, change, actor)).rejects.toThrow(empty);
    await expect(plane.projects.update(workspace.id, change, actor)).rejects.toThrow(empty);
    await expect(plane.orgs.rename(org.id, undefined, actor)).rejects.toThrow(empty);
    await expect(plane.dataplanes.rename(dataplane.id, undefined, actor)).rejects.toThrow(empty);
  });

  test.each(["a\0b", "a\ud800b", "x".repeat(4_097)])(
    "to a description that cannot be kept are refused (%#)",
    async (description) => {
      await expect(
        plane.workspaces.update(workspace.id, { name: undefined, description }, actor),
      ).rejects.toThrow(refused("INVALID_ARGUMENT", /^description: /));
    },
  );

  test("are in the audit log with what was before, and only when something changed", async () => {
    const same = { name: workspace.name, description: undefined };
    await plane.workspaces.update(workspace.id, same, actor);
    await plane.workspaces.update(workspace.id, { name: "Later", description: "x" }, actor);

    const rows = (await auditOf(org.id)).filter(({ target_id: id }) => id === workspace.id);

    expect(rows.map(({ action, before, after }) => [action, before, after])).toEqual([
      ["workspace.create", null, { name: workspace.name, description: null }],
      [
        "workspace.update",
        { name: workspace.name, description: null },
        { name: "Later", description: "x" },
      ],
    ]);
  });
});

describe("lists", () => {
  test("of any page size hold every active one once, the oldest first", async () => {
    const made: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      const { id } = await plane.projects.create(workspace, { name: `p${index}`, ...anybody }, key);
      made.push(id);
    }
    // Rows of one transaction have one time, and the id decides.
    await plane.database.sql()`
      update projects set created_at = '2026-01-01T00:00:00.123456Z'
      where project_id = any(${made.slice(1, 5)}::uuid[])`;
    const [first = "", , , , , , last = ""] = made;
    const gone = await plane.database.transaction(() => plane.scopes.hold("project", last));
    await plane.archives.archive(gone, { withChildren: false, actor });
    const want = [...made.slice(1, 5), first, ...made.slice(5, 6)];

    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 8 }), async (limit) => {
        const got: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await plane.projects.list(
            workspace.id,
            parsePageOptions("project", { limit, cursor }),
          );
          expect(page.items.length).toBeLessThanOrEqual(limit);
          got.push(...page.items.map(({ id }) => id));
          cursor = page.nextCursor;
        } while (cursor !== undefined);
        expect(got).toEqual(want);
      }),
      { numRuns: 8 },
    );
  });

  test("of a new workspace hold no project", async () => {
    const page = await plane.projects.list(workspace.id, parsePageOptions("project", {}));

    expect(page).toEqual({ items: [], nextCursor: undefined });
  });
});

describe("the list of organizations", () => {
  async function idsFor(principal: Parameters<typeof plane.orgs.list>[0]): Promise<string[]> {
    const { items } = await plane.orgs.list(principal, parsePageOptions("org", { limit: 1_000 }));
    return items.map(({ id }) => id);
  }

  test("is its own to a key", async () => {
    expect(await idsFor(aKeyPrincipal(org))).toEqual([org.id]);
    expect(await idsFor(aKeyPrincipal(workspace))).toEqual([org.id]);
  });

  test("is everything to a person whose grant over everything lists", async () => {
    const over = (permissions: readonly string[]) =>
      aUserPrincipal([{ level: "system", scopeId: systemScope.id, permissions }]);
    const other = await anOrg();

    expect(await idsFor(over(["*"]))).toEqual(expect.arrayContaining([org.id, other.id]));
    expect(await idsFor(over(["system.user.list"]))).toEqual([]);
  });

  test("is to others what any of their grants lies in", async () => {
    const { id } = await plane.projects.create(workspace, { name: "p", ...anybody }, key);
    const other = await anOrg();
    await anOrg();
    const at = (level: "org" | "dataplane" | "workspace" | "project", scopeId: string) =>
      aUserPrincipal([{ level, scopeId, permissions: ["project.event.get"] }]);

    expect(await idsFor(at("project", id))).toEqual([org.id]);
    expect(await idsFor(at("workspace", workspace.id))).toEqual([org.id]);
    expect(await idsFor(at("dataplane", dataplane.id))).toEqual([org.id]);
    const both = [...at("org", other.id).grants, ...at("project", id).grants];
    expect(await idsFor(aUserPrincipal(both))).toEqual([org.id, other.id]);
    expect(await idsFor(aUserPrincipal([]))).toEqual([]);
  });

  test("leaves out what is archived, and what is reached through it", async () => {
    const reaching = aUserPrincipal([
      { level: "workspace", scopeId: workspace.id, permissions: ["*"] },
    ]);

    await plane.archives.archive(dataplane, { withChildren: true, actor });
    expect(await idsFor(reaching)).toEqual([]);

    const owner = aUserPrincipal([{ level: "org", scopeId: org.id, permissions: ["*"] }]);
    await plane.archives.archive(org, { withChildren: true, actor });
    expect(await idsFor(owner)).toEqual([]);
  });
});
