// ViewService: a message in, a message out, no decisions.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type {
  ViewFields as FieldsMessage,
  ViewSchema,
  ViewService,
  ViewState as StateMessage,
} from "../../../gen/waggle/v1/view_pb.js";
import { actorOf, projectOf, whoseOf } from "../../access/call.ts";
import type { Actor } from "../../base/actor.ts";
import { toStruct } from "../../base/struct.ts";
import { toFilterInput, toFilterMessage } from "../export/filter-message.ts";
import { type GivenState, isOwn, type View, type ViewFields, type Views } from "./views.ts";

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

function toFields(message: FieldsMessage | undefined): ViewFields {
  if (!message) return {};
  const { name, page, shared, state } = message;
  return { name, page, isShared: shared, state: state && toState(state) };
}

function toState({ filters, dateRange, columns, sort, settings }: StateMessage): GivenState {
  return {
    filters: filters.map(toFilterInput),
    range: dateRange,
    columns,
    sort: sort && { field: sort.field, direction: sort.direction },
    settings,
  };
}

/** Returns the message of a view for an actor. */
function toViewMessage(view: View, actor: Actor): MessageInitShape<typeof ViewSchema> {
  const { id, name, page, isShared, state } = view;
  return {
    id,
    name,
    page,
    shared: isShared,
    owner: view.ownerName,
    isOwn: isOwn(view, actor),
    state: {
      filters: state.filters.map(toFilterMessage),
      columns: [...state.columns],
      ...(state.range && { dateRange: state.range }),
      ...(state.sort && { sort: state.sort }),
      settings: toStruct(state.settings),
    },
    createdAt: timestampFromDate(view.createdAt),
    ...(view.updatedAt && { updatedAt: timestampFromDate(view.updatedAt) }),
  };
}
