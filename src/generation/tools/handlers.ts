// ToolService: a message in, a message out, no decisions.

import type { ServiceImpl } from "@connectrpc/connect";
import type { ToolService } from "../../../gen/waggle/compat/v0/tool_pb.js";
import { toStruct } from "../../base/struct.ts";
import { actorOf, projectOf, whoseOf } from "../../access/call.ts";
import type { Tools } from "./tools.ts";

export function toolHandlers(tools: Tools): ServiceImpl<typeof ToolService> {
  return {
    async listTools(_request, context) {
      const { projectId, name: task } = projectOf(context);
      const list = await tools.list(projectId);
      return {
        tools: list.map(({ id, name, description, type, parameters }) => ({
          Id: id,
          task,
          name,
          description,
          parameters: toStruct(parameters),
          toolType: type,
        })),
      };
    },
    async createTool(request, context) {
      const { id } = await tools.create(projectOf(context), request, actorOf(context));
      return { result: { insertedId: id } };
    },
    async updateTool({ id, ...fields }, context) {
      await tools.update(whoseOf(id, context), fields);
      return { updated: true };
    },
    async deleteTool({ functionId }, context) {
      await tools.delete(whoseOf(functionId, context));
      return { deleted: true };
    },
  };
}
