// Members, roles and /v1/me over HTTP, for keys and for signed-in people.

import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { beforeAll, describe, expect, test } from "vitest";
import { MemberService } from "../../gen/waggle/v1/member_pb.js";
import type { People } from "../../src/access/people.ts";
import { loadManifest } from "../../src/access/roles/manifest.ts";
import { createLocalPeople } from "../../src/commands/local-access.ts";
import { callRoute } from "../support/call-route.ts";
import { givenStarted } from "../support/given.ts";
import { givenAKey, scopeOfOrg } from "../support/keys.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);
let people: People;
beforeAll(async () => {
  people = createLocalPeople(service.database, await loadManifest(undefined));
});

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };
type Caller = { readonly key: string } | { readonly token: string };

async function call(
  caller: Caller,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { url } = service;
  const credential =
    "key" in caller
      ? { authorization: `Bearer ${caller.key}` }
      : { cookie: `waggle_session=${caller.token}`, origin: url };
  const by = { url, headers: { ...credential, ...headers } };
  const { status, json } = await callRoute(by, `${method} ${path}`, body);
  return { status, body: json };
}

const controlPlane = (): Caller => ({ key: service.controlPlaneKey });

let count = 0;
function anEmail(): string {
  count += 1;
  return `member-${count}@example.org`;
}

const orgMembers = () => `/v1/orgs/${service.project.orgId}/members`;
const projectMembers = () => `/v1/projects/${service.projectId}/members`;

async function givenAMember(path: string, role: string): Promise<string> {
  const { status, body } = await call(controlPlane(), "POST", path, { email: anEmail(), role });
  expect(status).toBe(200);
  return (body["data"] as { user_id: string }).user_id;
}

async function signIn(userId: string): Promise<Caller> {
  const expiresAtMs = Date.now() + 3_600_000;
  return { token: await people.signIns.create({ userId, groups: [], expiresAtMs }) };
}

const notFound = {
  success: false,
  statusCode: 404,
  errorCode: "NOT_FOUND",
  message: "Not found",
};

