// Organizations, data planes, workspaces and projects over HTTP: documented paths, bodies as they
// are on the wire, and the errors byte by byte where they are fixed.
// Source: docs/spec.md, "Control plane"; docs/decisions.md, 10, 12, 13, 28, 29, 30.

import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WorkspaceService } from "../../gen/waggle/v1/workspace_pb.js";
import { createUuid } from "../../src/base/ids.ts";
import { callRoute } from "../support/call-route.ts";
import { createDatabase, dropDatabase } from "../support/database.ts";
import { startService, type TestService } from "../support/service.ts";
import { type Credential, withKey, withSignIn } from "../support/tenants.ts";

/** As most deployments are. */
const service = await startService();
const euUrl = await createDatabase("template1");
/** Where data planes are placed by hand, on two clusters. */
const manual = await startService({
  "dataplane-assignment": "manual",
  clusters: JSON.stringify({ eu: euUrl }),
});

afterAll(async () => {
  await Promise.all([service.stop(), manual.stop()]);
  await dropDatabase(euUrl);
});

const notFound = '{"success":false,"statusCode":404,"errorCode":"NOT_FOUND","message":"Not found"}';

type Answer = { readonly status: number; readonly text: string; readonly body: Body };
type Body = { readonly data: Resource; readonly errorCode?: string; readonly message?: string };
type Resource = Readonly<Record<string, string | null>> & { readonly id: string };
type Page = { readonly data: readonly Resource[]; readonly next_cursor?: string };

type CallOptions = {
  readonly at?: TestService;
  readonly credential?: Credential;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
};

async function call(route: string, options: CallOptions = {}): Promise<Answer> {
  const { at = service, body, idempotencyKey } = options;
  const { credential = { authorization: `Bearer ${at.controlPlaneKey}` } } = options;
  const once = idempotencyKey !== undefined && { "idempotency-key": idempotencyKey };
  const by = { url: at.url, headers: { ...credential, ...once } };
  const { status, text, json } = await callRoute(by, route, body);
  return { status, text, body: json as Body };
}

async function pageOf(path: string, at = service): Promise<Page> {
  return (await call(`GET ${path}`, { at })).body as unknown as Page;
}

/** What explains itself: status, errorCode and a message. */
function refusal(status: number, errorCode: string, message: string) {
  const body = { success: false, statusCode: status, errorCode, message };
  return { status, text: JSON.stringify(body) };
}

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const aTime = expect.stringMatching(timestamp) as string;
const anId = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;

const planePath = (at: TestService) => `/v1/virtual_dataplanes/${at.project.dataplaneId}`;

async function aWorkspace(at = service): Promise<string> {
  const body = { name: createUuid() };
  return (await call(`POST ${planePath(at)}/workspaces`, { at, body })).body.data.id;
}

async function aProject(workspaceId: string, at = service): Promise<string> {
  const body = { name: createUuid() };
  return (await call(`POST /v1/workspaces/${workspaceId}/projects`, { at, body })).body.data.id;
}

