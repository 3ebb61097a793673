// Scopes: their levels, how calls name one, and hooks that read one and the scopes below it.

import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { DataPlaneService } from "../../../../gen/waggle/v1/dataplane_pb.js";
import { OrganizationService } from "../../../../gen/waggle/v1/organization_pb.js";
import { ProjectService } from "../../../../gen/waggle/v1/project_pb.js";
import { WorkspaceService } from "../../../../gen/waggle/v1/workspace_pb.js";
import { useRpc } from "./query.ts";

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

/** Returns the scope as members are asked for. */
export function memberScope({ level, id }: ScopeRef) {
  switch (level) {
    case "org":
      return { case: "orgId", value: id } as const;
    case "dataplane":
      return { case: "virtualDataplaneId", value: id } as const;
    case "workspace":
      return { case: "workspaceId", value: id } as const;
    case "project":
      return { case: "projectId", value: id } as const;
  }
}

/** Returns the scope as credentials and aliases are asked for; data planes have none. */
export function connectionScope({ level, id }: ScopeRef) {
  switch (level) {
    case "org":
      return { case: "orgId", value: id } as const;
    case "workspace":
      return { case: "workspaceId", value: id } as const;
    case "project":
      return { case: "projectId", value: id } as const;
    case "dataplane":
      throw new Error("a data plane has no providers");
  }
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
export function useScope({ level, id }: ScopeRef, isEnabled = true) {
  const on = (wanted: Level) => ({ isEnabled: isEnabled && level === wanted });
  const org = useRpc(OrganizationService.method.getOrganization, { orgId: id }, on("org"));
  const dataplane = useRpc(
    DataPlaneService.method.getDataPlane,
    { virtualDataplaneId: id },
    on("dataplane"),
  );
  const workspace = useRpc(
    WorkspaceService.method.getWorkspace,
    { workspaceId: id },
    on("workspace"),
  );
  const project = useRpc(ProjectService.method.getProject, { projectId: id }, on("project"));
  const { data, error, refetch } = { org, dataplane, workspace, project }[level];
  return { scope: data?.data as ScopeData | undefined, error, refetch };
}

/** Reads the scopes right below one. */
export function useChildren({ level, id }: ScopeRef, isEnabled = true) {
  const limit = 1_000;
  const is = (one: Level) => ({ isEnabled: isEnabled && level === one });
  const org = useRpc(DataPlaneService.method.listDataPlanes, { orgId: id, limit }, is("org"));
  const dataplane = useRpc(
    WorkspaceService.method.listWorkspaces,
    { virtualDataplaneId: id, limit },
    is("dataplane"),
  );
  const workspace = useRpc(
    ProjectService.method.listProjects,
    { workspaceId: id, limit },
    is("workspace"),
  );
  const all = { org, dataplane, workspace, project: undefined };
  const answer = all[level];
  return {
    children: (answer?.data?.data ?? []) as readonly ScopeData[],
    hasMore: answer?.data?.nextCursor !== undefined,
    isPending: answer?.isLoading ?? false,
    error: answer?.error ?? null,
    refetch: () => void answer?.refetch(),
  };
}

/** Rpcs whose answers change when a scope is made, renamed or archived. */
export const scopeMethods = [
  OrganizationService.method.listOrganizations,
  OrganizationService.method.getOrganization,
  DataPlaneService.method.listDataPlanes,
  DataPlaneService.method.getDataPlane,
  WorkspaceService.method.listWorkspaces,
  WorkspaceService.method.getWorkspace,
  ProjectService.method.listProjects,
  ProjectService.method.getProject,
] as const;

/** Returns a time of an answer in Unix milliseconds. */
export function toMs(time: Timestamp | undefined): number | undefined {
  return time === undefined ? undefined : timestampMs(time);
}
