// ViewService: a message in, a message out, no decisions.

import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { ViewService } from "../../../gen/waggle/v1/view_pb.js";
import { actorOf, projectOf, whoseOf } from "../../access/call.ts";
import { toFields, toViewMessage } from "./view-message.ts";
import type { View, Views } from "./views.ts";

export function viewHandlers(views: Views): ServiceImpl<typeof ViewService> {
  return {
    async createView({ view }, context) {
      return toResponse(
        await views.create(projectOf(context), toFields(view), actorOf(context)),
        context,
      );
    },

    async listViews({ page }, context) {
      const actor = actorOf(context);
      const listed = await views.list({ project: projectOf(context), actor }, page || undefined);
      return { success: true, data: listed.map((view) => toViewMessage(view, actor)) };
    },

    async getView({ viewId }, context) {
      return toResponse(await views.get(whoseOf(viewId, context)), context);
    },

    async updateView({ viewId, view }, context) {
      return toResponse(await views.update(whoseOf(viewId, context), toFields(view)), context);
    },

    async deleteView({ viewId }, context) {
      await views.delete(whoseOf(viewId, context));
      return { success: true, message: "The view is deleted." };
    },
  };
}

function toResponse(view: View, context: HandlerContext) {
  return { success: true, data: toViewMessage(view, actorOf(context)) };
}