describe("workspaces", () => {
  test("are made, read, listed and renamed with these bodies", async () => {
    const { orgId, dataplaneId } = service.project;
    const name = `Research ${createUuid()}`;
    const made = await call(`POST ${planePath(service)}/workspaces`, {
      body: { name, description: "models" },
    });

    expect(made.status).toBe(200);
    expect(made.body).toEqual({
      success: true,
      data: {
        id: anId,
        name,
        description: "models",
        created_at: aTime,
        updated_at: aTime,
        org_id: orgId,
        virtual_dataplane_id: dataplaneId,
      },
    });
    const path = `/v1/workspaces/${made.body.data.id}`;
    expect((await call(`GET ${path}`)).text).toBe(made.text);
    const { data } = await pageOf(`${planePath(service)}/workspaces`);
    expect(data).toContainEqual(made.body.data);

    const renamed = await call(`PUT ${path}`, { body: { name: `${name}!`, description: "" } });
    expect(renamed.status).toBe(200);
    expect(renamed.body.data).toEqual({
      ...made.body.data,
      name: `${name}!`,
      description: null,
      updated_at: aTime,
    });
  });

  test("hold no projects when they are new", async () => {
    const page = await call(`GET /v1/workspaces/${await aWorkspace()}/projects`);

    expect(page.text).toBe('{"success":true,"data":[]}');
  });

  test("need a name, and a change to be changed", async () => {
    const path = `/v1/workspaces/${await aWorkspace()}`;

    const nameless = await call(`POST ${planePath(service)}/workspaces`, { body: {} });
    const blank = await call(`POST ${planePath(service)}/workspaces`, { body: { name: "  " } });
    const nul = await call(`PUT ${path}`, { body: { description: "a\0b" } });
    const nothing = await call(`PUT ${path}`, { body: {} });

    expect(nameless).toMatchObject({ status: 400 });
    expect(nameless.body.message).toMatch(/^name: /);
    expect(blank).toMatchObject(refusal(400, "INVALID_ARGUMENT", "name: must not be blank"));
    expect(nul.body.message).toMatch(/^description: /);
    expect(nothing).toMatchObject(
      refusal(400, "INVALID_ARGUMENT", "name: give a name, a description or both"),
    );
  });

  test("of one name are refused with a 409", async () => {
    const body = { name: createUuid() };
    await call(`POST ${planePath(service)}/workspaces`, { body });

    const again = await call(`POST ${planePath(service)}/workspaces`, { body });

    expect(again).toMatchObject(
      refusal(409, "NAME_TAKEN", "name: another active workspace of the data plane has it"),
    );
  });

  test("name a creator who is a member, by key only", async () => {
    const credential = await withSignIn(service.database, service.project, {
      level: "org",
      role: "org_admin",
      origin: service.url,
    });
    const body = { name: createUuid(), workspace_creator: "nobody@example.org" };
    const path = `POST ${planePath(service)}/workspaces`;

    const byKey = await call(path, { body });
    const byPerson = await call(path, { body, credential });
    const withoutCreator = await call(path, { body: { name: body.name }, credential });

    expect(byKey.status).toBe(400);
    expect(byKey.body.message).toMatch(/^workspace_creator: /);
    expect(byPerson.status).toBe(400);
    expect(byPerson.body.message).toMatch(/^workspace_creator: /);
    expect(withoutCreator.status).toBe(200);
  });

  test("are made once under one Idempotency-Key", async () => {
    const options = { body: { name: createUuid() }, idempotencyKey: createUuid() };

    const first = await call(`POST ${planePath(service)}/workspaces`, options);
    const second = await call(`POST ${planePath(service)}/workspaces`, options);

    expect(first.status).toBe(200);
    expect(second.text).toBe(first.text);
  });
});

