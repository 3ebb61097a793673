// ProjectService: a message in, a message out, no decisions.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ProjectSchema, ProjectService } from "../../../gen/waggle/v1/project_pb.js";
import { parsePageOptions, toPageAnswer } from "../../base/pages.ts";
import { actorOf, principalOf, scopeOf } from "../../access/call.ts";
import type { Archives } from "../scopes/archive.ts";
import { toArchivedMessage } from "../scopes/archived-message.ts";
import type { Project, Projects } from "./projects.ts";

export function projectHandlers(
  projects: Projects,
  archives: Pick<Archives, "archive">,
): ServiceImpl<typeof ProjectService> {
  return {
    async createProject({ name, description, projectCreator: creator }, context) {
      const options = { name, description, creator };
      const created = await projects.create(scopeOf(context), options, principalOf(context));
      return { success: true, data: toMessage(created) };
    },
    async getProject(_request, context) {
      return { success: true, data: toMessage(await projects.get(scopeOf(context).id)) };
    },
    async listProjects(request, context) {
      const page = await projects.list(scopeOf(context).id, parsePageOptions(request));
      return toPageAnswer(page, toMessage);
    },
    async updateProject({ name, description }, context) {
      const change = { name, description };
      const updated = await projects.update(scopeOf(context).id, change, actorOf(context));
      return { success: true, data: toMessage(updated) };
    },
    async archiveProject({ dangerouslyDeleteChildScopes: withChildren }, context) {
      const options = { withChildren, actor: actorOf(context) };
      const archived = await archives.archive(scopeOf(context), options);
      return { success: true, data: toArchivedMessage(archived) };
    },
  };
}

function toMessage(project: Project): MessageInitShape<typeof ProjectSchema> {
  return {
    id: project.id,
    name: project.name,
    ...(project.description !== null && { description: project.description }),
    createdAt: timestampFromDate(project.createdAt),
    updatedAt: timestampFromDate(project.updatedAt),
    orgId: project.orgId,
    workspaceId: project.workspaceId,
  };
}
