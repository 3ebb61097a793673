// The first start's organization, data plane, workspace and project against a real Postgres.

import { expect, test } from "vitest";
import { createLocalProjects } from "../../../src/controlplane/projects/local-projects.ts";
import { createScopes } from "../../../src/controlplane/scopes/scopes.ts";
import { givenTestDatabase } from "../../support/database.ts";

const testDatabase = givenTestDatabase();

test("the first project is made once, on the default cluster, and written down", async () => {
  const { database } = testDatabase;
  const projects = createLocalProjects(database);

  const made = await Promise.all([projects.createFirst("demo"), projects.createFirst("demo")]);

  const [first, ...others] = made.filter((project) => project !== undefined);
  expect(others).toEqual([]);
  expect(await projects.find("demo")).toEqual(first);
  const scope = await createScopes(database).find("project", first?.projectId ?? "");
  expect(scope).toMatchObject({ name: "demo", clusterId: "default", orgId: first?.orgId });
  const rows = await database.sql()<{ action: string; actor_name: string }[]>`
    select action, actor_name from audit_log
    where org_id = ${first?.orgId ?? ""} order by sequence`;
  expect(rows).toEqual(
    ["org.create", "dataplane.create", "workspace.create", "project.create"].map((action) => ({
      action,
      actor_name: "first start",
    })),
  );
});