describe("archiving a workspace", () => {
  const path = (id: string) => `DELETE /v1/workspaces/${id}`;

  test("with active projects is a 409 that says how many and names the flag", async () => {
    const id = await aWorkspace();
    await aProject(id);
    await aProject(id);
    const message =
      "there are 2 active projects inside; archive the contents first, or send " +
      "dangerously_delete_child_scopes=true to archive everything";

    for (const query of ["", "?dangerously_delete_child_scopes=false"]) {
      const refused = await call(path(id) + query);
      expect(refused).toMatchObject(refusal(409, "SCOPE_NOT_EMPTY", message));
    }
    expect((await call(`GET /v1/workspaces/${id}`)).status).toBe(200);
  });

  // The last one: two flags that contradict each other, which must not delete anything.
  const refusedFlags = ["yes", "1", "", "false&dangerously_delete_child_scopes=true"];
  test.each(refusedFlags)("refuses %j as the flag", async (value) => {
    const id = await aWorkspace();

    const refused = await call(`${path(id)}?dangerously_delete_child_scopes=${value}`);

    expect(refused.status).toBe(400);
    expect(refused.body.message).toMatch(/^dangerously_delete_child_scopes: /);
    expect((await call(`GET /v1/workspaces/${id}`)).status).toBe(200);
  });

  test.each(["true", "True", "TRUE"])(
    "takes %s as the flag, as clients write it",
    async (value) => {
      const id = await aWorkspace();
      await aProject(id);

      const archived = await call(`${path(id)}?dangerously_delete_child_scopes=${value}`);

      expect(archived.status).toBe(200);
    },
  );

  test("is answered once more under the same Idempotency-Key, and only under it", async () => {
    const id = await aWorkspace();
    const first = await call(path(id), { idempotencyKey: "archive-1" });

    const again = await call(path(id), { idempotencyKey: "archive-1" });
    const other = await call(path(id), { idempotencyKey: "archive-2" });
    const renaming = await call(`PUT /v1/workspaces/${id}`, {
      body: { name: "x" },
      idempotencyKey: "archive-3",
    });

    expect(first.status).toBe(200);
    expect(again).toEqual(first);
    for (const got of [other, renaming]) {
      expect(got).toMatchObject({ status: 404, text: notFound });
    }
  });

  test("with the flag ends access to it and everything inside at once", async () => {
    const body = { name: createUuid() };
    const made = await call(`POST ${planePath(service)}/workspaces`, { body });
    const { id } = made.body.data;
    const projectId = await aProject(id);

    const archived = await call(`${path(id)}?dangerously_delete_child_scopes=true`);

    expect(archived.status).toBe(200);
    expect(archived.body).toEqual({
      success: true,
      data: {
        id,
        name: body.name,
        scope_type: "workspace",
        archived_at: aTime,
        workflow_id: `archive-workspace-${id}`,
      },
    });
    for (const route of [
      `GET /v1/workspaces/${id}`,
      `GET /v1/workspaces/${id}/projects`,
      `GET /v1/projects/${projectId}`,
      `DELETE /v1/workspaces/${id}`,
      `DELETE /v1/projects/${projectId}`,
    ]) {
      expect(await call(route)).toMatchObject({ status: 404, text: notFound });
    }
    const renaming = await call(`PUT /v1/workspaces/${id}`, { body: { name: "x" } });
    expect(renaming).toMatchObject({ status: 404, text: notFound });
    const { data } = await pageOf(`${planePath(service)}/workspaces?limit=1000`);
    expect(data.map((workspace) => workspace.id)).not.toContain(id);
    expect((await call(`POST ${planePath(service)}/workspaces`, { body })).status).toBe(200);
  });

  test("ends its projects' keys at once", async () => {
    const id = await aWorkspace();
    const key = await aProjectKey(await aProject(id));
    const credential = { authorization: `Bearer ${key}` };
    const body = { event: { event_type: "tool", inputs: {}, source: "test" } };
    expect((await call("POST /events", { credential, body })).status).toBe(200);

    await call(`${path(id)}?dangerously_delete_child_scopes=true`);

    expect(await call("POST /events", { credential, body })).toMatchObject({
      status: 404,
      text: notFound,
    });
  });
});

async function aProjectKey(projectId: string, at = service): Promise<string> {
  const credential = { authorization: `Bearer ${at.dataPlaneKey}` };
  const made = await call(`POST /v1/projects/${projectId}/ingestion_api_keys`, {
    at,
    credential,
    body: { name: "a key" },
  });
  return made.body.data["key_value"] ?? "";
}

