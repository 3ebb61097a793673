// Every route × every kind of caller: who may call which route; every denial is the same bytes.
// The rows of access-rows.ts give the expected answers; a route without a row fails here.
// Source: docs/spec.md, "Authentication"; docs/decisions.md, 10, 14, 33 and 35.

import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { http } from "../../gen/google/api/annotations_pb.js";
import type { HttpRule } from "../../gen/google/api/http_pb.js";
import { access } from "../../gen/waggle/v1/options_pb.js";
import { keyKinds } from "../../src/access/principal.ts";
import type { ScopeLevel } from "../../src/access/scope.ts";
import { rpcs } from "../support/contract.ts";
import { addAlias, addCredential, anEncryptionKey } from "../support/credentials.ts";
import { addConfiguration, addTool } from "../support/configurations.ts";
import { addDataset, addExecution, addQueue, addRun } from "../support/datasets.ts";
import { addBackfill, addMetric, aJudge } from "../support/metrics.ts";
import { type StandIn, startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { givenAProject } from "../support/project.ts";
import { startService, type TestService } from "../support/service.ts";
import {
  addKey,
  addMember,
  type Credential,
  type KeyRoot,
  scopeIdOf,
  type Tenant,
  withKey,
} from "../support/tenants.ts";
import { badCredentials, type Caller, callers, withoutPermission } from "./access-callers.ts";
import { contractRows, event, exporterRows, type Row } from "./access-rows.ts";

const rows: readonly Row[] = [...contractRows, ...exporterRows];

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
    providers: JSON.stringify({ "stand-in": provider, openai: provider }),
  });
});

afterAll(async () => {
  await service.stop();
  await standIn.stop();
});

/** From the widest to the narrowest: what holds at one holds at all that follow. */
const levels: readonly ScopeLevel[] = ["system", "org", "dataplane", "workspace", "project"];

const routeLevels: readonly (readonly [RegExp, ScopeLevel])[] = [
  [/ \/v1\/orgs\//, "org"],
  [/ \/v1\/virtual_dataplanes\//, "dataplane"],
  [/ \/v1\/workspaces\//, "workspace"],
  [/ \/v1\/projects\//, "project"],
];

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

/** Path and body of a call. */
type Filled = { readonly path: string; readonly body: string | undefined };

/** Returns the call of a row in a tenant, after it made the state that the call needs. */
async function fillIn(tenant: Tenant, { route, body, need }: Row): Promise<Filled> {
  const ids: Record<string, string> = {
    org_id: tenant.orgId,
    virtual_dataplane_id: tenant.dataplaneId,
    workspace_id: tenant.workspaceId,
    project_id: tenant.projectId,
    event_id: "e1",
    session_id: "s1",
    name: "an-alias",
  };
  const level = routeLevels.find(([pattern]) => pattern.test(route))?.[1] ?? "project";
  if (need === "session") await giveSession(tenant, event);
  else if (need === "generation") await giveSession(tenant, { ...event, event_type: "model" });
  else if (need === "member") {
    const role = `${level}_member`;
    ids["user_id"] = await addMember(service.database, tenant, { level, role });
  } else if (need === "credential") {
    ids["credential_id"] = await addCredential(service.database, tenant, level as KeyRoot);
  } else if (need === "metric") {
    ids["id"] = ids["metric_id"] = await addMetric(service.database, tenant);
    ids["name"] = ids["other"] = "v1";
  } else if (need === "metric and event") {
    ids["id"] = await addMetric(service.database, tenant);
    await giveSession(tenant, event);
  } else if (need === "metric and human metric") {
    ids["id"] = await addMetric(service.database, tenant, aJudge);
    ids["human_id"] = await addMetric(service.database, tenant);
  } else if (need === "judge" || need === "backfill") {
    const id = await addMetric(service.database, tenant, aJudge);
    ids["id"] = id;
    if (need === "backfill") ids["backfill_id"] = await addBackfill(service.database, tenant, id);
  } else if (need === "dataset") {
    const { datasetId, datapointId } = await addDataset(service, tenant);
    ids["dataset_id"] = datasetId;
    ids["datapoint_id"] = ids["id"] = datapointId;
  } else if (need === "queue") {
    await giveSession(tenant, event);
    ids["id"] = await addQueue(service, tenant, { event_ids: ["e1"] });
    ids["metric_id"] = await addMetric(service.database, tenant);
  } else if (need === "configuration") {
    ids["id"] = await addConfiguration(service.database, tenant);
    ids["version"] = ids["name"] = "v1";
    ids["other"] = "v2";
  } else if (need === "tool") {
    ids["id"] = await addTool(service.database, tenant);
  } else if (need === "run") {
    const runId = await addRun(service, tenant);
    for (const name of ["id", "run_id", "new_run_id", "old_run_id", "run_id_1", "run_id_2"]) {
      ids[name] = runId;
    }
  } else if (need === "runnable") {
    const { datasetId } = await addDataset(service, tenant);
    ids["run_id"] = await addRun(service, tenant, { dataset_id: datasetId });
    ids["configuration_id"] = await addConfiguration(service.database, tenant);
  } else if (need === "execution" || need === "ended execution") {
    ids["run_id"] = await addRun(service, tenant);
    const state = need === "execution" ? "running" : "cancelled";
    await addExecution(service.database, tenant, ids["run_id"], state);
  } else if (need === "alias") {
    ids["name"] = await addAlias(service.database, tenant, level as KeyRoot);
  } else if (need !== undefined) {
    const root = level as KeyRoot;
    ids["key_id"] = (await addKey(service.database, tenant, { kind: need, root })).keyId;
  }
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "?");
  return {
    path: fill(route.split(" ")[1] ?? ""),
    body: body === undefined ? undefined : fill(JSON.stringify(withOwnName(body))),
  };
}

/** Stores an event, with its session. */
async function giveSession(tenant: Tenant, given: typeof event): Promise<void> {
  const credential = await withKey(service.database, tenant, { kind: "project", root: "project" });
  const response = await fetch(`${service.url}/events`, {
    method: "POST",
    headers: { ...credential, "content-type": "application/json" },
    body: JSON.stringify({ event: { ...given, event_id: "e1", session_id: "s1" } }),
  });
  expect(response.status).toBe(200);
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

let names = 0;

/** Organizations are siblings of each other in all tests: each gets a name of its own. */
function withOwnName(body: unknown): unknown {
  if (typeof body !== "object" || body === null || !("name" in body)) return body;
  names += 1;
  return { ...body, name: `name ${names}` };
}

async function call(row: Row, tenant: Tenant, credential: Credential) {
  return send(row, await fillIn(tenant, row), credential);
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
    const filled = await fillIn(tenant, row);
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
      const filled = await fillIn(tenant, row);
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
      const filled = await fillIn(tenant, row);

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
