// Tenants of the access matrix. A call that succeeds and changes something gets its own tenant;
// calls that are denied or only read share one tenant for each state that rows need.

import type { ScopeLevel } from "../../src/access/scope.ts";
import { givenAProject } from "../support/project.ts";
import type { TestService } from "../support/service.ts";
import { type Credential, scopeIdOf, type Tenant } from "../support/tenants.ts";
import { badCredentials, type Caller, callers } from "./access-callers.ts";
import { giveState, type Ids, routeLevelOf } from "./access-calls.ts";
import type { Row } from "./access-rows.ts";

/** A tenant with the state that a row needs, and its callers' credentials. */
export type Given = {
  readonly tenant: Tenant;
  readonly ids: Ids;
  /** Returns the credential of a caller in this tenant. */
  readonly present: (caller: Caller) => Promise<Credential>;
  /** Returns the tenant's bad credentials, by fault. */
  readonly presentBad: () => Promise<Readonly<Record<string, Credential>>>;
};

export type Archived = {
  readonly ids: Ids;
  /** Credentials of the keys at or below the archived scope, by caller. */
  readonly credentials: readonly (readonly [string, Credential])[];
};

export type Tenants = {
  /** Creates a tenant for one call. */
  create(row: Row): Promise<Given>;
  /** Returns the tenant that calls without effect share. */
  share(row: Row): Promise<Given>;
  /** Returns a tenant without state that is none of the above, for callers from outside. */
  shareOther(): Promise<Given>;
  /** Returns a shared tenant whose scope of this level was archived after it got its state. */
  shareArchived(row: Row, level: ScopeLevel): Promise<Archived>;
};

export function openTenants(service: TestService): Tenants {
  const shared = new Map<string, Promise<Given>>();
  const archived = new Map<string, Promise<Archived>>();
  const create = (row: Row) => createGiven(service, row);
  const bare: Row = { route: "", rpc: "", permission: "", kinds: [] };
  return {
    create,
    share: (row) => getOrCreate(shared, stateOf(row), () => create(row)),
    shareOther: () => getOrCreate(shared, "other", () => create(bare)),
    shareArchived: (row, level) =>
      getOrCreate(archived, `${stateOf(row)}, ${level}`, async () => {
        const { tenant, ids, present } = await create(row);
        const credentials = await Promise.all(
          callers
            .filter(({ kind, level: root }) => kind !== "user" && isAtOrBelow(root, level))
            .map(async (caller) => [caller.name, await present(caller)] as const),
        );
        await archive(service, tenant, level);
        return { ids, credentials };
      }),
  };
}

/** Returns the name of the state that a row needs: rows of the same name can share it. */
function stateOf(row: Row): string {
  const { need = "none" } = row;
  if (typeof need === "object") return `${need.post} of a ${routeLevelOf(row)}`;
  return need === "none" ? need : `${need} of a ${routeLevelOf(row)}`;
}

async function createGiven(service: TestService, row: Row): Promise<Given> {
  const tenant = await givenAProject(service.database);
  const ids = await giveState(service, tenant, row);
  const presented = new Map<string, Promise<Credential>>();
  let bad: Promise<Readonly<Record<string, Credential>>> | undefined;
  return {
    tenant,
    ids,
    present: ({ name, present }) => getOrCreate(presented, name, () => present(service, tenant)),
    presentBad: () => (bad ??= badCredentials(service, tenant)),
  };
}

function getOrCreate<T>(
  known: Map<string, Promise<T>>,
  name: string,
  create: () => Promise<T>,
): Promise<T> {
  const found = known.get(name) ?? create();
  known.set(name, found);
  return found;
}

/** From the widest to the narrowest: what holds at one holds at all that follow. */
export const levels: readonly ScopeLevel[] = ["system", "org", "dataplane", "workspace", "project"];

function isAtOrBelow(root: ScopeLevel, level: ScopeLevel): boolean {
  return levels.indexOf(root) >= levels.indexOf(level);
}

async function archive(service: TestService, tenant: Tenant, level: ScopeLevel): Promise<void> {
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