describe("members", () => {
  test.each([
    { level: "org", path: () => `/v1/orgs/${service.project.orgId}` },
    {
      level: "dataplane",
      path: () => `/v1/virtual_dataplanes/${service.project.dataplaneId}`,
    },
    { level: "workspace", path: () => `/v1/workspaces/${service.project.workspaceId}` },
    { level: "project", path: () => `/v1/projects/${service.projectId}` },
  ])("of a $level are added, listed, changed and removed", async ({ level, path }) => {
    const members = `${path()}/members`;
    const [email, role] = [anEmail(), `${level}_member`];
    await givenAMember(members, `${level}_admin`);
    const added = await call(controlPlane(), "POST", members, { email, role });
    const member = added.body["data"] as Readonly<Record<string, string>>;
    const one = `${members}/${member["user_id"] ?? ""}`;
    const changed = await call(controlPlane(), "PUT", one, { role: `${level}_admin` });
    const listed = await call(controlPlane(), "GET", members);
    const removed = await call(controlPlane(), "DELETE", one);
    const again = await call(controlPlane(), "DELETE", one);

    expect(added).toMatchObject({ status: 200, body: { success: true } });
    expect(member).toEqual({
      user_id: expect.any(String) as string,
      email,
      name: null,
      role,
      scope_type: level,
      scope_id: path().split("/").at(-1),
      created_at: expect.any(String) as string,
      created_by: expect.stringContaining("control") as string,
    });
    const changedMember = { ...member, role: `${level}_admin` };
    expect(changed.body["data"]).toEqual(changedMember);
    expect(listed.body["data"]).toContainEqual(changedMember);
    expect(removed).toEqual({ status: 200, body: { success: true, data: changedMember } });
    expect(again).toEqual({ status: 404, body: notFound });
  });

  test("are paged by a cursor", async () => {
    const path = `/v1/orgs/${service.otherProject.orgId}/members`;
    const caller = { key: service.otherProject.controlPlaneKey };
    for (let index = 0; index < 3; index += 1) {
      await call(caller, "POST", path, { email: anEmail(), role: "org_member" });
    }
    const first = await call(caller, "GET", `${path}?limit=2`);
    const cursor = String(first.body["next_cursor"]);
    const second = await call(caller, "GET", `${path}?limit=2&cursor=${cursor}`);

    expect(first.body["data"]).toHaveLength(2);
    expect(second.body["data"]).toHaveLength(1);
    expect(second.body).not.toHaveProperty("next_cursor");
    expect(await call(caller, "GET", `${path}?cursor=x`)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("cursor") as string },
    });
  });

  test.each([
    { name: "no e-mail", body: { email: "ada", role: "org_member" }, field: "email" },
    { name: "no role", body: { email: "ada@example.org" }, field: "role" },
    { name: "an unknown role", body: { email: "ada@example.org", role: "x" }, field: "role" },
  ])("with $name are a 400 naming the field", async ({ body, field }) => {
    expect(await call(controlPlane(), "POST", orgMembers(), body)).toMatchObject({
      status: 400,
      body: {
        errorCode: "INVALID_ARGUMENT",
        message: expect.stringMatching(`^${field}`) as string,
      },
    });
  });

  test("that exist, and the last who manages members, are a 409", async () => {
    const { otherProject } = service;
    const caller = { key: otherProject.controlPlaneKey };
    const path = `/v1/orgs/${otherProject.orgId}/members`;
    const email = anEmail();
    const added = await call(caller, "POST", path, { email, role: "org_admin" });
    const { user_id: userId } = added.body["data"] as { user_id: string };

    expect(await call(caller, "POST", path, { email, role: "org_member" })).toMatchObject({
      status: 409,
      body: { errorCode: "MEMBER_EXISTS" },
    });
    expect(await call(caller, "DELETE", `${path}/${userId}`)).toMatchObject({
      status: 409,
      body: { errorCode: "LAST_ADMIN" },
    });
  });

  test("that would hold more than the caller are a 400 naming the permission", async () => {
    const { secret } = await givenAKey(service.database, service.project, {
      kind: "control_plane",
      root: scopeOfOrg(service.project),
      permissions: ["org.member.*", "org.scope.get"],
      expiresAt: new Date(Date.now() + 3_600_000),
    });
    const body = { email: anEmail(), role: "org_admin" };

    expect(await call({ key: secret }, "POST", orgMembers(), body)).toMatchObject({
      status: 400,
      body: {
        errorCode: "PERMISSION_NOT_HELD",
        message: expect.stringContaining("org.*") as string,
      },
    });
  });

  test("of another tenant are the fixed 404, whoever asks", async () => {
    const member = await givenAMember(orgMembers(), "org_admin");
    const callers: readonly Caller[] = [
      { key: service.otherProject.controlPlaneKey },
      { key: service.projectKey },
      { key: service.dataPlaneKey },
      { key: "hh_unknown" },
    ];
    for (const caller of callers) {
      expect(await call(caller, "GET", orgMembers())).toEqual({ status: 404, body: notFound });
      const one = `${orgMembers()}/${member}`;
      expect(await call(caller, "DELETE", one)).toEqual({ status: 404, body: notFound });
    }
  });

  test("answer over gRPC as over REST", async () => {
    const transport = createGrpcTransport({ baseUrl: service.url });
    const client = createClient(MemberService, transport);
    const options = { headers: { authorization: `Bearer ${service.controlPlaneKey}` } };
    const email = anEmail();
    const scope = { case: "projectId", value: service.projectId } as const;
    const { data } = await client.addMember({ scope, email, role: "project_viewer" }, options);

    expect(data).toMatchObject({ email, role: "project_viewer", scopeType: "project" });
  });
});

