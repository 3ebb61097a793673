// Every route × every kind of caller: who may call which route; every denial is the same bytes.
// The rows of access-rows.ts give the expected answers; access-<part>.test.ts runs each part.
// Source: docs/spec.md, "Authentication"; docs/decisions.md, 10, 14, 33 and 35.

import { getOption } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { access, KeyKind } from "../../gen/waggle/v1/options_pb.js";
import type { ScopeLevel } from "../../src/access/scope.ts";
import { rpcs } from "../support/contract.ts";
import { printFinding } from "../support/findings.ts";
import type { TestService } from "../support/service.ts";
import { type Tenant, withKey } from "../support/tenants.ts";
import { type Caller, callers, withoutPermission } from "./access-callers.ts";
import { routeLevelOf } from "./access-calls.ts";
import { contractParts, contractRows, exporterRows, type Part, type Row } from "./access-rows.ts";
import { type Answer, call, callCount, notFound, startAccessService } from "./access-service.ts";
import { levels, openTenants, type Tenants } from "./access-tenants.ts";

let service: TestService;
let tenants: Tenants;

/** Declares the tests of one part of the matrix. */
export function describeAccess(part: Part): void {
  let callsBefore = 0;
  beforeAll(async () => {
    callsBefore = callCount();
    service = await startAccessService();
    tenants = openTenants(service);
  });
  afterAll(async () => {
    const routes = new Set(contractParts[part].map(({ route }) => route)).size;
    printFinding({ part, routes, callers: callers.length, calls: callCount() - callsBefore });
    await service.stop();
  });

  const rows: readonly Row[] = contractParts[part];
  const exporter = part === "tracing" ? exporterRows : [];
  describe.each([...rows, ...rows.filter(isProjectNamed).map(toNamedProject), ...exporter])(
    "$route",
    describeRow,
  );
  const fineRows = rows.filter(isFineGrained);
  if (fineRows.length > 0) describe("a fine-grained key", () => describeFineGrained(fineRows));
}

function isProjectNamed({ route, rpc }: Row): boolean {
  const method = rpcs.find(({ name }) => name === rpc);
  return method !== undefined && getOption(method, access).namedProject && route.includes(" /v1/");
}

/** Returns the row of the path under a project that calls for a named project have. */
function toNamedProject(row: Row): Row {
  const route = row.route.replace(" /v1/", " /v1/projects/{project_id}/");
  const method = rpcs.find(({ name }) => name === row.rpc);
  const keys = method ? getOption(method, access).keys : [];
  const control = keys.includes(KeyKind.CONTROL_PLANE) ? (["control_plane"] as const) : [];
  return { ...row, route, kinds: [...row.kinds, "data_plane", ...control] };
}

/** Returns the level at which a route asks for its permission. */
function levelOf(row: Row): ScopeLevel | "any" {
  const { permission } = row;
  if (["org.scope.list", "system.role.list", "system.me.get"].includes(permission)) return "any";
  return permission.startsWith("system.") ? "system" : routeLevelOf(row);
}

function isAllowed(row: Row, { kind, level }: Caller): boolean {
  if (kind !== "user" && !row.kinds.includes(kind)) return false;
  const asked = levelOf(row);
  if (asked === "any") return true;
  // Only organization-level data plane keys and people create keys.
  if (kind !== "user" && row.permission.endsWith(".post") && level !== "org") return false;
  return levels.indexOf(level) <= levels.indexOf(asked);
}

/** Returns whether calls that succeed change nothing that another call of the matrix reads. */
function isReading({ route }: Row): boolean {
  return route.startsWith("GET ");
}