describe("projects", () => {
  test("are made, read, listed, renamed and archived with these bodies", async () => {
    const workspaceId = await aWorkspace();
    const path = `/v1/workspaces/${workspaceId}/projects`;
    const made = await call(`POST ${path}`, { body: { name: "bot" } });

    expect(made.body).toEqual({
      success: true,
      data: {
        id: anId,
        name: "bot",
        description: null,
        created_at: aTime,
        updated_at: aTime,
        org_id: service.project.orgId,
        workspace_id: workspaceId,
      },
    });
    const own = `/v1/projects/${made.body.data.id}`;
    expect((await call(`GET ${own}`)).text).toBe(made.text);
    expect(await pageOf(path)).toEqual({ success: true, data: [made.body.data] });
    const renamed = await call(`PUT ${own}`, { body: { description: "helps" } });
    expect(renamed.body.data).toMatchObject({ name: "bot", description: "helps" });
    const archived = await call(`DELETE ${own}`);
    expect(archived.body.data).toMatchObject({ name: "bot", scope_type: "project" });
    expect(await call(`DELETE ${own}`)).toMatchObject({ status: 404, text: notFound });
    expect((await call(`POST ${path}`, { body: { name: "bot" } })).status).toBe(200);
  });

  test("take events as soon as they are made", async () => {
    const key = await aProjectKey(await aProject(await aWorkspace()));

    const logged = await call("POST /events", {
      credential: { authorization: `Bearer ${key}` },
      body: { event: { event_type: "tool", inputs: {}, source: "test" } },
    });

    expect(logged.status).toBe(200);
  });

  test("are listed in pages that end", async () => {
    const workspaceId = await aWorkspace();
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1) made.push(await aProject(workspaceId));
    const path = `/v1/workspaces/${workspaceId}/projects`;

    const got: string[] = [];
    let cursor: string | undefined;
    do {
      const query = cursor === undefined ? "" : `&cursor=${cursor}`;
      const page = await pageOf(`${path}?limit=2${query}`);
      got.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== undefined);

    expect(got).toEqual(made);
    const bad = await call(`GET ${path}?cursor=x`);
    expect(bad).toMatchObject(refusal(400, "INVALID_ARGUMENT", "cursor: it is not a next_cursor"));
    expect((await call(`GET ${path}?limit=1001`)).body.message).toMatch(/^limit: /);
  });
});

describe("data planes that are assigned automatically", () => {
  test("refuse writes with the fixed 404, and are read", async () => {
    const { orgId, dataplaneId } = service.project;
    const path = planePath(service);

    for (const [route, body] of [
      [`POST /v1/orgs/${orgId}/virtual_dataplanes`, { name: "second", cluster_id: "default" }],
      [`POST /v1/orgs/${orgId}/virtual_dataplanes`, {}],
      [`PUT ${path}`, { name: "second" }],
      [`DELETE ${path}?dangerously_delete_child_scopes=true`, undefined],
      [`DELETE ${path}`, undefined],
    ] as const) {
      expect(await call(route, { body })).toMatchObject({ status: 404, text: notFound });
    }
    const read = await call(`GET ${path}`);
    expect(read.status).toBe(200);
    expect(read.body).toEqual({
      success: true,
      data: {
        id: dataplaneId,
        name: expect.any(String) as string,
        cluster_id: "default",
        created_at: aTime,
        updated_at: aTime,
        org_id: orgId,
      },
    });
    const list = await pageOf(`/v1/orgs/${orgId}/virtual_dataplanes`);
    expect(list.data).toEqual([read.body.data]);
  });
});

