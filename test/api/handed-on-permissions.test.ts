// Which permissions keys hand on to the keys and members that they make: none over the organization
// itself that they do not hold.

import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { ApiKeyService } from "../../gen/waggle/v1/api_key_pb.js";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import type { KeyKind } from "../../src/access/principal.ts";
import { givenStarted } from "../support/given.ts";
import { callRoute } from "../support/call-route.ts";
import { startService } from "../support/service.ts";
import { addKey, type Credential, withKey, withSignIn } from "../support/tenants.ts";

const service = givenStarted(startService);

type Answer = {
  readonly status: number;
  readonly body: {
    readonly errorCode?: string;
    readonly message?: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
};

async function call(
  credential: Credential,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const by = { url: service.url, headers: credential };
  const { status, json } = await callRoute(by, `${method} ${path}`, body);
  return { status, body: json };
}

const bearer = (key: string): Credential => ({ authorization: `Bearer ${key}` });

const levels = ["org", "workspace", "project"] as const;
type Level = (typeof levels)[number];

function pathOf(plane: "data" | "control", level: Level): string {
  const { orgId, workspaceId, projectId } = service.project;
  const ids = { org: orgId, workspace: workspaceId, project: projectId };
  const name = plane === "data" ? "fine_grained_api_keys" : "control_plane_api_keys";
  return `/v1/${level}s/${ids[level]}/${name}`;
}

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

function askFor(credential: Credential, path: string, ...permissions: readonly string[]) {
  const body = { name: "handed on", permissions, expires_at: inAnHour() };
  return call(credential, "POST", path, body);
}

/** A data plane key of the organization that a person made. */
function aMaker(...permissions: readonly string[]): Promise<Credential> {
  const options = { kind: "data_plane", root: "org", permissions } as const;
  return withKey(service.database, service.project, options);
}

/** Everything that makes keys, and nothing else. */
const keyCreation = [
  "org.fine_grained_api_key_dp.*",
  "org.fine_grained_api_key_cp.*",
  "workspace.fine_grained_api_key_dp.*",
  "workspace.fine_grained_api_key_cp.*",
  "project.fine_grained_api_key_dp.*",
  "project.ingestion_api_key.*",
  "project.project_api_key.*",
  "project.ro_project_api_key.*",
];

/** Powers, or wildcards with one inside, and the roots of keys for which they can be asked. */
const powers: readonly {
  readonly asked: string;
  readonly missing: string;
  readonly roots: readonly Level[];
}[] = [
  { asked: "*", missing: "*", roots: levels },
  { asked: "org.*", missing: "org.*", roots: ["org"] },
  { asked: "org.scope.archive", missing: "org.scope.archive", roots: ["org"] },
  { asked: "org.dataplane.create", missing: "org.dataplane.create", roots: ["org"] },
  { asked: "org.api_key_policy.put", missing: "org.api_key_policy.put", roots: ["org"] },
  { asked: "org.member.*", missing: "org.member.*", roots: ["org"] },
  { asked: "org.audit_log.list", missing: "org.audit_log.list", roots: ["org"] },
  { asked: "dataplane.*", missing: "dataplane.member.create", roots: ["org"] },
  { asked: "workspace.*", missing: "workspace.member.create", roots: ["org", "workspace"] },
  { asked: "workspace.member.put", missing: "workspace.member.put", roots: ["org", "workspace"] },
  { asked: "project.*", missing: "project.member.create", roots: levels },
  { asked: "project.member.*", missing: "project.member.create", roots: levels },
  { asked: "project.member.delete", missing: "project.member.delete", roots: levels },
];

const cases = powers.flatMap(({ roots, ...power }) =>
  roots.flatMap((root) => [
    { ...power, plane: "data" as const, root },
    // Control plane keys are of organizations and workspaces.
    ...(root === "project" ? [] : [{ ...power, plane: "control" as const, root }]),
  ]),
);

describe("a key that only makes keys", () => {
  test("gets no hold of the organization through a control plane key", async () => {
    const maker = await aMaker(...keyCreation);
    const attempt = await askFor(maker, pathOf("control", "org"), "*");
    const secret = attempt.body.data?.["key_value"];
    const made = bearer(typeof secret === "string" ? secret : "none");
    const { orgId } = service.project;
    const policy = await call(made, "PUT", `/v1/orgs/${orgId}/api_key_policy`, {
      permissions: ["*"],
    });
    const member = await call(made, "POST", `/v1/orgs/${orgId}/members`, {
      email: "eve@example.org",
      role: "org_admin",
    });
    const listed = await call(maker, "GET", pathOf("control", "org"));

    expect(attempt).toEqual({
      status: 400,
      body: {
        success: false,
        statusCode: 400,
        errorCode: "PERMISSION_NOT_HELD",
        message:
          "permissions[0]: * is a power over the organization that the calling key does not " +
          "hold; name the permissions that the new key needs one by one, or have a member or " +
          "key that holds * create it",
      },
    });
    expect([policy.status, member.status]).toEqual([404, 404]);
    expect(JSON.stringify(listed.body)).not.toContain("handed on");
  });

  test.each(cases)("hands on no $asked by a $plane plane key of a $root", async (row) => {
    const { asked, missing, plane, root } = row;
    const maker = bearer(service.dataPlaneKey);

    const { status, body } = await askFor(maker, pathOf(plane, root), "project.event.get", asked);

    expect({ status, errorCode: body.errorCode }).toEqual({
      status: 400,
      errorCode: "PERMISSION_NOT_HELD",
    });
    expect(body.message).toMatch(/^permissions\[1\]: .*; name the permissions/);
    expect(body.message).toContain(asked);
    expect(body.message).toContain(`have a member or key that holds ${missing} create it`);
  });

  test("is refused over gRPC as over REST", async () => {
    const client = createClient(ApiKeyService, createGrpcTransport({ baseUrl: service.url }));
    const headers = bearer(service.dataPlaneKey);
    const { orgId, workspaceId } = service.project;
    const ask = (permissions: string[], value = orgId, name: "orgId" | "workspaceId" = "orgId") =>
      client
        .createControlPlaneApiKey(
          {
            root: { case: name, value },
            name: "handed on",
            permissions,
            expiresAt: timestampFromMs(Date.now() + 60_000),
          },
          { headers },
        )
        .catch((error: unknown) => error);

    const refused = [await ask(["*"]), await ask(["workspace.*"], workspaceId, "workspaceId")];

    for (const error of refused) {
      expect(error).toMatchObject({ code: Code.InvalidArgument });
      const [info] = (error as { findDetails: (of: unknown) => unknown[] }).findDetails(
        ErrorInfoSchema,
      );
      expect(info).toMatchObject({ reason: "PERMISSION_NOT_HELD" });
    }
    expect(await ask(["workspace.scope.get"])).toMatchObject({ success: true });
  });

  test.each([
    "project.event.*",
    "project.chart.*",
    "project.provider_credential.get",
    "project.member.list",
    "workspace.scope.put",
    "dataplane.workspace.create",
    // Held, and without effect in a key that a key makes.
    "org.fine_grained_api_key_dp.*",
  ])("hands %s on", async (permission) => {
    const answer = await askFor(bearer(service.dataPlaneKey), pathOf("control", "org"), permission);

    expect(answer.status).toBe(200);
  });

  test("hands on no creation of keys beyond its own", async () => {
    const maker = await aMaker("org.fine_grained_api_key_dp.*");
    const path = pathOf("data", "org");

    const other = await askFor(maker, path, "project.ingestion_api_key.*");
    const held = await askFor(maker, path, "org.fine_grained_api_key_dp.*");

    expect(other.body.message).toContain("includes project.ingestion_api_key.post, a power");
    expect([other.status, held.status]).toEqual([400, 200]);
  });
});

describe("a key that holds a power", () => {
  test.each([
    { holds: ["*"], asked: "*" },
    { holds: ["org.*"], asked: "org.member.put" },
    { holds: ["org.*"], asked: "org.*" },
    { holds: ["project.*"], asked: "project.*" },
    { holds: [...keyCreation, "project.member.*"], asked: "project.*" },
  ])("of $holds hands on $asked", async ({ holds, asked }) => {
    const maker = await aMaker(...holds, "org.fine_grained_api_key_cp.post");

    const answer = await askFor(maker, pathOf("control", "org"), asked);

    expect(answer).toMatchObject({ status: 200, body: { data: { permissions: [asked] } } });
  });

  test.each([
    { holds: ["org.member.*"], asked: "org.*" },
    { holds: ["org.member.list"], asked: "org.member.put" },
    { holds: ["org.*", "dataplane.*", "workspace.*", "project.*"], asked: "*" },
  ])("of $holds hands on no $asked", async ({ holds, asked }) => {
    const maker = await aMaker(...holds, "org.fine_grained_api_key_cp.post");

    const answer = await askFor(maker, pathOf("control", "org"), asked);

    expect(answer).toMatchObject({ status: 400, body: { errorCode: "PERMISSION_NOT_HELD" } });
  });

  test("hands on none that the organization's policy takes from it", async () => {
    const { database, otherProject } = service;
    const options = { kind: "data_plane", root: "org", permissions: ["*"] } as const;
    const maker = await withKey(database, otherProject, options);
    const path = `/v1/orgs/${otherProject.orgId}/control_plane_api_keys`;
    const policy = { permissions: ["org.fine_grained_api_key_cp.*", "project.*"] };
    const key = bearer(otherProject.controlPlaneKey);
    await call(key, "PUT", `/v1/orgs/${otherProject.orgId}/api_key_policy`, policy);

    const [taken, left] = [await askFor(maker, path, "*"), await askFor(maker, path, "project.*")];

    expect(taken).toMatchObject({ status: 400, body: { errorCode: "PERMISSION_NOT_ALLOWED" } });
    expect(left.status).toBe(200);
  });
});

describe("keys of other kinds", () => {
  const kinds: readonly KeyKind[] = ["project", "project_read_only", "ingestion", "control_plane"];

  test.each(kinds)("of kind %s make no key at all", async (kind) => {
    const root = kind === "control_plane" ? "org" : "project";
    const { secret } = await addKey(service.database, service.project, { kind, root });

    const answers = await Promise.all(
      cases.map(({ plane, root: level, asked }) =>
        askFor(bearer(secret), pathOf(plane, level), asked),
      ),
    );

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
  });

  test("that make members give no role with a power that they do not hold", async () => {
    const { database, project } = service;
    const key = await withKey(database, project, {
      kind: "control_plane",
      root: "org",
      permissions: ["org.member.*", "project.member.*", "project.event.*"],
    });
    const give = (path: string, role: string) =>
      call(key, "POST", `${path}/members`, { email: "eve@example.org", role });

    const admin = await give(`/v1/orgs/${project.orgId}`, "org_admin");
    const projectAdmin = await give(`/v1/projects/${project.projectId}`, "project_admin");

    expect(admin).toMatchObject({ status: 400, body: { errorCode: "PERMISSION_NOT_HELD" } });
    expect(admin.body.message).toContain(
      "permits org.*, which the caller does not hold here; name",
    );
    expect(projectAdmin).toMatchObject({ status: 400, body: { errorCode: "PERMISSION_NOT_HELD" } });
  });
});

describe("a signed-in person", () => {
  test.each([
    { level: "org", asked: "org.*", want: 200 },
    { level: "org", asked: "*", want: 400 },
    { level: "workspace", asked: "workspace.*", want: 200 },
    { level: "workspace", asked: "*", want: 400 },
    { level: "project", asked: "project.*", want: 200 },
    { level: "project", asked: "*", want: 400 },
  ] as const)("who is $level admin asks for $asked: $want", async ({ level, asked, want }) => {
    const { database, project, url } = service;
    const role = `${level}_admin`;
    const person = await withSignIn(database, project, { level, role, origin: url });

    const answer = await askFor(person, pathOf("data", level), asked);

    expect(answer.status).toBe(want);
    if (want === 400) expect(answer.body.errorCode).toBe("PERMISSION_NOT_HELD");
  });
});
