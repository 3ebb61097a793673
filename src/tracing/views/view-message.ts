// Converts saved views from messages and to them.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  ViewFields as FieldsMessage,
  ViewSchema,
  ViewState as StateMessage,
} from "../../../gen/waggle/v1/view_pb.js";
import type { Actor } from "../../base/actor.ts";
import { toStruct } from "../../base/struct.ts";
import { toFilterInput, toFilterMessage } from "../export/filter-message.ts";
import type { View } from "./store.ts";
import { type GivenState, isOwn, type ViewFields } from "./views.ts";

export function toFields(message: FieldsMessage | undefined): ViewFields {
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
export function toViewMessage(view: View, actor: Actor): MessageInitShape<typeof ViewSchema> {
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
