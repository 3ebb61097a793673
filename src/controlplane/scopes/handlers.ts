// OrganizationService, DataPlaneService, WorkspaceService, ProjectService and OldProjectService: a
// message in, a message out, no decisions.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { DataPlaneService } from "../../../gen/waggle/v1/dataplane_pb.js";
import type { OrganizationService } from "../../../gen/waggle/v1/organization_pb.js";
import type { ProjectService } from "../../../gen/waggle/v1/project_pb.js";
import type { WorkspaceService } from "../../../gen/waggle/v1/workspace_pb.js";
import { actorOf, principalOf, projectOf, scopeOf } from "../../access/call.ts";
import type { LevelInOrg } from "../../access/scope.ts";
import type { DescribedChange } from "../../access/scope-names.ts";
import { type PageRequest, parsePageOptions, toPageAnswer } from "../../base/pages.ts";
import type { Archives } from "./archive.ts";
import type { Dataplanes } from "./dataplanes.ts";
import type { Orgs } from "./orgs.ts";
import type { DescribedScopes, ScopeReads, ScopeRow } from "./scope-resource.ts";
import type { OldProjectService } from "../../../gen/waggle/compat/v0/project_pb.js";

export function orgHandlers(
  orgs: Orgs,
  archives: Pick<Archives, "archive">,
): ServiceImpl<typeof OrganizationService> {
  return {
    async createOrganization({ name, orgCreator: creator }, context) {
      return toAnswer(await orgs.create({ name, creator }, principalOf(context)));
    },
    getOrganization: getHandler(orgs),
    async listOrganizations(request, context) {
      const page = await orgs.list(principalOf(context), parsePageOptions("org", request));
      return toPageAnswer(page, toMessage);
    },
    async updateOrganization({ name }, context) {
      return toAnswer(await orgs.rename(scopeOf(context).id, name, actorOf(context)));
    },
    archiveOrganization: archiveHandler(archives),
  };
}

export function dataplaneHandlers(dataplanes: Dataplanes): ServiceImpl<typeof DataPlaneService> {
  return {
    async createDataPlane({ name, clusterId, dataplaneCreator: creator }, context) {
      const options = { name, clusterId, creator };
      return toAnswer(await dataplanes.create(scopeOf(context), options, principalOf(context)));
    },
    getDataPlane: getHandler(dataplanes),
    listDataPlanes: listHandler(dataplanes, "dataplane"),
    async updateDataPlane({ name }, context) {
      return toAnswer(await dataplanes.rename(scopeOf(context).id, name, actorOf(context)));
    },
    archiveDataPlane: archiveHandler(dataplanes),
  };
}

export function workspaceHandlers(
  workspaces: DescribedScopes,
  archives: Pick<Archives, "archive">,
): ServiceImpl<typeof WorkspaceService> {
  return {
    async createWorkspace({ name, description, workspaceCreator: creator }, context) {
      const options = { name, description, creator };
      return toAnswer(await workspaces.create(scopeOf(context), options, principalOf(context)));
    },
    getWorkspace: getHandler(workspaces),
    listWorkspaces: listHandler(workspaces, "workspace"),
    updateWorkspace: updateHandler(workspaces),
    archiveWorkspace: archiveHandler(archives),
  };
}

export function projectHandlers(
  projects: DescribedScopes,
  archives: Pick<Archives, "archive">,
): ServiceImpl<typeof ProjectService> {
  return {
    async createProject({ name, description, projectCreator: creator }, context) {
      const options = { name, description, creator };
      return toAnswer(await projects.create(scopeOf(context), options, principalOf(context)));
    },
    getProject: getHandler(projects),
    listProjects: listHandler(projects, "project"),
    updateProject: updateHandler(projects),
    archiveProject: archiveHandler(archives),
  };
}

function getHandler(scopes: Pick<ScopeReads, "get">) {
  return async (_request: unknown, context: HandlerContext) =>
    toAnswer(await scopes.get(scopeOf(context).id));
}

function listHandler(scopes: Pick<ScopeReads, "list">, level: LevelInOrg) {
  return async (request: PageRequest, context: HandlerContext) => {
    const page = parsePageOptions(level, request);
    return toPageAnswer(await scopes.list(scopeOf(context).id, page), toMessage);
  };
}

function updateHandler(scopes: Pick<DescribedScopes, "update">) {
  return async ({ name, description }: Partial<DescribedChange>, context: HandlerContext) => {
    const change = { name, description };
    return toAnswer(await scopes.update(scopeOf(context).id, change, actorOf(context)));
  };
}

type ArchiveRequest = { readonly dangerouslyDeleteChildScopes: boolean };

function archiveHandler(archives: Pick<Archives, "archive">) {
  return async (request: ArchiveRequest, context: HandlerContext) => {
    const withChildren = request.dangerouslyDeleteChildScopes;
    const options = { withChildren, actor: actorOf(context) };
    const { level, id, name, archivedAt, workflowId } = await archives.archive(
      scopeOf(context),
      options,
    );
    const archived = {
      id,
      name,
      scopeType: level,
      archivedAt: timestampFromDate(archivedAt),
      workflowId,
    };
    return { success: true, data: archived };
  };
}

function toAnswer(row: ScopeRow) {
  return { success: true, data: toMessage(row) };
}

/** Returns the fields of every level; a message ignores the fields that it does not have. */
function toMessage(row: ScopeRow) {
  return {
    id: row.id,
    name: row.name,
    ...(row.description !== null && { description: row.description }),
    ...(row.clusterId !== undefined && { clusterId: row.clusterId }),
    createdAt: timestampFromDate(row.createdAt),
    updatedAt: timestampFromDate(row.updatedAt),
    orgId: row.orgId,
    ...(row.dataplaneId !== undefined && { virtualDataplaneId: row.dataplaneId }),
    ...(row.workspaceId !== undefined && { workspaceId: row.workspaceId }),
  };
}

export function oldProjectHandlers(
  projects: Pick<ScopeReads, "get">,
): ServiceImpl<typeof OldProjectService> {
  return {
    async listOldProjects({ name }, context) {
      const project = await projects.get(projectOf(context).projectId);
      if (name !== undefined && name !== project.name) return { projects: [] };
      const { id, description } = project;
      return { projects: [{ id, name: project.name, description: description ?? "" }] };
    },
  };
}
