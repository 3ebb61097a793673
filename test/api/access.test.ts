// Every route × every kind of caller: who may call which route; every denial is the same bytes.
// The rows of access-rows.ts give the expected answers; a route without a row fails here.
// Source: docs/spec.md, "Authentication"; docs/decisions.md, 10, 14, 33 and 35.

import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { http } from "../../gen/google/api/annotations_pb.js";
import type { HttpRule } from "../../gen/google/api/http_pb.js";
import { DatasetService } from "../../gen/waggle/v1/dataset_pb.js";
import { access } from "../../gen/waggle/v1/options_pb.js";
import { keyKinds } from "../../src/access/principal.ts";
import type { ScopeLevel } from "../../src/access/scope.ts";
import { rpcs } from "../support/contract.ts";
import { anEncryptionKey } from "../support/credentials.ts";
import { type StandIn, startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { givenAProject } from "../support/project.ts";
import { startService, type TestService } from "../support/service.ts";
import { type Credential, scopeIdOf, type Tenant, withKey } from "../support/tenants.ts";
import { badCredentials, type Caller, callers, withoutPermission } from "./access-callers.ts";
import { type Filled, fillIn, routeLevels } from "./access-calls.ts";
import { contractRows, exporterRows, nowhere, type Row } from "./access-rows.ts";

/** Rows of the paths under a project that calls for a named project have. */
const namedProjectRows = contractRows.filter(isProjectNamed).map((row): Row => {
  const route = row.route.replace(" /v1/", " /v1/projects/{project_id}/");
  return { ...row, route, kinds: [...row.kinds, "data_plane"] };
});

function isProjectNamed({ route, rpc }: Row): boolean {
  const method = rpcs.find(({ name }) => name === rpc);
  return method !== undefined && getOption(method, access).namedProject && route.includes(" /v1/");
}

const rows: readonly Row[] = [...contractRows, ...namedProjectRows, ...exporterRows];

const notFound = Buffer.from(
  '{"success":false,"statusCode":404,"errorCode":"NOT_FOUND","message":"Not found"}',
);

let standIn: StandIn;
let service: TestService;

beforeAll(async () => {
  standIn = await startOpenAiStandIn();
  const provider = { provider: "openai_compatible", base_url: standIn.url };
  service = await startService({
    "dataplane-assignment": "manual",
    "encryption-keys": anEncryptionKey("main").text,
    "webhook-private-hosts": new URL(nowhere).host,
    providers: JSON.stringify({ "stand-in": provider, openai: provider }),
  });
});

afterAll(async () => {
  await service.stop();
  await standIn.stop();
});

/** From the widest to the narrowest: what holds at one holds at all that follow. */
const levels: readonly ScopeLevel[] = ["system", "org", "dataplane", "workspace", "project"];

/** Level at which a route asks for its permission. */
function levelOf({ route, permission }: Row): ScopeLevel | "any" {
  if (["org.scope.list", "system.role.list", "system.me.get"].includes(permission)) return "any";
  if (permission.startsWith("system.")) return "system";
  return routeLevels.find(([pattern]) => pattern.test(route))?.[1] ?? "project";
}

function isAllowed(row: Row, { kind, level }: Caller): boolean {
  if (kind !== "user" && !row.kinds.includes(kind)) return false;
  const asked = levelOf(row);
  if (asked === "any") return true;
  // Only organization-level data plane keys and people create keys.
  if (kind !== "user" && row.permission.endsWith(".post") && level !== "org") return false;
  return levels.indexOf(level) <= levels.indexOf(asked);
}

async function send({ route, type }: Row, { path, body }: Filled, credential: Credential) {
  const response = await fetch(service.url + path, {
    method: route.split(" ")[0] ?? "",
    headers: {
      ...credential,
      ...(body !== undefined && { "content-type": type ?? "application/json" }),
    },
    ...(body !== undefined && { body }),
  });
  return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
}

async function call(row: Row, tenant: Tenant, credential: Credential) {
  return send(row, await fillIn(service, tenant, row), credential);
}

describe("the rows", () => {
  test("cover every binding of every rpc", () => {
    const want = rpcs.flatMap((method) => bindingsOf(getOption(method, http)));
    const got = contractRows.map(({ route }) => route.split("?")[0]);

    expect(got.toSorted()).toEqual(want.toSorted());
  });

  test.each(rpcs.map((method) => ({ name: method.name, method })))(
    "say of $name what its proto says",
    ({ method }) => {
      const rule = getOption(method, access);
      const mine = contractRows.filter(({ rpc }) => rpc === method.name);

      expect(mine.length).toBeGreaterThan(0);
      for (const { permission, kinds } of mine) {
        expect(permission).toBe(rule.permission);
        // The enum begins with a value that stands for none.
        const numbers = kinds.map((kind) => keyKinds.indexOf(kind) + 1);
        expect(numbers.toSorted()).toEqual([...rule.keys].toSorted());
      }
    },
  );
});

function bindingsOf(rule: HttpRule): string[] {
  const { case: verb, value } = rule.pattern;
  const own = verb === undefined || verb === "custom" ? [] : [`${verb.toUpperCase()} ${value}`];
  return [...own, ...rule.additionalBindings.flatMap(bindingsOf)];
}

describe.each(rows)("$route", (row) => {
  test.each(callers)("answers $name as its row says", async (caller) => {
    const tenant = await givenAProject(service.database);

    const got = await call(row, tenant, await caller.present(service, tenant));

    if (isAllowed(row, caller))
      expect({ ...got, body: got.body.toString() }).toMatchObject({ status: row.success ?? 200 });
    else expect(got).toEqual({ status: 404, body: notFound });
  });

  test("answers every bad credential with the same bytes", async () => {
    const tenant = await givenAProject(service.database);
    const filled = await fillIn(service, tenant, row);
    for (const [name, credential] of Object.entries(await badCredentials(service, tenant))) {
      // Where every caller may call, a key without permissions is one of them.
      if (levelOf(row) === "any" && name.endsWith(withoutPermission)) continue;
      const got = await send(row, filled, credential);
      expect({ name, ...got }).toEqual({ name, status: 404, body: notFound });
    }
  });

  test("answers keys of what is archived with the same bytes", async () => {
    for (const level of ["org", "dataplane", "workspace", "project"] as const) {
      const tenant = await givenAProject(service.database);
      const filled = await fillIn(service, tenant, row);
      const credentials = await Promise.all(
        callers
          .filter(({ kind, level: root }) => kind !== "user" && isAtOrBelow(root, level))
          .map(async ({ name, present }) => [name, await present(service, tenant)] as const),
      );
      await archive(tenant, level);
      for (const [name, credential] of credentials) {
        const got = await send(row, filled, credential);
        expect({ name, level, ...got }).toEqual({ name, level, status: 404, body: notFound });
      }
    }
  });

  test("shows and changes nothing of this tenant to another's callers", async () => {
    const [tenant, other] = [
      await givenAProject(service.database),
      await givenAProject(service.database),
    ];
    const isNamed = /\{(\w+_)?id\}/.test(row.route + JSON.stringify(row.body));
    for (const caller of callers.filter(({ level }) => level !== "system")) {
      const filled = await fillIn(service, tenant, row);

      const got = await send(row, filled, await caller.present(service, other));

      const { name } = caller;
      if (isNamed && !takesAnySession(row)) {
        expect({ name, ...got }).toEqual({ name, status: 404, body: notFound });
      }
      expect({ name, shown: idsIn(got.body, tenant) }).toEqual({ name, shown: [] });
    }
    const withEvent = ["session", "generation", "metric and event", "queue"];
    const needsEvent = withEvent.includes(row.need ?? "");
    const events = needsEvent ? 2 : 0;
    expect(await stateOf(tenant)).toEqual({ events, active: 4 });
  });
});

/** These write to a session of any id, which is then one of the caller's own project. */
function takesAnySession({ rpc }: Row): boolean {
  return rpc === "AddTraces" || rpc === "AddSessionEvents";
}

function isAtOrBelow(root: ScopeLevel, level: ScopeLevel): boolean {
  return levels.indexOf(root) >= levels.indexOf(level);
}

function idsIn(body: Buffer, tenant: Tenant): string[] {
  const { orgId, dataplaneId, workspaceId, projectId } = tenant;
  return [orgId, dataplaneId, workspaceId, projectId].filter((id) => body.includes(id));
}

async function stateOf(tenant: Tenant): Promise<{ events: number; active: number }> {
  const [state] = await service.database.sql()<{ events: number; active: number }[]>`
    select
      (select count(*) from events where project_id = ${tenant.projectId}) as events,
      (select count(*) from organizations
        join dataplanes using (org_id)
        join workspaces using (dataplane_id)
        join projects using (workspace_id)
        where project_id = ${tenant.projectId}
          and projects.archived_at is null and workspaces.archived_at is null
          and dataplanes.archived_at is null and organizations.archived_at is null) * 4 as active`;
  return state ?? { events: -1, active: -1 };
}

async function archive(tenant: Tenant, level: ScopeLevel): Promise<void> {
  const sql = service.database.sql();
  const id = scopeIdOf(tenant, level);
  const marks: Partial<Record<ScopeLevel, () => PromiseLike<unknown>>> = {
    org: () => sql`update organizations set archived_at = now() where org_id = ${id}`,
    dataplane: () => sql`update dataplanes set archived_at = now() where dataplane_id = ${id}`,
    workspace: () => sql`update workspaces set archived_at = now() where workspace_id = ${id}`,
    project: () => sql`update projects set archived_at = now() where project_id = ${id}`,
  };
  await marks[level]?.();
}

/** Allowed, and then refused in words: a role permits more than this caller may hand on. */
function givesRole({ permission }: Row): boolean {
  return /\.member\.(create|put|delete)$/.test(permission);
}

describe("a fine-grained key", () => {
  const fineRows = contractRows.filter(
    (row) => row.kinds.includes("control_plane") && !["any", "system"].includes(levelOf(row)),
  );
  const held = (row: Row): string => row.permission.replace("{scope}", levelOf(row));
  const everyPermission = [...new Set(fineRows.map(held))];

  test.each(fineRows)("with just the permission of $route is allowed", async (row) => {
    const tenant = await givenAProject(service.database);
    const options = { kind: "control_plane", root: "org", permissions: [held(row)] } as const;

    const got = await call(row, tenant, await withKey(service.database, tenant, options));

    const answer = { status: got.status, text: got.body.toString() };
    if (givesRole(row)) expect(answer.text).toContain('"errorCode":"PERMISSION_NOT_HELD"');
    else expect(answer).toMatchObject({ status: row.success ?? 200 });
  });

  test.each(fineRows)("with every permission but that of $route is denied", async (row) => {
    const tenant = await givenAProject(service.database);
    const permissions = everyPermission.filter((permission) => permission !== held(row));
    const options = { kind: "control_plane", root: "org", permissions } as const;

    const got = await call(row, tenant, await withKey(service.database, tenant, options));

    expect(got).toEqual({ status: 404, body: notFound });
  });

  test("carries no more than the organization's policy leaves", async () => {
    const tenant = await givenAProject(service.database);
    await service.database.sql()`
      insert into api_key_policies (org_id, permissions, updated_by)
      values (${tenant.orgId}, '{org.scope.*}', 'test')`;
    const row = (route: string): Row => {
      const found = contractRows.find((candidate) => candidate.route === route);
      if (!found) throw new Error(`no row ${route}`);
      return found;
    };
    const credential = await withKey(service.database, tenant, {
      kind: "control_plane",
      root: "org",
    });

    const got = [
      await call(row("GET /v1/orgs/{org_id}"), tenant, credential),
      await call(row("GET /v1/orgs/{org_id}/virtual_dataplanes"), tenant, credential),
    ];

    expect(got.map(({ status }) => status)).toEqual([200, 404]);
  });
});

describe("RPC", () => {
  test("takes the project of a data plane key from x-project-id, and only there", async () => {
    const tenant = await givenAProject(service.database);
    const other = await givenAProject(service.database);
    const key = await withKey(service.database, tenant, { kind: "data_plane", root: "project" });
    const client = createClient(DatasetService, createGrpcTransport({ baseUrl: service.url }));
    const list = (headers: Record<string, string>) =>
      client.listDatasets({}, { headers: { ...key, ...headers } });

    expect((await list({ "x-project-id": tenant.projectId })).datasets).toEqual([]);
    for (const headers of [{}, { "x-project-id": other.projectId }]) {
      await expect(list(headers)).rejects.toMatchObject({ code: Code.NotFound });
    }
  });

  test.each(rpcs.map((method) => ({ name: method.toString(), method })))(
    "$name denies with one constant answer",
    async ({ method }) => {
      const tenant = await givenAProject(service.database);
      const answers = new Set<string>();
      for (const credential of Object.values(await badCredentials(service, tenant))) {
        answers.add(await callRpc(method, credential));
      }
      const isAnyone = getOption(method, access).scope === "any";

      // Where every caller may call, a key without permissions is answered what it may see.
      const denied = [...answers].filter((answer) => !(isAnyone && answer.startsWith("200 ")));
      expect(denied.length).toBe(1);
      expect(denied[0]).toContain('"code":"not_found"');
      expect(denied[0]).toContain('"message":"Not found"');
    },
  );
});

async function callRpc(method: DescMethod, credential: Credential): Promise<string> {
  const isStream = method.methodKind !== "unary";
  const response = await fetch(`${service.url}/${method.parent.typeName}/${method.name}`, {
    method: "POST",
    headers: {
      ...credential,
      "content-type": isStream ? "application/connect+json" : "application/json",
    },
    body: isStream ? Buffer.from([0, 0, 0, 0, 2, 0x7b, 0x7d]) : "{}",
  });
  return `${response.status} ${await response.text()}`;
}
