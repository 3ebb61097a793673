// Archiving against a real Postgres: refusals, the rows of one transaction, and a lock that keeps
// new children out of a scope while it is archived.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Scope, type ScopeLevel, systemScope } from "../../../src/access/scope.ts";
import { createUuid } from "../../../src/base/ids.ts";
import { parsePageOptions } from "../../../src/base/pages.ts";
import { type Database, openDatabase } from "../../../src/postgres/database.ts";
import { aControlplane, aKeyPrincipal, type TestControlplane } from "../../support/controlplane.ts";
import { givenTestDatabase } from "../../support/database.ts";
import { patience } from "../../support/patience.ts";

const testDatabase = givenTestDatabase();
let plane: TestControlplane;
/** The same service on connections of its own, so that a race has two sides. */
let otherDatabase: Database;
let other: TestControlplane;
let org: Scope;
let dataplane: Scope;
let workspace: Scope;
let project: Scope;

const key = aKeyPrincipal();
const { actor } = key;
const anybody = { description: undefined, creator: undefined };
const alone = { withChildren: false, actor };
const withChildren = { withChildren: true, actor };
const absent = expect.objectContaining({ reason: "NOT_FOUND" }) as Error;

beforeAll(async () => {
  plane = await aControlplane({ database: testDatabase.database });
  otherDatabase = openDatabase({ url: testDatabase.url });
  other = await aControlplane({ database: otherDatabase });
});

afterAll(() => otherDatabase.close());

beforeEach(async () => {
  const { orgs, dataplanes, workspaces, projects } = plane;
  const made = await orgs.create({ name: createUuid(), creator: undefined }, key);
  org = await scopeOf("org", made.id);
  const options = { name: "main", clusterId: "eu", creator: undefined };
  dataplane = await scopeOf("dataplane", (await dataplanes.create(org, options, key)).id);
  workspace = await scopeOf(
    "workspace",
    (await workspaces.create(dataplane, { name: "team", ...anybody }, key)).id,
  );
  project = await scopeOf(
    "project",
    (await projects.create(workspace, { name: "bot", ...anybody }, key)).id,
  );
});

async function scopeOf(level: ScopeLevel, id: string): Promise<Scope> {
  const scope = await plane.scopes.find(level, id);
  if (!scope) throw new Error(`no ${level} ${id}`);
  return scope;
}

type Row = { readonly action: string; readonly target_id: string; readonly actor_name: string };

async function archivesInLog(): Promise<readonly Row[]> {
  const sql = plane.database.sql();
  return sql<Row[]>`
    select action, target_id, actor_name from audit_log
    where org_id = ${org.id} and action like '%.archive'
    order by sequence`;
}

async function waitingWorkflows() {
  const sql = plane.database.sql();
  return sql<{ workflow_id: string; workflow_type: string; input: unknown }[]>`
    select workflow_id, workflow_type, input from outbox
    where org_id = ${org.id} order by outbox_id`;
}

async function lastChange(): Promise<{ change_id: number; subject: string } | undefined> {
  const sql = plane.database.sql();
  const [row] = await sql<{ change_id: number; subject: string }[]>`
    select change_id, subject from access_changes order by change_id desc limit 1`;
  return row;
}

