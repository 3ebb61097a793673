// Scopes: their levels, how calls name one, and hooks that read one and the scopes below it.

import type { DescMethodUnary } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { DataPlaneService } from "../../../../gen/waggle/v1/dataplane_pb.js";
import { OrganizationService } from "../../../../gen/waggle/v1/organization_pb.js";
import { ProjectService } from "../../../../gen/waggle/v1/project_pb.js";
import { WorkspaceService } from "../../../../gen/waggle/v1/workspace_pb.js";
import { type AnyMethod, useRpc } from "./query.ts";

export type Level = "org" | "dataplane" | "workspace" | "project";

export type ScopeRef = { readonly level: Level; readonly id: string };

export const levelNames: Readonly<Record<Level, string>> = {
  org: "organization",
  dataplane: "data plane",
  workspace: "workspace",
  project: "project",
};

export const levelBelow = {
  org: "dataplane",
  dataplane: "workspace",
  workspace: "project",
  project: undefined,
} as const satisfies Record<Level, Level | undefined>;

export function isLevel(value: unknown): value is Level {
  return typeof value === "string" && Object.hasOwn(levelNames, value);
}

/** Name of a scope's id in calls, and its rpcs; `list` and `create` are about the level below. */
export const scopeCalls = {
  org: {
    idName: "orgId",
    get: OrganizationService.method.getOrganization,
    update: OrganizationService.method.updateOrganization,
    archive: OrganizationService.method.archiveOrganization,
    list: DataPlaneService.method.listDataPlanes,
    create: DataPlaneService.method.createDataPlane,
  },
  dataplane: {
    idName: "virtualDataplaneId",
    get: DataPlaneService.method.getDataPlane,
    update: DataPlaneService.method.updateDataPlane,
    archive: DataPlaneService.method.archiveDataPlane,
    list: WorkspaceService.method.listWorkspaces,
    create: WorkspaceService.method.createWorkspace,
  },
  workspace: {
    idName: "workspaceId",
    get: WorkspaceService.method.getWorkspace,
    update: WorkspaceService.method.updateWorkspace,
    archive: WorkspaceService.method.archiveWorkspace,
    list: ProjectService.method.listProjects,
    create: ProjectService.method.createProject,
  },
  project: {
    idName: "projectId",
    get: ProjectService.method.getProject,
    update: ProjectService.method.updateProject,
    archive: ProjectService.method.archiveProject,
    list: undefined,
    create: undefined,
  },
} as const satisfies Record<Level, object>;

/** An rpc of any level, without the types of its input and answer. */
export type ScopeMethod = DescMethodUnary;

/** Returns a scope's id as its rpcs ask for it. */
export function idOf({ level, id }: ScopeRef): Readonly<Record<string, string>> {
  return { [scopeCalls[level].idName]: id };
}

/** Returns the scope as members are asked for. */
export function memberScope({ level, id }: ScopeRef) {
  return { case: scopeCalls[level].idName, value: id };
}

/** Returns the scope as credentials and aliases are asked for; data planes have none. */
export function connectionScope({ level, id }: ScopeRef) {
  if (level === "dataplane") throw new Error("a data plane has no providers");
  return { case: scopeCalls[level].idName, value: id };
}

export type ScopeData = {
  readonly id: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly createdAt?: Timestamp | undefined;
  /** Scopes above it, as far as the answer names them. */
  readonly orgId?: string | undefined;
  readonly virtualDataplaneId?: string | undefined;
  readonly workspaceId?: string | undefined;
};

/** Reads one scope. */
export function useScope(scope: ScopeRef, isEnabled = true) {
  const method: ScopeMethod = scopeCalls[scope.level].get;
  const { data, error, refetch } = useRpc(method, idOf(scope), { isEnabled });
  return { scope: (data as { data?: ScopeData } | undefined)?.data, error, refetch };
}

type Children = { readonly data: readonly ScopeData[]; readonly nextCursor?: string };

/** Reads the scopes right below one. */
export function useChildren(scope: ScopeRef, isEnabled = true) {
  const { list, get } = scopeCalls[scope.level];
  const method: ScopeMethod = list ?? get;
  const input = { ...idOf(scope), limit: 1_000 };
  const answer = useRpc(method, input, { isEnabled: isEnabled && list !== undefined });
  const page = answer.data as Children | undefined;
  return {
    children: page?.data ?? [],
    hasMore: page?.nextCursor !== undefined,
    isPending: answer.isLoading,
    error: answer.error,
    refetch: () => void answer.refetch(),
  };
}

/** Rpcs whose answers change when a scope is made, renamed or archived. */
export const scopeMethods: readonly AnyMethod[] = [
  OrganizationService.method.listOrganizations,
  ...Object.values(scopeCalls).map(({ get }) => get),
  ...Object.values(scopeCalls).flatMap(({ list = [] }) => list),
];

/** Returns a time of an answer in Unix milliseconds. */
export function toMs(time: Timestamp | undefined): number | undefined {
  return time === undefined ? undefined : timestampMs(time);
}
