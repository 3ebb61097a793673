// Model aliases on a real database: their owners, their fields and their pages.

import type { Actor } from "../../src/base/actor.ts";
import { beforeAll, describe, expect, test } from "vitest";
import type { ProjectScope, Scope } from "../../src/access/scope.ts";
import type { Aliases } from "../../src/generation/connections/aliases/aliases.ts";
import { createTestCredentials } from "../support/credentials.ts";
import { givenTestDatabase } from "../support/database.ts";
import { scopeOfOrg, scopeOfProject } from "../support/keys.ts";
import { givenAProject } from "../support/project.ts";
import { reasonOf } from "../support/reason.ts";

const actor: Actor = { type: "operator", id: "t", name: "tester" };
const another: Actor = { type: "operator", id: "a", name: "another" };

const own = givenTestDatabase();
let aliases: Aliases;
/** What servers were told to forget, in order. */
const heard: string[] = [];
beforeAll(async () => {
  const made = createTestCredentials(own.database, { keys: [] });
  aliases = made.aliases;
  made.changes.onForget((subject) => heard.push(subject));
});

async function givenATenant() {
  const local = await givenAProject(own.database);
  const { orgId, dataplaneId, workspaceId, projectId } = local;
  const above = { orgId, dataplaneId, workspaceId };
  const project: ProjectScope = {
    ...scopeOfProject(local),
    ...above,
    projectId,
    clusterId: "default",
  };
  const workspace: Scope = { level: "workspace", id: workspaceId, name: "w", ...above };
  return { project, workspace, org: scopeOfOrg(local) };
}

function put(scope: Scope, name: string, ...targets: readonly string[]) {
  return aliases.put({ scope, name, targets, actor });
}

describe("put", () => {
  test("sets what a name stands for, and sets it anew", async () => {
    const { project } = await givenATenant();

    const first = await put(project, "Fast.1_x-y", "openai/gpt-4o-mini", "ours/org/model:7b");
    const second = await put(project, "Fast.1_x-y", "anthropic/claude-3-5-haiku-latest");

    expect(first).toMatchObject({
      targets: ["openai/gpt-4o-mini", "ours/org/model:7b"],
      updatedBy: "tester",
      level: "project",
      scopeId: project.id,
    });
    expect(second.targets).toEqual(["anthropic/claude-3-5-haiku-latest"]);
    expect(await aliases.get(project, "Fast.1_x-y")).toEqual(second);
  });

  test("of the same models leaves the alias to the caller who changed it last", async () => {
    const { project } = await givenATenant();
    const first = await put(project, "fast", "openai/gpt-4o-mini", "openai/gpt-4o");
    const targets = first.targets;

    const again = await aliases.put({ scope: project, name: "fast", targets, actor: another });

    expect(again).toEqual(first);
    expect(await aliases.get(project, "fast")).toEqual(first);
  });

  test("of one name at the same time leaves one", async () => {
    const { project } = await givenATenant();
    const models = ["a", "b", "c", "d"];

    await Promise.all(models.map((model) => put(project, "fast", `openai/${model}`)));

    expect((await aliases.list(project, {})).items.map(({ name }) => name)).toEqual(["fast"]);
  });

  test.each([
    { name: "", targets: ["openai/m"], want: "name: must be 1 to 64 letters" },
    { name: "a/b", targets: ["openai/m"], want: "name: must be 1 to 64 letters" },
    { name: "a\0", targets: ["openai/m"], want: "name: must be 1 to 64 letters" },
    { name: "a".repeat(65), targets: ["openai/m"], want: "name: must be 1 to 64 letters" },
    { name: "a", targets: [], want: "targets: must be 1 to 10" },
    { name: "a", targets: Array(11).fill("openai/m"), want: "targets: must be 1 to 10" },
    { name: "a", targets: ["openai/m", "gpt-4o"], want: "targets[1]: must be provider/model" },
    { name: "a", targets: ["OpenAI/m"], want: "targets[0]: must be provider/model" },
    { name: "a", targets: ["/m"], want: "targets[0]: must be provider/model" },
    { name: "a", targets: ["openai/模型"], want: "targets[0]: must be provider/model" },
    { name: "a", targets: ["openai/a b"], want: "targets[0]: must be provider/model" },
    { name: "a", targets: ["openai/"], want: "targets[0]: must be provider/model" },
    { name: "a", targets: ["openai/ "], want: "targets[0]: must be provider/model" },
    { name: "a", targets: ["openai/m\0"], want: "targets[0]: must be provider/model" },
    { name: "a", targets: ["openai/\ud800"], want: "targets[0]: must be provider/model" },
    { name: "a", targets: [`openai/${"m".repeat(257)}`], want: "targets[0]: must be" },
  ])("refuses row $#: $want", async ({ name, targets, want }) => {
    const { project } = await givenATenant();

    const got = await reasonOf(aliases.put({ scope: project, name, targets, actor }));

    expect(got).toContain(`INVALID_ARGUMENT ${want}`);
    expect((await aliases.list(project, {})).items).toEqual([]);
  });

  test("adds at most five hundred, and still changes those there are", async () => {
    const { project } = await givenATenant();
    await own.database.sql()`
      insert into model_aliases (alias_id, project_id, name, targets, updated_by)
      select gen_random_uuid(), ${project.id}, 'n' || number, '{openai/m}', 'test'
      from generate_series(1, 499) as number`;

    const names = ["a", "b", "c"];
    const got = await Promise.all(names.map((name) => reasonOf(put(project, name, "openai/m"))));

    expect(got.filter((reason) => reason === "none")).toHaveLength(1);
    expect(got.filter((reason) => reason.includes("at most 500 aliases"))).toHaveLength(2);
    expect((await put(project, "n1", "openai/other")).targets).toEqual(["openai/other"]);
  });

  test("in a scope that was archived meanwhile stores nothing", async () => {
    const { project, org } = await givenATenant();
    await own.database.sql()`
      update organizations set archived_at = now() where org_id = ${org.id}`;

    expect(await reasonOf(put(project, "a", "openai/m"))).toMatch(/^NOT_FOUND/);
  });
});

