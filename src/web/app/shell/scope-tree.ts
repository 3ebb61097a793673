// Organizations, data planes, workspaces and projects that a person may see. The tree is read level
// by level, downwards from the scopes where the person has a role.

import { OrganizationService } from "../../../../gen/waggle/v1/organization_pb.js";
import type { Me } from "../../../../gen/waggle/v1/me_pb.js";
import { ApiError } from "../api/errors.ts";
import { idOf, type Level, levelBelow, scopeCalls, type ScopeMethod } from "../api/scope.ts";
import { callRpc } from "../api/transport.ts";

export type Scope = {
  readonly level: Level;
  readonly id: string;
  readonly name: string;
  /** Names of the scopes above it, the outermost first, as far as they may be seen. */
  readonly above: readonly string[];
};

type Named = { readonly id: string; readonly name: string };
type Page = { readonly data: readonly Named[]; readonly nextCursor?: string | undefined };

const pageSize = 1_000;

async function listAll(method: ScopeMethod, input: object): Promise<readonly Named[]> {
  const found: Named[] = [];
  let cursor: string | undefined;
  do {
    const request = { ...input, limit: pageSize, ...(cursor !== undefined && { cursor }) };
    const page = (await callRpc(method, request)) as unknown as Page;
    found.push(...page.data);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
}

/** Returns every project that the person may see, with the names of the scopes above each. */
export async function listProjects(me: Me): Promise<readonly Scope[]> {
  const tops = await Promise.all(me.grants.map(topsOfGrant));
  const projects = (await Promise.all(tops.flat().map(projectsBelow))).flat();
  const byId = new Map<string, Scope>();
  for (const project of projects) {
    // A project may be reached by several grants; the way with more names tells most.
    const before = byId.get(project.id);
    if (!before || before.above.length < project.above.length) byId.set(project.id, project);
  }
  return [...byId.values()];
}

async function topsOfGrant(grant: Me["grants"][number]): Promise<readonly Scope[]> {
  if (grant.scopeType === "system") {
    const orgs = await orNone(listAll(OrganizationService.method.listOrganizations, {}));
    return orgs.map(({ id, name }) => ({ level: "org", id, name, above: [] }));
  }
  const scope = { level: grant.scopeType as Level, id: grant.scopeId };
  const method: ScopeMethod = scopeCalls[scope.level].get;
  const [found] = await orNone(
    callRpc(method, idOf(scope)).then((answer) => [(answer as unknown as { data: Named }).data]),
  );
  return found ? [{ ...scope, name: found.name, above: [] }] : [];
}

async function projectsBelow(scope: Scope): Promise<readonly Scope[]> {
  const { level, name, above } = scope;
  const below = levelBelow[level];
  const list: ScopeMethod | undefined = scopeCalls[level].list;
  if (below === undefined || list === undefined) return [scope];
  const children = await orNone(listAll(list, idOf(scope)));
  const scopes = children.map((child) => ({
    level: below,
    id: child.id,
    name: child.name,
    above: [...above, name],
  }));
  return (await Promise.all(scopes.map(projectsBelow))).flat();
}

/** A role need not include reading the list; a list that is not open counts as empty. */
async function orNone(list: Promise<readonly Named[]>): Promise<readonly Named[]> {
  try {
    return await list;
  } catch (error) {
    if (error instanceof ApiError && error.errorCode === "NOT_FOUND") return [];
    throw error;
  }
}
