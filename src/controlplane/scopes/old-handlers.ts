// OldProjectService: a message in, a message out, no decisions.

import type { ServiceImpl } from "@connectrpc/connect";
import type { OldProjectService } from "../../../gen/waggle/compat/v0/project_pb.js";
import { projectOf } from "../../access/call.ts";
import type { ScopeReads } from "./scope-resource.ts";

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
