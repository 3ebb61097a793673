// Organizations, data planes, workspaces and projects that a person may see. The tree is read level
// by level, downwards from the scopes where the person has a role.

import type {
  DescMessage,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { DataPlaneService } from "../../../../gen/waggle/v1/dataplane_pb.js";
import type { Me } from "../../../../gen/waggle/v1/me_pb.js";
import { OrganizationService } from "../../../../gen/waggle/v1/organization_pb.js";
import { ProjectService } from "../../../../gen/waggle/v1/project_pb.js";
import { WorkspaceService } from "../../../../gen/waggle/v1/workspace_pb.js";
import { ApiError } from "../api/errors.ts";
import { callRpc } from "../api/transport.ts";

export type ScopeLevel = "org" | "dataplane" | "workspace" | "project";

export type Scope = {
  readonly level: ScopeLevel;
  readonly id: string;
  readonly name: string;
  /** Names of the scopes above it, the outermost first, as far as they may be seen. */
  readonly above: readonly string[];
};

type Named = { readonly id: string; readonly name: string };
type Page = { readonly data: readonly Named[]; readonly nextCursor?: string | undefined };

const pageSize = 1_000;

async function listAll<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  input: object,
): Promise<readonly Named[]> {
  const found: Named[] = [];
  let cursor: string | undefined;
  do {
    const request = { ...input, limit: pageSize, ...(cursor !== undefined && { cursor }) };
    const answer: MessageShape<O> = await callRpc(
      method,
      request as unknown as MessageInitShape<I>,
    );
    const page = answer as unknown as Page;
    found.push(...page.data);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
}

const childrenOf: Record<
  Exclude<ScopeLevel, "project">,
  (id: string) => Promise<readonly Named[]>
> = {
  org: (orgId) => listAll(DataPlaneService.method.listDataPlanes, { orgId }),
  dataplane: (virtualDataplaneId) =>
    listAll(WorkspaceService.method.listWorkspaces, { virtualDataplaneId }),
  workspace: (workspaceId) => listAll(ProjectService.method.listProjects, { workspaceId }),
};

const levelBelow = { org: "dataplane", dataplane: "workspace", workspace: "project" } as const;

async function getScope(level: ScopeLevel, id: string): Promise<Named | undefined> {
  switch (level) {
    case "org":
      return (await callRpc(OrganizationService.method.getOrganization, { orgId: id })).data;
    case "dataplane":
      return (await callRpc(DataPlaneService.method.getDataPlane, { virtualDataplaneId: id })).data;
    case "workspace":
      return (await callRpc(WorkspaceService.method.getWorkspace, { workspaceId: id })).data;
    case "project":
      return (await callRpc(ProjectService.method.getProject, { projectId: id })).data;
  }
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
  const level = grant.scopeType as ScopeLevel;
  const scope = await orNone(getScope(level, grant.scopeId).then((one) => (one ? [one] : [])));
  return scope.map(({ id, name }) => ({ level, id, name, above: [] }));
}

async function projectsBelow(scope: Scope): Promise<readonly Scope[]> {
  const { level, id, name, above } = scope;
  if (level === "project") return [scope];
  const children = await orNone(childrenOf[level](id));
  const below = children.map((child) => ({
    level: levelBelow[level],
    id: child.id,
    name: child.name,
    above: [...above, name],
  }));
  return (await Promise.all(below.map(projectsBelow))).flat();
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
