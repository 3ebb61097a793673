// ViewService: a message in, a message out, no decisions.

import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { ViewService } from "../../../gen/waggle/v1/view_pb.js";
import { actorOf, projectOf } from "../../access/call.ts";
import { toFields, toViewMessage } from "./view-message.ts";
import type { View, Viewer, Views } from "./views.ts";

export function viewHandlers(views: Views): ServiceImpl<typeof ViewService> {
  return {
    async createView({ view }, context) {
      return toResponse(await views.create(viewerOf(context), toFields(view)), context);
    },

    async listViews({ page }, context) {
      const listed = await views.list(viewerOf(context), page || undefined);
      const actor = actorOf(context);
      return { success: true, data: listed.map((view) => toViewMessage(view, actor)) };
    },

    async getView({ viewId }, context) {
      return toResponse(await views.get(viewerOf(context), viewId), context);
    },

    async updateView({ viewId, view }, context) {
      return toResponse(await views.update(viewerOf(context), viewId, toFields(view)), context);
    },

    async deleteView({ viewId }, context) {
      await views.delete(viewerOf(context), viewId);
      return { success: true, message: "The view is deleted." };
    },
  };
}

function viewerOf(context: HandlerContext): Viewer {
  return { project: projectOf(context), actor: actorOf(context) };
}

function toResponse(view: View, context: HandlerContext) {
  return { success: true, data: toViewMessage(view, actorOf(context)) };
}