function describeRow(row: Row): void {
  test.concurrent.each(callers)("answers $name as its row says", async (caller) => {
    const isShared = !isAllowed(row, caller) || isReading(row);
    const { ids, present } = await (isShared ? tenants.share(row) : tenants.create(row));

    const got = await call(service, row, ids, await present(caller));

    if (isAllowed(row, caller)) expect(toText(got)).toMatchObject({ status: row.success ?? 200 });
    else expect(got).toEqual({ status: 404, body: notFound });
  });

  test("answers every bad credential with the same bytes", async () => {
    const { ids, presentBad } = await tenants.share(row);
    // Where every caller may call, a key without permissions is one of them.
    const bad = Object.entries(await presentBad()).filter(
      ([name]) => levelOf(row) !== "any" || !name.endsWith(withoutPermission),
    );

    const got = await Promise.all(
      bad.map(async ([name, credential]) => ({
        name,
        ...(await call(service, row, ids, credential)),
      })),
    );

    expect(got).toEqual(bad.map(([name]) => ({ name, status: 404, body: notFound })));
  });

  test("answers keys of what is archived with the same bytes", async () => {
    for (const level of levels.filter((one) => one !== "system")) {
      const { ids, credentials } = await tenants.shareArchived(row, level);

      const got = await Promise.all(
        credentials.map(async ([name, credential]) => ({
          name,
          level,
          ...(await call(service, row, ids, credential)),
        })),
      );

      expect(got).toEqual(
        credentials.map(([name]) => ({ name, level, status: 404, body: notFound })),
      );
    }
  });

  test("shows and changes nothing of this tenant to another's callers", () => expectApart(row));
}

async function expectApart(row: Row): Promise<void> {
  const isNamed = /\{(\w+_)?id\}/.test(row.route + JSON.stringify(row.body));
  const isDenied = isNamed && !takesAnySession(row);
  const { tenant, ids } = await (isDenied ? tenants.share(row) : tenants.create(row));
  const other = await (isDenied ? tenants.shareOther() : tenants.create(row));
  const others = callers.filter(({ level }) => level !== "system");

  const got = await Promise.all(
    others.map(async (caller) => ({
      name: caller.name,
      ...(await call(service, row, ids, await other.present(caller))),
    })),
  );

  if (isDenied) {
    expect(got).toEqual(others.map(({ name }) => ({ name, status: 404, body: notFound })));
  }
  expect(got.map(({ name, body }) => ({ name, shown: idsIn(body, tenant) }))).toEqual(
    others.map(({ name }) => ({ name, shown: [] })),
  );
  const withEvent: Row["need"][] = ["session", "generation", "metric and event", "queue"];
  const needsEvent = withEvent.includes(row.need);
  expect(await stateOf(tenant)).toEqual({ events: needsEvent ? 2 : 0, active: 4 });
}

/** Returns whether a row writes to a session of any id, which is then the caller's own. */
function takesAnySession({ rpc }: Row): boolean {
  return rpc === "AddTraces" || rpc === "AddSessionEvents";
}

function toText({ status, body }: Answer): { readonly status: number; readonly text: string } {
  return { status, text: body.toString() };
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

function isFineGrained(row: Row): boolean {
  return row.kinds.includes("control_plane") && !["any", "system"].includes(levelOf(row));
}

/** Returns the permission that a row asks for, with its level. */
function heldFor(row: Row): string {
  return row.permission.replace("{scope}", levelOf(row));
}

/** Returns whether the allowed call is refused in words: a role permits more than its key. */
function givesRole({ permission }: Row): boolean {
  return /\.member\.(create|put|delete)$/.test(permission);
}

const root = { kind: "control_plane", root: "org" } as const;

function describeFineGrained(rows: readonly Row[]): void {
  const everyPermission = [...new Set(contractRows.filter(isFineGrained).map(heldFor))];

  test.concurrent.each(rows)("with just the permission of $route is allowed", async (row) => {
    const { tenant, ids } = await (isReading(row) ? tenants.share(row) : tenants.create(row));
    const key = await withKey(service.database, tenant, { ...root, permissions: [heldFor(row)] });

    const got = toText(await call(service, row, ids, key));

    if (givesRole(row)) expect(got.text).toContain('"errorCode":"PERMISSION_NOT_HELD"');
    else expect(got).toMatchObject({ status: row.success ?? 200 });
  });

  test.concurrent.each(rows)("with every permission but that of $route is denied", async (row) => {
    const { tenant, ids } = await tenants.share(row);
    const permissions = everyPermission.filter((permission) => permission !== heldFor(row));
    const key = await withKey(service.database, tenant, { ...root, permissions });

    const got = await call(service, row, ids, key);

    expect(got).toEqual({ status: 404, body: notFound });
  });
}