describe("archiving", () => {
  test.each([
    { level: "org", what: () => org, inside: "1 active data plane" },
    { level: "dataplane", what: () => dataplane, inside: "1 active workspace" },
    { level: "workspace", what: () => workspace, inside: "1 active project" },
  ])("of a $level with active children is refused, naming them", async ({ what, inside }) => {
    const scope = what();

    await expect(plane.archives.archive(scope, alone)).rejects.toThrow(
      expect.objectContaining({
        reason: "SCOPE_NOT_EMPTY",
        message:
          `there is ${inside} inside; archive the contents first, ` +
          "or send dangerously_delete_child_scopes=true to archive everything",
      }) as Error,
    );

    expect(await plane.scopes.find(scope.level, scope.id)).toEqual(scope);
    expect(await archivesInLog()).toEqual([]);
    expect(await waitingWorkflows()).toEqual([]);
  });

  test("counts active children only", async () => {
    await plane.projects.create(workspace, { name: "two", ...anybody }, key);
    await expect(plane.archives.archive(workspace, alone)).rejects.toThrow(/2 active projects/);

    const { items } = await plane.projects.list(workspace.id, parsePageOptions("project", {}));
    for (const { id } of items) {
      await plane.archives.archive(await scopeOf("project", id), alone);
    }

    await expect(plane.archives.archive(workspace, alone)).resolves.toMatchObject({
      level: "workspace",
      id: workspace.id,
      name: "team",
    });
  });

  test.each([
    { level: "org", type: "archiveOrganization", what: () => org },
    { level: "dataplane", type: "archiveDataplane", what: () => dataplane },
    { level: "workspace", type: "archiveWorkspace", what: () => workspace },
    { level: "project", type: "archiveProject", what: () => project },
  ])("of a $level ends access to all of it at once", async ({ level, type, what }) => {
    const scope = what();

    const archived = await plane.archives.archive(scope, withChildren);

    const workflowId = `archive-${level}-${scope.id}`;
    expect(archived).toMatchObject({ level, id: scope.id, name: scope.name, workflowId });
    expect(await plane.scopes.find(scope.level, scope.id)).toBeUndefined();
    expect(await plane.scopes.find("project", project.id)).toBeUndefined();
    expect(await archivesInLog()).toEqual([
      { action: `${level}.archive`, target_id: scope.id, actor_name: "a key" },
    ]);
    const change = await lastChange();
    expect(change?.subject).toBe("*");
    const { id, name } = scope;
    const input = { level, id, name, orgId: org.id, actor, changeId: change?.change_id };
    expect(await waitingWorkflows()).toEqual([
      { workflow_id: workflowId, workflow_type: type, input },
    ]);
  });

  test("a second time finds nothing", async () => {
    await plane.archives.archive(project, alone);

    await expect(plane.archives.archive(project, alone)).rejects.toThrow(absent);
  });

  test("inside something archived finds nothing", async () => {
    await plane.archives.archive(dataplane, withChildren);

    await expect(plane.archives.archive(project, alone)).rejects.toThrow(absent);
    await expect(
      plane.projects.create(workspace, { name: "late", ...anybody }, key),
    ).rejects.toThrow(absent);
    await expect(
      plane.workspaces.update(workspace.id, { name: "Late", description: undefined }, actor),
    ).rejects.toThrow(absent);
  });

  test("twice at once is done once", async () => {
    const got = await Promise.allSettled(
      [plane, other, plane, other].map(({ archives }) => archives.archive(workspace, withChildren)),
    );

    expect(got.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const one of got) if (one.status === "rejected") expect(one.reason).toEqual(absent);
    expect(await archivesInLog()).toHaveLength(1);
    expect(await waitingWorkflows()).toHaveLength(1);
  });

  test("that fails at its end leaves everything as it was", async () => {
    await expect(
      plane.database.transaction(async () => {
        await plane.archives.archive(workspace, withChildren);
        throw new Error("the answer could not be kept");
      }),
    ).rejects.toThrow("the answer could not be kept");

    expect(await plane.scopes.find("project", project.id)).toEqual(project);
    expect(await archivesInLog()).toEqual([]);
    expect(await waitingWorkflows()).toEqual([]);
  });

  test("is for what lies in an organization", async () => {
    await expect(plane.archives.archive(systemScope, withChildren)).rejects.toThrow("not archived");
  });
});

