// API keys over HTTP: who may create which key, its permissions, its use and its revocation.

import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { describe, expect, test } from "vitest";
import { ApiKeyService } from "../../gen/waggle/v1/api_key_pb.js";
import type { KeyKind } from "../../src/access/principal.ts";
import { createUuid } from "../../src/base/ids.ts";
import { givenStarted } from "../support/given.ts";
import { callRoute } from "../support/call-route.ts";
import { givenAKey, scopeOfOrg, scopeOfProject } from "../support/keys.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

type Answer = { readonly status: number; readonly body: AnswerBody };
type AnswerBody = {
  readonly success: boolean;
  readonly errorCode?: string;
  readonly message?: string;
  readonly next_cursor?: string;
  readonly data: never;
};

async function call(
  method: string,
  path: string,
  {
    key = service.dataPlaneKey,
    body,
    headers = {},
  }: { key?: string; body?: unknown; headers?: Readonly<Record<string, string>> } = {},
): Promise<Answer> {
  const by = { url: service.url, headers: { authorization: `Bearer ${key}`, ...headers } };
  const { status, json } = await callRoute(by, `${method} ${path}`, body);
  return { status, body: json as AnswerBody };
}

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

type KeyBody = Readonly<Record<string, string | readonly string[] | null>>;

/** Everything that can be made, with its path and the permission it needs. */
const routes = [
  { kind: "ingestion", level: "project", path: "ingestion_api_keys" },
  { kind: "project", level: "project", path: "project_api_keys" },
  { kind: "project_read_only", level: "project", path: "ro_project_api_keys" },
  { kind: "data_plane", level: "project", path: "fine_grained_api_keys" },
  { kind: "data_plane", level: "workspace", path: "fine_grained_api_keys" },
  { kind: "data_plane", level: "org", path: "fine_grained_api_keys" },
  { kind: "control_plane", level: "workspace", path: "control_plane_api_keys" },
  { kind: "control_plane", level: "org", path: "control_plane_api_keys" },
] as const;

const shapes: Readonly<Record<KeyKind, RegExp>> = {
  project: /^hh_[A-Za-z0-9]{40}$/,
  project_read_only: /^hh_[A-Za-z0-9]{40}$/,
  ingestion: /^hh_ingst_[A-Za-z0-9]{24}_[A-Za-z0-9_-]{64}$/,
  data_plane: /^hh_fgdp_[A-Za-z0-9]{24}_[A-Za-z0-9_-]{64}$/,
  control_plane: /^hh_fgcp_[A-Za-z0-9]{24}_[A-Za-z0-9_-]{64}$/,
};

function pathOf({ level, path }: (typeof routes)[number]): string {
  const { orgId, workspaceId, projectId } = service.project;
  const ids = { org: orgId, workspace: workspaceId, project: projectId };
  return `/v1/${level}s/${ids[level]}/${path}`;
}

function bodyFor(kind: KeyKind, overrides: Readonly<Record<string, unknown>> = {}) {
  const isFineGrained = kind === "data_plane" || kind === "control_plane";
  const fineGrained = isFineGrained
    ? { permissions: ["project.event.get"], expires_at: inAnHour() }
    : {};
  return { name: `a ${kind} key`, ...fineGrained, ...overrides };
}

const fineGrainedPath = () => `/v1/projects/${service.projectId}/fine_grained_api_keys`;
const orgPath = () => `/v1/orgs/${service.project.orgId}/fine_grained_api_keys`;

/** Makes a key over HTTP and returns what was answered. */
async function create(path: string, body: unknown, key?: string): Promise<KeyBody> {
  const answer = await call("POST", path, { body, ...(key === undefined ? {} : { key }) });
  expect(answer).toMatchObject({ status: 200, body: { success: true } });
  return answer.body.data;
}