describe("aliasesFor", () => {
  test("puts the project's before the workspace's before the organization's", async () => {
    const { project, workspace, org } = await givenATenant();
    const other = await givenATenant();
    for (const name of ["near", "middle", "far"]) await put(org, name, "openai/of-org");
    for (const name of ["near", "middle"]) await put(workspace, name, "openai/of-workspace");
    await put(project, "near", "openai/of-project");
    await put(other.org, "near", "openai/of-another");

    const got = await aliases.aliasesFor(project);

    expect(got).toEqual([
      { name: "near", targets: ["openai/of-project"] },
      { name: "middle", targets: ["openai/of-workspace"] },
      { name: "far", targets: ["openai/of-org"] },
    ]);
  });
});

describe("list, get and delete", () => {
  test("list the very scope's by name, in pages", async () => {
    const { project, org } = await givenATenant();
    for (const name of ["b", "B", "a.1", "_", "a-1"]) await put(project, name, "openai/m");
    await put(org, "of-org", "openai/m");

    const pages: string[][] = [];
    for (let cursor: string | undefined; pages.length < 5;) {
      const page = await aliases.list(project, { limit: 2, cursor });
      pages.push(page.items.map(({ name }) => name));
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }

    expect(pages).toEqual([["B", "_"], ["a-1", "a.1"], ["b"]]);
  });

  test.each(["", "!", Buffer.from("a b").toString("base64url")])(
    "refuse the cursor %j",
    async (cursor) => {
      const { project } = await givenATenant();

      expect(await reasonOf(aliases.list(project, { cursor }))).toMatch(
        /^INVALID_ARGUMENT cursor: it is not a next_cursor/,
      );
    },
  );

  test("find none of another scope, nor by what is no name", async () => {
    const { project, workspace, org } = await givenATenant();
    const other = await givenATenant();
    await put(workspace, "fast", "openai/m");

    for (const scope of [project, org, other.workspace, other.project]) {
      const got = [
        await reasonOf(aliases.get(scope, "fast")),
        await reasonOf(aliases.delete(scope, "fast", actor)),
      ];
      expect(got).toEqual(Array(2).fill("NOT_FOUND no such alias"));
    }
    expect(await reasonOf(aliases.get(workspace, "a\0"))).toBe("NOT_FOUND no such alias");
    expect((await aliases.get(workspace, "fast")).targets).toEqual(["openai/m"]);
  });

  test("delete one, and answer what it was", async () => {
    const { project } = await givenATenant();
    const made = await put(project, "fast", "openai/m");

    const deleted = await aliases.delete(project, "fast", actor);

    expect(deleted).toEqual(made);
    expect(await aliases.aliasesFor(project)).toEqual([]);
    expect(await reasonOf(aliases.delete(project, "fast", actor))).toBe("NOT_FOUND no such alias");
  });
});

test("each change is audited, and heard of by every server", async () => {
  const { project } = await givenATenant();
  const before = heard.length;
  await put(project, "fast", "openai/a");
  await put(project, "fast", "openai/b");
  await aliases.delete(project, "fast", actor);
  await reasonOf(put(project, "fast"));

  const rows = await own.database.sql()`
    select action, before, after from audit_log where scope_id = ${project.id} order by sequence`;

  const [a, b] = ["openai/a", "openai/b"].map((target) => ({ name: "fast", targets: [target] }));
  expect(rows).toEqual([
    { action: "model_alias.put", before: null, after: a },
    { action: "model_alias.put", before: a, after: b },
    { action: "model_alias.delete", before: b, after: null },
  ]);
  expect(heard.slice(before)).toEqual(Array(3).fill(`providers:${project.id}`));
});
