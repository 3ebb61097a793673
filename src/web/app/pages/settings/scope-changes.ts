// Creating, renaming and archiving a scope: one hook each, whatever its level.

import { DataPlaneService } from "../../../../../gen/waggle/v1/dataplane_pb.js";
import { OrganizationService } from "../../../../../gen/waggle/v1/organization_pb.js";
import { ProjectService } from "../../../../../gen/waggle/v1/project_pb.js";
import type { ArchivedScope } from "../../../../../gen/waggle/v1/scope_pb.js";
import { WorkspaceService } from "../../../../../gen/waggle/v1/workspace_pb.js";
import { useQueryClient } from "@tanstack/react-query";
import { useRpcMutation } from "../../api/query.ts";
import { type Level, scopeMethods, type ScopeRef } from "../../api/scope.ts";

export type ScopeFields = { readonly name: string; readonly description?: string };

/** Only data planes have a `clusterId`. */
export type NewScope = ScopeFields & { readonly clusterId?: string };

/** Rpcs that change a scope, archive it, and create one below it. */
export const scopeActs = {
  org: {
    update: OrganizationService.method.updateOrganization,
    archive: OrganizationService.method.archiveOrganization,
    create: DataPlaneService.method.createDataPlane,
  },
  dataplane: {
    update: DataPlaneService.method.updateDataPlane,
    archive: DataPlaneService.method.archiveDataPlane,
    create: WorkspaceService.method.createWorkspace,
  },
  workspace: {
    update: WorkspaceService.method.updateWorkspace,
    archive: WorkspaceService.method.archiveWorkspace,
    create: ProjectService.method.createProject,
  },
  project: {
    update: ProjectService.method.updateProject,
    archive: ProjectService.method.archiveProject,
    create: undefined,
  },
} as const satisfies Record<Level, object>;

/** Returns the end of a change: the app asks again for scopes and for the sidebar's projects. */
function useChangeOptions<Answer>(onDone: (answer: Answer) => void) {
  const client = useQueryClient();
  return {
    changes: scopeMethods,
    onDone: (answer: Answer) => {
      void client.invalidateQueries({ queryKey: ["projects"] });
      onDone(answer);
    },
  };
}

/** Creates a scope below `parent`. */
export function useCreateBelow({ level, id }: ScopeRef, onDone: () => void) {
  const options = useChangeOptions(onDone);
  const dataplane = useRpcMutation(DataPlaneService.method.createDataPlane, options);
  const workspace = useRpcMutation(WorkspaceService.method.createWorkspace, options);
  const project = useRpcMutation(ProjectService.method.createProject, options);
  const state = { org: dataplane, dataplane: workspace, workspace: project, project }[level];
  return {
    isPending: state.isPending,
    error: state.error,
    create: (fields: NewScope) => {
      if (level === "org") dataplane.mutate({ orgId: id, ...fields });
      if (level === "dataplane") workspace.mutate({ virtualDataplaneId: id, ...fields });
      if (level === "workspace") project.mutate({ workspaceId: id, ...fields });
    },
  };
}

/** Changes name and description, as far as they are given. */
export function useRename({ level, id }: ScopeRef, onDone: () => void) {
  const options = useChangeOptions(onDone);
  const org = useRpcMutation(OrganizationService.method.updateOrganization, options);
  const dataplane = useRpcMutation(DataPlaneService.method.updateDataPlane, options);
  const workspace = useRpcMutation(WorkspaceService.method.updateWorkspace, options);
  const project = useRpcMutation(ProjectService.method.updateProject, options);
  const state = { org, dataplane, workspace, project }[level];
  return {
    isPending: state.isPending,
    error: state.error,
    rename: (fields: Partial<ScopeFields>) => {
      if (level === "org") org.mutate({ orgId: id, ...fields });
      if (level === "dataplane") dataplane.mutate({ virtualDataplaneId: id, ...fields });
      if (level === "workspace") workspace.mutate({ workspaceId: id, ...fields });
      if (level === "project") project.mutate({ projectId: id, ...fields });
    },
  };
}

/** Archives a scope; the flag includes the scopes below it. */
export function useArchive({ level, id }: ScopeRef, onDone: (scope: ArchivedScope) => void) {
  const options = useChangeOptions(({ data }: { readonly data?: ArchivedScope }) => {
    if (data) onDone(data);
  });
  const org = useRpcMutation(OrganizationService.method.archiveOrganization, options);
  const dataplane = useRpcMutation(DataPlaneService.method.archiveDataPlane, options);
  const workspace = useRpcMutation(WorkspaceService.method.archiveWorkspace, options);
  const project = useRpcMutation(ProjectService.method.archiveProject, options);
  const state = { org, dataplane, workspace, project }[level];
  return {
    isPending: state.isPending,
    error: state.error,
    archive: (withChildren: boolean) => {
      const flag = { dangerouslyDeleteChildScopes: withChildren };
      if (level === "org") org.mutate({ orgId: id, ...flag });
      if (level === "dataplane") dataplane.mutate({ virtualDataplaneId: id, ...flag });
      if (level === "workspace") workspace.mutate({ workspaceId: id, ...flag });
      if (level === "project") project.mutate({ projectId: id, ...flag });
    },
  };
}