describe.each(routes)("$kind keys of a $level", (route) => {
  test("are made, listed, read and revoked by a data plane key", async () => {
    const path = pathOf(route);
    const { key_value: value, key_id: id, ...made } = await create(path, bodyFor(route.kind));

    const listed = await call("GET", path);
    const read = await call("GET", `${path}/${String(id)}`);
    const revoked = await call("DELETE", `${path}/${String(id)}`);
    const again = await call("POST", `${path}/${String(id)}/revoke`);

    expect(value).toMatch(shapes[route.kind]);
    expect(made).toMatchObject({
      name: `a ${route.kind} key`,
      description: null,
      root_scope_type: route.level,
      masked_prefix: expect.stringMatching(/^hh_(ingst_|fgdp_|fgcp_)?[A-Za-z0-9]{4}…$/) as string,
    });
    const want = {
      key_id: id,
      kind: route.kind,
      status: "active",
      created_by: expect.stringMatching(/^key first data plane key \([0-9a-f-]{36}\)$/) as string,
      last_used_at: null,
      revoked_by: null,
    };
    expect(listed.body.data).toContainEqual(expect.objectContaining(want));
    expect(read.body.data).toMatchObject(want);
    expect(JSON.stringify([listed.body, read.body, revoked.body])).not.toContain(value);
    expect(revoked.body.data).toMatchObject({
      status: "revoked",
      revoked_by: want.created_by,
      revoked_at: expect.any(String) as string,
    });
    const message = expect.stringMatching(/ revoked since \d{4}-.*: create another$/) as string;
    expect(again).toMatchObject({ status: 409, body: { errorCode: "KEY_REVOKED", message } });
  });

  test.each(["projectKey", "ingestionKey", "controlPlaneKey"] as const)(
    "are not made by a %s",
    async (key) => {
      const answer = await call("POST", pathOf(route), {
        body: bodyFor(route.kind),
        key: service[key],
      });

      expect(answer).toMatchObject({ status: 404, body: { errorCode: "NOT_FOUND" } });
    },
  );

  test("are not made, seen or revoked by another organization's keys", async () => {
    const path = pathOf(route);
    const { key_id: id } = await create(path, bodyFor(route.kind));
    const key = service.otherProject.dataPlaneKey;

    const answers = await Promise.all([
      call("POST", path, { key, body: bodyFor(route.kind) }),
      call("GET", path, { key }),
      call("GET", `${path}/${String(id)}`, { key }),
      call("DELETE", `${path}/${String(id)}`, { key }),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  });
});

test("keys are not found as another kind, at another root, or by an id that is none", async () => {
  const { key_id: id } = await create(fineGrainedPath(), bodyFor("data_plane"));
  const { projectId, project } = service;

  const answers = await Promise.all(
    [
      `/v1/projects/${projectId}/ingestion_api_keys/${String(id)}`,
      `/v1/workspaces/${project.workspaceId}/fine_grained_api_keys/${String(id)}`,
      `${fineGrainedPath()}/${createUuid()}`,
      `${fineGrainedPath()}/no-id`,
    ].flatMap((path) => [call("GET", path), call("DELETE", path)]),
  );

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
});

test.each([
  { path: "/session/start", bodyOf: (session: object) => ({ session }) },
  { path: "/v1/sessions", bodyOf: (session: object) => session },
])("an ingestion key reads nothing of a session that it starts again at $path", async (route) => {
  const { path, bodyOf } = route;
  const session_id = createUuid();
  const hidden = { session_name: "hidden", inputs: { hidden: 1 }, user_properties: { hidden: 1 } };
  const start = (key: string, parts: object) =>
    call("POST", path, { key, body: bodyOf({ session_id, source: "test", ...parts }) });
  await start(service.projectKey, hidden);

  const answer = await start(service.ingestionKey, { metadata: { mine: 2 } });

  expect(answer).toMatchObject({ status: 200, body: { session_id, metadata: { mine: 2 } } });
  expect(JSON.stringify(answer.body)).not.toContain("hidden");
  const { body } = await start(service.projectKey, {});
  expect(body).toMatchObject({ ...hidden, metadata: { mine: 2 } });
});

test("a revoked key stops working at once, and can be neither changed nor deleted", async () => {
  const path = `/v1/projects/${service.projectId}/ingestion_api_keys`;
  const { key_value: value, key_id: id } = await create(path, bodyFor("ingestion"));
  const use = async () => {
    const body = { session: { session_name: "s", source: "test" } };
    return (await call("POST", "/session/start", { key: String(value), body })).status;
  };
  const before = await use();

  await call("DELETE", `${path}/${String(id)}`);

  expect([before, await use()]).toEqual([200, 404]);
  expect((await call("DELETE", `${path}/${String(id)}`)).status).toBe(409);
  expect((await call("PUT", `${path}/${String(id)}`, { body: { name: "x" } })).status).toBe(404);
  expect((await call("GET", `${path}/${String(id)}`)).body.data).toMatchObject({
    status: "revoked",
  });
});

test.each(["project_api_keys", "ro_project_api_keys", "ingestion_api_keys"])(
  "%s carry no wish that is not granted",
  async (path) => {
    const asked = { read_only: true, expires_at: inAnHour(), permissions: [] };
    for (const [field, value] of Object.entries(asked)) {
      const body = { name: "less", [field]: value };
      const answer = await call("POST", `/v1/projects/${service.projectId}/${path}`, { body });

      expect(answer).toMatchObject({ status: 400, body: { errorCode: "INVALID_ARGUMENT" } });
      expect(answer.body.message).toBe(`${field}: is not a known key`);
    }
  },
);

test("a fine-grained key may end with the year 9999, which means never to many", async () => {
  const body = bodyFor("data_plane", { expires_at: "9999-12-31T23:59:59.999Z" });

  const made = await create(fineGrainedPath(), body);

  expect(made["expires_at"]).toBe("9999-12-31T23:59:59.999Z");
});

describe("a new fine-grained key is refused", () => {
  test.each([
    { name: "without an end", body: { expires_at: undefined }, want: /expires_at/ },
    {
      name: "with an end that has passed",
      body: { expires_at: new Date(Date.now() - 1_000).toISOString() },
      want: /^expires_at: .*in the future/,
    },
    { name: "with an end that is no time", body: { expires_at: "soon" }, want: /expires_at/ },
    { name: "without permissions", body: { permissions: [] }, want: /permissions/ },
    {
      name: "with a permission of no level",
      body: { permissions: ["project.event.get", "evnt.get"] },
      want: /^permissions\[1\]: "evnt\.get" must begin with/,
    },
    {
      name: "with a wildcard in the middle",
      body: { permissions: ["project.*.get"] },
      want: /^permissions\[0\]: "project\.\*\.get" .*last part/,
    },
    {
      name: "with a permission that no call requires",
      body: { permissions: ["project.event.get", "project.evnet.get"] },
      want: /^permissions\[1\]: "project\.evnet\.get" is a permission that no call requires$/,
    },
    {
      name: "with a wildcard over no permission",
      body: { permissions: ["project.evnet.*"] },
      want: /^permissions\[0\]: "project\.evnet\.\*" is a permission that no call requires$/,
    },
    {
      name: "with a permission above its root",
      body: { permissions: ["org.member.list"] },
      want: /^permissions\[0\]: org\.member\.list is of level org, .*project/,
    },
    {
      name: "with a permission of the system",
      body: { permissions: ["system.org.create"] },
      want: /^permissions\[0\]: system\.org\.create is of level system/,
    },
    {
      name: "with a permission of megabytes, which is not repeated",
      body: { permissions: ["a".repeat(2_000_000)] },
      want: /^permissions\[0\]: "a{128}…" is longer than 128 characters$/,
    },
    { name: "with a blank name", body: { name: "  " }, want: /^name: must not be blank/ },
    { name: "with NUL in its name", body: { name: "a\0b" }, want: /^name: / },
    { name: "with NUL in its description", body: { description: "\0" }, want: /^description: / },
  ])("$name", async ({ body, want }) => {
    const answer = await call("POST", fineGrainedPath(), { body: bodyFor("data_plane", body) });

    expect(answer).toMatchObject({ status: 400, body: { errorCode: "INVALID_ARGUMENT" } });
    expect(answer.body.message).toMatch(want);
  });

  test("of an organization, too, with a permission of the system", async () => {
    const body = bodyFor("data_plane", { permissions: ["system.org.create"] });

    const answer = await call("POST", orgPath(), { body });

    expect(answer).toMatchObject({ status: 400, body: { errorCode: "INVALID_ARGUMENT" } });
  });

  test("when a key makes it and it is to create keys", async () => {
    const pattern = "project.ingestion_api_key.post";
    const body = bodyFor("data_plane", { permissions: ["project.event.get", pattern] });

    const answer = await call("POST", orgPath(), { body });

    expect(answer).toMatchObject({ status: 400, body: { errorCode: "PERMISSION_NOT_ALLOWED" } });
    expect(answer.body.message).toContain(`permissions[1]: ${pattern} creates keys`);
  });
});

describe("keys create keys", () => {
  test.each(["workspace", "project"] as const)("but not when they are of a %s", async (level) => {
    const { database, project } = service;
    const root =
      level === "project"
        ? scopeOfProject(project)
        : { ...scopeOfOrg(project), level, id: project.workspaceId };
    const { secret } = await givenAKey(database, project, {
      kind: "data_plane",
      root,
      permissions: ["*"],
      expiresAt: new Date(Date.now() + 60_000),
    });

    const answer = await call("POST", `/v1/projects/${project.projectId}/ingestion_api_keys`, {
      key: secret,
      body: bodyFor("ingestion"),
    });

    expect(answer.status).toBe(404);
  });

  test.each(["*", "project.*", "project.ingestion_api_key.*"])(
    "but not when a key created them, though they carry %s",
    async (pattern) => {
      const { database, project, projectId } = service;
      const { secret: creator } = await givenAKey(database, project, {
        kind: "data_plane",
        root: scopeOfOrg(project),
        permissions: ["*"],
        expiresAt: new Date(Date.now() + 60_000),
      });
      const body = bodyFor("data_plane", { permissions: [pattern] });
      const { key_value: value } = await create(orgPath(), body, creator);
      const path = `/v1/projects/${projectId}/ingestion_api_keys`;

      const made = await call("POST", path, { key: String(value), body: bodyFor("ingestion") });
      const listed = await call("GET", path, { key: String(value) });

      expect([made.status, listed.status]).toEqual([404, 200]);
    },
  );

  test("but not when a key created them, whatever the database says they carry", async () => {
    const { database, projectId } = service;
    const { key_value: value, key_id: id } = await create(orgPath(), bodyFor("data_plane"));
    await database.sql()`
      update api_keys
      set permissions = '{project.ingestion_api_key.post}'
      where key_id = ${String(id)}`;

    const answer = await call("POST", `/v1/projects/${projectId}/ingestion_api_keys`, {
      key: String(value),
      body: bodyFor("ingestion"),
    });

    expect(answer.status).toBe(404);
  });
});

describe("the organization's policy", () => {
  const policyPath = () => `/v1/orgs/${service.otherProject.orgId}/api_key_policy`;
  const projectPath = () => `/v1/projects/${service.otherProject.projectId}/fine_grained_api_keys`;
  const put = (permissions: readonly string[]) =>
    call("PUT", policyPath(), {
      key: service.otherProject.controlPlaneKey,
      body: { permissions },
    });
  const allOfKeys = ["org.*", "workspace.*", "project.*"];

  test("is everything until one is set, and then says who set it", async () => {
    const key = service.otherProject.controlPlaneKey;

    const before = await call("GET", policyPath(), { key });
    const replaced = await put(allOfKeys);
    const after = await call("GET", policyPath(), { key });

    expect(before.body.data).toEqual({ permissions: ["*"], updated_at: null, updated_by: null });
    expect(replaced.body.data).toMatchObject({
      permissions: allOfKeys,
      updated_by: expect.stringMatching(/^key first control plane key/) as string,
    });
    expect(after.body).toEqual(replaced.body);
  });

  test("still says who changed it last after a call that changes nothing", async () => {
    const { orgId, controlPlaneKey } = service.otherProject;
    await put(["org.*"]);
    const changed = await put(allOfKeys);
    const countRows = async () =>
      (await service.database.sql()`select 1 from audit_log where org_id = ${orgId}`).length;
    const rows = await countRows();

    const again = await put(allOfKeys);

    expect(again.body).toEqual(changed.body);
    expect(await countRows()).toBe(rows);
    const read = await call("GET", policyPath(), { key: controlPlaneKey });
    expect(read.body).toEqual(changed.body);
  });

  test("refuses a new key that asks for more, naming the permission", async () => {
    await put([...allOfKeys.slice(0, 2), "project.event.*", "project.fine_grained_api_key_dp.*"]);
    const key = service.otherProject.dataPlaneKey;
    const tryWith = (...permissions: readonly string[]) =>
      call("POST", projectPath(), { key, body: bodyFor("data_plane", { permissions }) });

    const refused = await tryWith("project.event.get", "project.session.get");
    const wider = await tryWith("project.*");
    const allowed = await tryWith("project.event.*");

    expect(refused).toMatchObject({ status: 400, body: { errorCode: "PERMISSION_NOT_ALLOWED" } });
    expect(refused.body.message).toContain("permissions[1]: project.session.get ");
    expect(wider).toMatchObject({ status: 400, body: { errorCode: "PERMISSION_NOT_ALLOWED" } });
    expect(allowed.status).toBe(200);
  });

  test("narrows the keys that there are at once, and widens them again", async () => {
    await put(allOfKeys);
    const key = service.otherProject.dataPlaneKey;
    const list = async () => (await call("GET", projectPath(), { key })).status;
    const before = await list();

    await put(["org.*"]);
    const narrowed = await list();
    await put(["*"]);

    expect([before, narrowed, await list()]).toEqual([200, 404, 200]);
  });

  test("is not replaced by nothing", async () => {
    const key = service.otherProject.controlPlaneKey;
    await put(allOfKeys);

    for (const body of [undefined, {}, { permissions: null }, { permissions: [] }]) {
      const answer = await call("PUT", policyPath(), { key, body });
      expect(answer).toMatchObject({ status: 400, body: { errorCode: "INVALID_ARGUMENT" } });
      expect(answer.body.message).toMatch(/^permissions: /);
    }
    const after = await call("GET", policyPath(), { key });
    expect(after.body.data).toMatchObject({ permissions: allOfKeys });
  });

  test("binds a key that a key made, also in what it may do with the policy", async () => {
    await put(["*"]);
    const { database, otherProject } = service;
    const { secret: creator } = await givenAKey(database, otherProject, {
      kind: "data_plane",
      root: scopeOfOrg(otherProject),
      permissions: ["org.fine_grained_api_key_cp.*", "org.api_key_policy.*"],
      expiresAt: new Date(Date.now() + 60_000),
    });
    const path = `/v1/orgs/${otherProject.orgId}/control_plane_api_keys`;
    const body = bodyFor("control_plane", { permissions: ["org.api_key_policy.*"] });
    const { key_value: key } = await create(path, body, creator);
    const widen = async () =>
      (await call("PUT", policyPath(), { key: String(key), body: { permissions: ["*"] } })).status;
    const before = await widen();

    await put(["project.*"]);
    const after = await widen();
    await put(["*"]);

    expect([before, after]).toEqual([200, 404]);
  });

  test("never shuts out the key that may mend it", async () => {
    const key = service.otherProject.controlPlaneKey;
    const organization = `/v1/orgs/${service.otherProject.orgId}`;

    await put(["project.event.get"]);
    const read = await call("GET", policyPath(), { key });
    const other = await call("GET", organization, { key });
    const me = await call("GET", "/v1/me", { key });
    const mended = await put(["*"]);

    const left = ["project.event.get", "org.api_key_policy.get", "org.api_key_policy.put"];
    expect(me.body.data).toMatchObject({ grants: [{ permissions: left }, { permissions: [] }] });
    expect([read.status, other.status, mended.status]).toEqual([200, 404, 200]);
    expect((await call("GET", organization, { key })).status).toBe(200);
  });

  test.each([
    { name: "a permission that is none", permissions: ["org.*", "nothing"] },
    { name: "a permission that no call requires", permissions: ["org.*", "project.evnet.get"] },
    { name: "more than a hundred", permissions: Array.from({ length: 101 }, () => "org.a.get") },
  ])("refuses $name", async ({ permissions }) => {
    const answer = await put(permissions);

    expect(answer).toMatchObject({ status: 400, body: { errorCode: "INVALID_ARGUMENT" } });
    expect(answer.body.message).toMatch(/permissions/);
  });
});

describe("lists", () => {
  test("come in pages, the newest first, every key once", async () => {
    const path = `/v1/projects/${service.otherProject.projectId}/ro_project_api_keys`;
    const key = service.otherProject.dataPlaneKey;
    const ids: unknown[] = [];
    for (let index = 0; index < 5; index += 1) {
      ids.push((await create(path, { name: `key ${index}` }, key))["key_id"]);
    }

    const seen: unknown[] = [];
    let cursor: string | undefined;
    do {
      const query = cursor === undefined ? "" : `&cursor=${cursor}`;
      const { body } = await call("GET", `${path}?limit=2${query}`, { key });
      seen.push(...(body.data as readonly KeyBody[]).map(({ key_id: id }) => id));
      cursor = body.next_cursor;
    } while (cursor !== undefined);

    expect(seen).toEqual(ids.toReversed());
  });

  test.each([
    { query: "limit=0", want: "limit" },
    { query: "limit=1001", want: "limit" },
    { query: "cursor=nonsense", want: "cursor" },
  ])("refuse $query", async ({ query, want }) => {
    const answer = await call("GET", `${fineGrainedPath()}?${query}`);

    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(want);
  });

  test("show a key that has ended as expired", async () => {
    const { key_id: id } = await create(fineGrainedPath(), bodyFor("data_plane"));
    await service.database.sql()`
      update api_keys set expires_at = now() - interval '1 second' where key_id = ${String(id)}`;

    const { body } = await call("GET", `${fineGrainedPath()}/${String(id)}`);

    expect(body.data).toMatchObject({ status: "expired" });
  });
});

describe("Idempotency-Key", () => {
  test("answers the same value again to the same caller, and keeps it unreadable", async () => {
    const path = `/v1/projects/${service.projectId}/project_api_keys`;
    const headers = { "idempotency-key": "make one key" };
    const body = { name: "once" };
    const { secret: other } = await givenAKey(service.database, service.project, {
      kind: "data_plane",
      root: scopeOfOrg(service.project),
      permissions: ["project.project_api_key.*"],
      expiresAt: new Date(Date.now() + 60_000),
    });

    const first = await call("POST", path, { headers, body });
    const second = await call("POST", path, { headers, body });
    const foreign = await call("POST", path, { headers, body, key: other });

    expect(second).toEqual(first);
    expect(foreign.status).toBe(422);
    const value = Buffer.from((first.body.data as KeyBody)["key_value"] as string);
    const records = await service.database.sql()<{ response: Buffer | null; text: string }[]>`
      select response, idempotency_records::text as text from idempotency_records`;
    expect(records.length).toBeGreaterThan(0);
    for (const { response, text } of records) {
      expect(response?.includes(value)).not.toBe(true);
      expect(text).not.toContain(value.toString());
    }
  });
});

describe("every change", () => {
  test("is in the audit log, with the masked prefix only", async () => {
    const made = await create(fineGrainedPath(), bodyFor("data_plane", { description: "why" }));
    await call("DELETE", `${fineGrainedPath()}/${String(made["key_id"])}`);

    const rows = await service.database.sql()<{ action: string; text: string }[]>`
      select action, audit_log::text as text
      from audit_log
      where target_id = ${String(made["key_id"])}
      order by sequence`;

    expect(rows.map(({ action }) => action)).toEqual(["api_key.create", "api_key.revoke"]);
    expect(rows[0]?.text).toContain(made["masked_prefix"]);
    const secretPart = String(made["key_value"]).slice("hh_fgdp_".length + 4);
    for (const { text } of rows) expect(text).not.toContain(secretPart);
  });

  test("of a revocation asks for the workflow that follows it", async () => {
    const { key_id: id } = await create(fineGrainedPath(), bodyFor("data_plane"));

    await call("DELETE", `${fineGrainedPath()}/${String(id)}`);

    const [entry] = await service.database.sql()<{ input: unknown }[]>`
      select input from outbox where workflow_id = ${`revoke-key-${String(id)}`}`;
    const [key] = await service.database.sql()<{ changeId: number }[]>`
      select revocation_change_id as "changeId" from api_keys where key_id = ${String(id)}`;
    expect(entry?.input).toMatchObject({
      keyId: id,
      changeId: key?.changeId,
      orgId: service.project.orgId,
      scopeId: service.projectId,
    });
  });
});

test("an RPC client does the same", async () => {
  const client = createClient(
    ApiKeyService,
    createConnectTransport({
      baseUrl: service.url,
      httpVersion: "1.1",
      interceptors: [
        (next) => (request) => {
          request.header.set("authorization", `Bearer ${service.dataPlaneKey}`);
          return next(request);
        },
      ],
    }),
  );
  const root = { case: "workspaceId", value: service.project.workspaceId } as const;
  const expiresAt = { seconds: BigInt(Math.floor(Date.now() / 1_000) + 60), nanos: 0 };

  const { data } = await client.createControlPlaneApiKey({
    root,
    name: "over RPC",
    expiresAt,
    permissions: ["workspace.project.list"],
  });
  const revoked = await client.revokeControlPlaneApiKey({ root, keyId: data?.keyId ?? "" });

  expect(data?.keyValue).toMatch(shapes.control_plane);
  expect(data?.rootScopeType).toBe("workspace");
  expect(revoked.data?.status).toBe("revoked");
});
