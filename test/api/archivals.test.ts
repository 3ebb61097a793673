// GET /v1/archivals: how far archivals are, and who may know. The tests do the workflow's work.
// Source: docs/decisions.md, 58.2.

import { beforeAll, expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import { createEventArchive } from "../../src/tracing/archive/archive.ts";
import { givenStarted } from "../support/given.ts";
import { aControlplane } from "../support/controlplane.ts";
import { callRoute } from "../support/call-route.ts";
import { startService } from "../support/service.ts";
import { type Credential, withKey, withSignIn } from "../support/tenants.ts";
import { givenADataplane, givenEvents } from "../support/workflows.ts";

const service = givenStarted(() =>
  startService({ "temporal-ui-url": "https://temporal.example.org" }),
);
let reader: Credential;

beforeAll(async () => {
  reader = await withKey(service.database, service.project, { kind: "control_plane", root: "org" });
});

type Data = Readonly<Record<string, unknown>>;

async function call(path: string, by: Credential, method = "GET") {
  const { status, json } = await callRoute(
    { url: service.url, headers: by },
    `${method} /v1/${path}`,
  );
  return { status, body: json as { readonly data?: unknown; readonly next_cursor?: string } };
}

async function progressOf(scope: string, by = reader): Promise<Data> {
  const { status, body } = await call(`archivals/${scope}`, by);
  expect(status).toBe(200);
  return body.data as Data;
}

/** Signs in a person who administers the workspace and may read no audit log. */
function aWorkspaceAdmin(workspaceId: string): Promise<Credential> {
  const tenant = { ...service.project, workspaceId };
  const options = { level: "workspace", role: "workspace_admin", origin: service.url } as const;
  return withSignIn(service.database, tenant, options);
}

async function archive(path: string, by: Credential): Promise<void> {
  const { status } = await call(`${path}?dangerously_delete_child_scopes=true`, by, "DELETE");
  expect(status).toBe(200);
}

/** Does what the workflow does, except that it does not wait: the archival is an hour old. */
async function finish(scopeId: string): Promise<void> {
  const sql = service.database.sql();
  await sql`update outbox set started_at = now() where scope_id = ${scopeId}`;
  await sql`update audit_log set at = at - interval '1 hour' where scope_id = ${scopeId}`;
}

const notFound = { success: false, statusCode: 404, errorCode: "NOT_FOUND", message: "Not found" };

test("an archival runs until nothing inside is left", async () => {
  const { database, project } = service;
  const { workspaceIds, projects } = await givenADataplane(database, project.orgId, {
    workspaces: 1,
    projectsEach: 2,
  });
  const [workspaceId = ""] = workspaceIds;
  const [first, second] = projects.map(({ projectId }) => projectId);
  if (!first || !second) throw new Error("two projects were made");
  await givenEvents(database, first, 3);
  const admin = await aWorkspaceAdmin(workspaceId);

  await archive(`workspaces/${workspaceId}`, admin);

  const before = await progressOf(`workspace/${workspaceId}`, admin);
  expect(before).toEqual({
    scope_type: "workspace",
    scope_id: workspaceId,
    name: workspaceId,
    state: "running",
    projects: { done: 0, total: 2, is_exact: true },
    events: { moved: 0, left: 3, is_exact: true },
    started_at: expect.stringMatching(/^\d{4}-/) as string,
    archived_by: expect.stringMatching(/@example\.org$/) as string,
    workflow_id: `archive-workspace-${workspaceId}`,
    temporal_url:
      "https://temporal.example.org/namespaces/default/workflows/" +
      `archive-workspace-${workspaceId}`,
  });

  const place = { projectId: first, clusterId: "default" };
  const events = createEventArchive(() => database);
  const { archives } = await aControlplane({ database });
  const actor = { type: "user", id: createUuid(), name: "ada@example.org" } as const;
  for (const { projectId } of projects) await archives.markArchived("project", projectId, actor);
  expect(await events.moveSome(place)).toBe(3);
  await finish(workspaceId);
  const moved = await progressOf(`workspace/${workspaceId}`);
  expect(moved).toMatchObject({
    state: "running",
    projects: { done: 1, total: 2 },
    events: { moved: 3, left: 0, is_exact: true },
  });

  while ((await events.deleteSomeDerived(place)) > 0);
  const after = await progressOf(`workspace/${workspaceId}`);
  expect(after).toMatchObject({ state: "done", projects: { done: 2, total: 2 } });
  // Projects that are archived with their workspace have no archival of their own.
  expect((await call(`archivals/project/${first}`, reader)).status).toBe(404);
  const { body } = await call(`archivals?org_id=${project.orgId}`, reader);
  expect(body.data).toMatchObject([{ scope_id: workspaceId }]);
});

test("an archival is not done before its workflow and the writes let in before", async () => {
  const { database, project } = service;
  const { projects } = await givenADataplane(database, project.orgId, {
    workspaces: 1,
    projectsEach: 1,
  });
  const id = projects[0]?.projectId ?? "";
  await archive(`projects/${id}`, reader);
  const empty = { projects: { done: 1, total: 1 }, events: { moved: 0, left: 0 } };

  expect(await progressOf(`project/${id}`)).toMatchObject({ ...empty, state: "running" });
  await database.sql()`update outbox set started_at = now() where scope_id = ${id}`;
  expect(await progressOf(`project/${id}`)).toMatchObject({ ...empty, state: "running" });
  await finish(id);
  expect(await progressOf(`project/${id}`)).toMatchObject({ ...empty, state: "done" });
});

test("others do not learn that there is an archival", async () => {
  const { database, project, otherProject } = service;
  const { workspaceIds } = await givenADataplane(database, project.orgId, {
    workspaces: 2,
    projectsEach: 0,
  });
  const [archived = "", active = ""] = workspaceIds;
  const admin = await aWorkspaceAdmin(archived);
  const bystander = await aWorkspaceAdmin(active);
  const stranger = await withKey(database, otherProject, { kind: "control_plane", root: "org" });
  await archive(`workspaces/${archived}`, admin);
  const list = `archivals?org_id=${project.orgId}`;

  const denied = [
    ...[`archivals/workspace/${archived}`, list, `${list}&cursor=x`, `${list}&limit=0`].flatMap(
      (path) => [call(path, bystander), call(path, stranger)],
    ),
    ...[`workspace/${active}`, `project/${archived}`, `org/${project.orgId}`, "workspace/x"].map(
      (scope) => call(`archivals/${scope}`, reader),
    ),
    call("archivals", reader),
  ];

  for (const answer of await Promise.all(denied)) {
    expect(answer).toEqual({ status: 404, body: notFound });
  }
  expect((await call(list, admin)).body.data).toMatchObject([{ scope_id: archived }]);
  expect((await call(`${list}&limit=51`, admin)).status).toBe(400);
  expect((await call(`${list}&cursor=x`, admin)).status).toBe(400);
});

test("a list has the organization's archivals, newest first, without events", async () => {
  const { database, otherProject } = service;
  const { workspaceIds } = await givenADataplane(database, otherProject.orgId, {
    workspaces: 3,
    projectsEach: 1,
  });
  const by = await withKey(database, otherProject, { kind: "control_plane", root: "org" });
  for (const id of workspaceIds) await archive(`workspaces/${id}`, by);
  const list = `archivals?org_id=${otherProject.orgId}&limit=2`;

  const { body: first } = await call(list, by);
  const { body: second } = await call(`${list}&cursor=${first.next_cursor}`, by);

  const items = [first, second].flatMap(({ data }) => data as Data[]);
  expect(items.map((item) => item["scope_id"])).toEqual(workspaceIds.toReversed());
  expect(items[0]).toMatchObject({ state: "running", projects: { done: 0, total: 1 } });
  expect(items[0]).not.toHaveProperty("events");
  expect(second).not.toHaveProperty("next_cursor");
});