describe("archiving while something is made inside", () => {
  test("waits for it, and counts it", async () => {
    const { id } = await plane.workspaces.create(dataplane, { name: "new", ...anybody }, key);
    const empty = await scopeOf("workspace", id);
    const made = Promise.withResolvers<undefined>();
    const mayCommit = Promise.withResolvers<undefined>();
    const creating = plane.database.transaction(async () => {
      const created = await plane.projects.create(empty, { name: "p", ...anybody }, key);
      made.resolve(undefined);
      await mayCommit.promise;
      return created;
    });
    await made.promise;

    const archiving = other.archives.archive(empty, alone);
    const archivingAbove = other.archives.archive(org, withChildren);
    await untilWaiting(2);
    mayCommit.resolve(undefined);

    await expect(creating).resolves.toMatchObject({ name: "p" });
    const [inside, above] = await Promise.allSettled([archiving, archivingAbove]);
    // Either order is right: the scope is never archived as if it were empty.
    expect(inside.status).toBe("rejected");
    expect(above.status).toBe("fulfilled");
  });

  test("makes the creation find nothing when it comes second, at every distance", async () => {
    const archived = Promise.withResolvers<undefined>();
    const mayCommit = Promise.withResolvers<undefined>();
    const archiving = plane.database.transaction(async () => {
      await plane.archives.archive(org, withChildren);
      archived.resolve(undefined);
      await mayCommit.promise;
    });
    await archived.promise;

    const options = { name: "late", ...anybody };
    const creations = [
      other.projects.create(workspace, options, key),
      other.workspaces.create(dataplane, options, key),
      other.dataplanes.create(org, { name: "late", clusterId: "eu", creator: undefined }, key),
    ];
    const ends = Promise.allSettled(creations);
    await untilWaiting(3);
    mayCommit.resolve(undefined);
    await archiving;

    for (const end of await ends) {
      expect(end).toEqual({ status: "rejected", reason: absent });
    }
  });

  test("never leaves an active project in a workspace archived as empty", async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await plane.workspaces.create(
        dataplane,
        { name: `round ${round}`, ...anybody },
        key,
      );
      const empty = await scopeOf("workspace", id);

      const [created, archived] = await Promise.allSettled([
        plane.projects.create(empty, { name: "p", ...anybody }, key),
        other.archives.archive(empty, alone),
      ]);

      expect([created.status, archived.status].toSorted()).toEqual(["fulfilled", "rejected"]);
    }
  });
});

/** Waits until so many connections of the test's database wait for a lock. */
async function untilWaiting(count: number): Promise<void> {
  await expect
    .poll(
      async () => {
        const [row] = await otherDatabase.sql()<{ count: number }[]>`
          select count(*)::int as count from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        return row?.count;
      },
      { ...patience, interval: 10 },
    )
    .toBe(count);
}

describe("what the workflow calls", () => {
  test("lists everything directly inside in pages, archived or not", async () => {
    const second = await plane.projects.create(workspace, { name: "two", ...anybody }, key);
    await plane.archives.archive(project, alone);

    const [first] = await plane.archives.listChildren("workspace", workspace.id, undefined, 1);
    const rest = await plane.archives.listChildren("workspace", workspace.id, first?.id);

    expect(first).toEqual({ level: "project", id: project.id, name: "bot" });
    expect(rest).toEqual([{ level: "project", id: second.id, name: "two" }]);
    expect(await plane.archives.listChildren("org", org.id)).toEqual([
      { level: "dataplane", id: dataplane.id, name: "main" },
    ]);
    expect(await plane.archives.listChildren("dataplane", dataplane.id)).toMatchObject([
      { level: "workspace", id: workspace.id },
    ]);
    expect(await plane.archives.listChildren("project", project.id)).toEqual([]);
  });

  test("marks what is inside something archived, and writes it down once", async () => {
    await plane.archives.archive(workspace, withChildren);

    await plane.archives.markArchived("project", project.id, actor);
    await plane.archives.markArchived("project", project.id, actor);
    await plane.archives.markArchived("project", createUuid(), actor);

    expect(await archivesInLog()).toEqual([
      { action: "workspace.archive", target_id: workspace.id, actor_name: "a key" },
      { action: "project.archive", target_id: project.id, actor_name: "a key" },
    ]);
  });

  test("names the workflow where nobody else is known", async () => {
    await plane.archives.markArchived("project", project.id);

    expect(await archivesInLog()).toMatchObject([{ actor_name: "archive workflow" }]);
  });
});