describe("data planes that are placed by hand", () => {
  let admin: Credential;
  let path: string;

  beforeEach(async () => {
    admin = await withSignIn(manual.database, manual.project, {
      level: "system",
      role: "system_admin",
      origin: manual.url,
    });
    const body = { name: createUuid() };
    const made = await call("POST /v1/orgs", { at: manual, credential: admin, body });
    path = `/v1/orgs/${made.body.data.id}/virtual_dataplanes`;
  });

  const create = (body: unknown) => call(`POST ${path}`, { at: manual, credential: admin, body });

  test("must be placed, until there is one cluster to place them beside", async () => {
    const required = await create({ name: "first" });
    const unknown = await create({ name: "first", cluster_id: "mars" });
    const first = await create({ name: "first", cluster_id: "eu" });
    const beside = await create({ name: "beside" });
    await create({ name: "elsewhere", cluster_id: "default" });
    const ambiguous = await create({ name: "where" });

    expect(required).toMatchObject(
      refusal(
        400,
        "CLUSTER_REQUIRED",
        "cluster_id: is required, since the organization has no data plane yet",
      ),
    );
    expect(unknown).toMatchObject(
      refusal(400, "CLUSTER_UNKNOWN", "cluster_id: no cluster of this id is configured"),
    );
    expect(first.body.data).toMatchObject({ name: "first", cluster_id: "eu" });
    expect(beside.body.data).toMatchObject({ name: "beside", cluster_id: "eu" });
    expect(ambiguous).toMatchObject(
      refusal(
        400,
        "CLUSTER_AMBIGUOUS",
        "cluster_id: is ambiguous and must be given, since the organization's data planes are " +
          "on more than one cluster",
      ),
    );
  });

  test("are renamed and archived", async () => {
    const made = await create({ name: "R & D's", cluster_id: "eu" });
    const { id } = made.body.data;
    const own = `/v1/virtual_dataplanes/${id}`;
    const options = { at: manual, credential: admin };
    await call(`POST ${own}/workspaces`, { ...options, body: { name: "w" } });

    const renamed = await call(`PUT ${own}`, { ...options, body: { name: "new_name-1" } });
    const badName = await call(`PUT ${own}`, { ...options, body: { name: " x" } });
    const refused = await call(`DELETE ${own}`, options);
    const archived = await call(`DELETE ${own}?dangerously_delete_child_scopes=true`, options);

    expect(renamed.body.data).toMatchObject({ id, name: "new_name-1", cluster_id: "eu" });
    expect(badName.body.message).toMatch(/^name: /);
    expect(refused.body).toMatchObject({ statusCode: 409, errorCode: "SCOPE_NOT_EMPTY" });
    expect(refused.body.message).toMatch(/^there is 1 active workspace inside/);
    expect(archived.body.data).toMatchObject({
      name: "new_name-1",
      scope_type: "dataplane",
      workflow_id: `archive-dataplane-${id}`,
    });
    expect(await call(`GET ${own}`, options)).toMatchObject({ status: 404, text: notFound });
  });
});