describe("signed-in members", () => {
  test("may do what their role permits, in their scope and inside it", async () => {
    const admin = await signIn(await givenAMember(orgMembers(), "org_admin"));
    const viewer = await signIn(await givenAMember(projectMembers(), "project_viewer"));
    const body = { email: anEmail(), role: "project_viewer" };
    const inProject = { "x-project-id": service.projectId };
    const search = { filters: [] };

    expect((await call(admin, "GET", orgMembers())).status).toBe(200);
    expect((await call(admin, "POST", projectMembers(), body)).status).toBe(200);
    expect((await call(viewer, "GET", projectMembers())).status).toBe(200);
    expect((await call(viewer, "GET", orgMembers())).status).toBe(404);
    expect((await call(viewer, "POST", projectMembers(), body)).status).toBe(404);
    expect((await call(viewer, "POST", "/v1/events/search", search, inProject)).status).toBe(200);
    const event = { event: { event_type: "tool", inputs: {} } };
    expect((await call(viewer, "POST", "/events", event, inProject)).status).toBe(404);
  });

  test("may do nothing in another tenant", async () => {
    const admin = await signIn(await givenAMember(orgMembers(), "org_admin"));
    const path = `/v1/orgs/${service.otherProject.orgId}/members`;

    expect(await call(admin, "GET", path)).toEqual({ status: 404, body: notFound });
  });

  test("sign in again after their role changed, at once", async () => {
    const userId = await givenAMember(projectMembers(), "project_viewer");
    const viewer = await signIn(userId);
    const before = await call(viewer, "GET", "/v1/me");
    await call(controlPlane(), "PUT", `${projectMembers()}/${userId}`, { role: "project_member" });

    expect(before.status).toBe(200);
    expect(await call(viewer, "GET", "/v1/me")).toEqual({ status: 404, body: notFound });
  });

  test("hand on nothing that they do not hold", async () => {
    const admin = await signIn(await givenAMember(projectMembers(), "project_admin"));
    const other = await givenAMember(projectMembers(), "project_viewer");
    const give = { role: "project_admin" };
    const workspace = `/v1/workspaces/${service.project.workspaceId}/members`;
    const body = { email: anEmail(), role: "workspace_member" };

    expect((await call(admin, "PUT", `${projectMembers()}/${other}`, give)).status).toBe(200);
    expect((await call(admin, "POST", workspace, body)).status).toBe(404);
  });
});

describe("GET /v1/roles", () => {
  test("lists the roles of the manifest for keys and people", async () => {
    const viewer = await signIn(await givenAMember(projectMembers(), "project_viewer"));
    const { roles } = await loadManifest(undefined);
    const want = { success: true, data: [...roles.values()] };

    expect(await call(viewer, "GET", "/v1/roles")).toEqual({ status: 200, body: want });
    expect(await call(controlPlane(), "GET", "/v1/roles")).toEqual({ status: 200, body: want });
  });
});

describe("GET /v1/me", () => {
  test("tells a person what they may do, where and until when", async () => {
    const userId = await givenAMember(projectMembers(), "project_viewer");
    const { body } = await call(await signIn(userId), "GET", "/v1/me");
    const { roles } = await loadManifest(undefined);

    expect(body).toEqual({
      success: true,
      data: {
        type: "user",
        id: userId,
        name: expect.stringContaining("@") as string,
        email: expect.stringContaining("@") as string,
        grants: [
          {
            scope_type: "project",
            scope_id: service.projectId,
            permissions: roles.get("project_viewer")?.permissions,
          },
        ],
        expires_at: expect.any(String) as string,
      },
    });
  });

  test.each([
    { kind: "project", key: () => service.projectKey },
    { kind: "project_read_only", key: () => service.readOnlyKey },
    { kind: "ingestion", key: () => service.ingestionKey },
  ])("tells a $kind key its project", async ({ kind, key }) => {
    const { body } = await call({ key: key() }, "GET", "/v1/me");

    expect(body["data"]).toEqual({
      type: "key",
      id: expect.any(String) as string,
      name: kind,
      key_kind: kind,
      org_id: service.project.orgId,
      grants: [],
      expires_at: null,
      project_id: service.projectId,
      project_name: "demo",
    });
  });

  test("tells a fine-grained key what the organization's policy leaves of its grants", async () => {
    const { orgId } = service.otherProject;
    const { secret } = await givenAKey(service.database, service.otherProject, {
      kind: "control_plane",
      root: scopeOfOrg(service.otherProject),
      permissions: ["org.*", "workspace.scope.get"],
      expiresAt: new Date(Date.now() + 3_600_000),
    });
    await service.database.sql()`
      insert into api_key_policies (org_id, permissions, updated_by)
      values (${orgId}, ${["org.scope.*", "workspace.*"]}, 'test')`;
    const { body } = await call({ key: secret }, "GET", "/v1/me");

    expect(body["data"]).toMatchObject({
      key_kind: "control_plane",
      org_id: orgId,
      grants: [
        {
          scope_type: "org",
          scope_id: orgId,
          // The policy itself is never taken from who holds it.
          permissions: [
            "org.scope.*",
            "org.api_key_policy.get",
            "org.api_key_policy.put",
            "workspace.scope.get",
          ],
        },
      ],
      expires_at: expect.any(String) as string,
    });
    expect(body["data"]).not.toHaveProperty("project_id");
  });
});
