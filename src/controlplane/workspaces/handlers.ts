// WorkspaceService: a message in, a message out, no decisions.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { WorkspaceSchema, WorkspaceService } from "../../../gen/waggle/v1/workspace_pb.js";
import { parsePageOptions, toPageAnswer } from "../../base/pages.ts";
import { actorOf, principalOf, scopeOf } from "../../access/call.ts";
import type { Archives } from "../scopes/archive.ts";
import { toArchivedMessage } from "../scopes/archived-message.ts";
import type { Workspace, Workspaces } from "./workspaces.ts";

export function workspaceHandlers(
  workspaces: Workspaces,
  archives: Pick<Archives, "archive">,
): ServiceImpl<typeof WorkspaceService> {
  return {
    async createWorkspace({ name, description, workspaceCreator: creator }, context) {
      const options = { name, description, creator };
      const created = await workspaces.create(scopeOf(context), options, principalOf(context));
      return { success: true, data: toMessage(created) };
    },
    async getWorkspace(_request, context) {
      return { success: true, data: toMessage(await workspaces.get(scopeOf(context).id)) };
    },
    async listWorkspaces(request, context) {
      const page = await workspaces.list(scopeOf(context).id, parsePageOptions(request));
      return toPageAnswer(page, toMessage);
    },
    async updateWorkspace({ name, description }, context) {
      const change = { name, description };
      const updated = await workspaces.update(scopeOf(context).id, change, actorOf(context));
      return { success: true, data: toMessage(updated) };
    },
    async archiveWorkspace({ dangerouslyDeleteChildScopes: withChildren }, context) {
      const options = { withChildren, actor: actorOf(context) };
      const archived = await archives.archive(scopeOf(context), options);
      return { success: true, data: toArchivedMessage(archived) };
    },
  };
}

function toMessage(workspace: Workspace): MessageInitShape<typeof WorkspaceSchema> {
  return {
    id: workspace.id,
    name: workspace.name,
    ...(workspace.description !== null && { description: workspace.description }),
    createdAt: timestampFromDate(workspace.createdAt),
    updatedAt: timestampFromDate(workspace.updatedAt),
    orgId: workspace.orgId,
    virtualDataplaneId: workspace.dataplaneId,
  };
}