describe("organizations", () => {
  let admin: Credential;

  beforeAll(async () => {
    admin = await withSignIn(service.database, service.project, {
      level: "system",
      role: "system_admin",
      origin: service.url,
    });
  });

  test("are made by who may, with a data plane, and archived with it", async () => {
    const body = { name: `Acme ${createUuid()}` };
    const made = await call("POST /v1/orgs", { credential: admin, body });

    expect(made.body).toEqual({
      success: true,
      data: { id: anId, name: body.name, created_at: aTime, updated_at: aTime },
    });
    const path = `/v1/orgs/${made.body.data.id}`;
    const planes = await call(`GET ${path}/virtual_dataplanes`, { credential: admin });
    expect(planes.body.data).toMatchObject([{ name: "default", cluster_id: "default" }]);
    const taken = await call("POST /v1/orgs", { credential: admin, body });
    expect(taken).toMatchObject(
      refusal(409, "NAME_TAKEN", "name: another active organization has it"),
    );
    const refused = await call(`DELETE ${path}`, { credential: admin });
    expect(refused.body.message).toMatch(/^there is 1 active data plane inside/);
    const flagged = `DELETE ${path}?dangerously_delete_child_scopes=true`;
    expect((await call(flagged, { credential: admin })).body.data).toMatchObject({
      scope_type: "org",
      name: body.name,
    });
    expect(await call(`GET ${path}`, { credential: admin })).toMatchObject({ text: notFound });
  });

  test("are made by keys that name the permission; everything in one of them is less", async () => {
    const credential = await withKey(service.database, service.project, {
      kind: "control_plane",
      root: "org",
      permissions: ["*"],
    });
    const body = { name: createUuid() };

    const denied = await call("POST /v1/orgs", { credential, body });
    const allowed = await call("POST /v1/orgs", { body });

    expect(denied).toMatchObject({ status: 404, text: notFound });
    expect(allowed.body.data).toMatchObject({ name: body.name });
  });

  test("are managed by the key that made them, and by no other key", async () => {
    const credential = await withKey(service.database, service.project, {
      kind: "control_plane",
      root: "org",
      permissions: ["*"],
    });
    const { data } = (await call("POST /v1/orgs", { body: { name: createUuid() } })).body;
    const path = `/v1/orgs/${data.id}`;

    expect((await call(`GET ${path}`)).body.data).toMatchObject({ id: data.id });
    const [plane] = (await pageOf(`${path}/virtual_dataplanes`)).data;
    const made = await call(`POST /v1/virtual_dataplanes/${plane?.id ?? ""}/workspaces`, {
      body: { name: "in another organization" },
    });
    expect(made.status).toBe(200);
    expect((await pageOf("/v1/orgs?limit=1000")).data.map(({ id }) => id)).toContain(data.id);
    for (const route of [`GET ${path}`, `DELETE ${path}`, `GET ${path}/virtual_dataplanes`]) {
      expect(await call(route, { credential })).toMatchObject({ status: 404, text: notFound });
    }
    const renamed = await call(`PUT ${path}`, { body: { name: createUuid() } });
    const archived = await call(`DELETE ${path}?dangerously_delete_child_scopes=true`);
    expect([renamed.status, archived.status]).toEqual([200, 200]);
    expect(await call(`GET ${path}`)).toMatchObject({ status: 404, text: notFound });
  });

  test("are listed to a key as its own, and to an administrator as all", async () => {
    const { orgId } = service.project;
    const at = await withKey(service.database, service.project, {
      kind: "control_plane",
      root: "org",
      permissions: ["*"],
    });

    const own = (await call("GET /v1/orgs", { credential: at })).body as unknown as Page;
    const all = await call("GET /v1/orgs?limit=1000", { credential: admin });

    expect(own.data.map(({ id }) => id)).toEqual([orgId]);
    const ids = (all.body as unknown as Page).data.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([orgId, service.otherProject.orgId]));
  });

  test("are renamed", async () => {
    const name = `Acme ${createUuid()}`;

    const renamed = await call(`PUT /v1/orgs/${service.project.orgId}`, { body: { name } });

    expect(renamed.body.data).toMatchObject({ id: service.project.orgId, name });
  });

  test("of others are absent, whatever is asked of them", async () => {
    const { orgId, dataplaneId, workspaceId, projectId } = service.otherProject;
    const body = { name: "mine now" };

    for (const [route, sent] of [
      [`GET /v1/orgs/${orgId}`, undefined],
      [`PUT /v1/orgs/${orgId}`, body],
      [`POST /v1/virtual_dataplanes/${dataplaneId}/workspaces`, body],
      [`POST /v1/workspaces/${workspaceId}/projects`, body],
      [`DELETE /v1/projects/${projectId}`, undefined],
      [`DELETE /v1/projects/${createUuid()}`, undefined],
      ["GET /v1/workspaces/none", undefined],
    ] as const) {
      expect(await call(route, { body: sent })).toMatchObject({ status: 404, text: notFound });
    }
  });
});

describe("over RPC", () => {
  test.each([
    { name: "Connect", create: createConnectTransport },
    { name: "gRPC", create: createGrpcTransport },
  ])("$name makes, reads, refuses and archives", async ({ create }) => {
    const transport = create({ baseUrl: service.url, httpVersion: "2" });
    const client = createClient(WorkspaceService, transport);
    const headers = { authorization: `Bearer ${service.controlPlaneKey}` };
    const virtualDataplaneId = service.project.dataplaneId;
    const name = createUuid();

    const { data } = await client.createWorkspace({ virtualDataplaneId, name }, { headers });
    const workspaceId = data?.id ?? "";
    await aProject(workspaceId);

    expect((await client.getWorkspace({ workspaceId }, { headers })).data).toEqual(data);
    await expect(client.createWorkspace({ virtualDataplaneId, name }, { headers })).rejects.toThrow(
      "[already_exists]",
    );
    await expect(client.archiveWorkspace({ workspaceId }, { headers })).rejects.toThrow(
      "[failed_precondition]",
    );
    const archived = await client.archiveWorkspace(
      { workspaceId, dangerouslyDeleteChildScopes: true },
      { headers },
    );
    expect(archived.data).toMatchObject({ id: workspaceId, scopeType: "workspace" });
    await expect(client.getWorkspace({ workspaceId }, { headers })).rejects.toThrow("[not_found]");
  });
});
