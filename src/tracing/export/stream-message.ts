// Converts the events of a stream to its messages, and those of deleted sessions to the same, so
// that the Parquet files of either read back.

import { create } from "@bufbuild/protobuf";
import {
  type StreamEventsResponse,
  StreamEventsResponseSchema,
} from "../../../gen/waggle/v1/export_pb.js";
import type { ProjectId } from "../../base/ids.ts";
import { toEventMessage } from "../events/event-message.ts";
import type { Projections } from "../events/event-row.ts";
import type { Group } from "./streams.ts";

export async function* toStreamMessages(
  projectId: ProjectId,
  groups: AsyncIterable<Group>,
  projections?: Projections,
): AsyncGenerator<StreamEventsResponse, void, undefined> {
  let count = 0;
  for await (const group of groups) {
    for (const event of group) {
      const value = toEventMessage(event, projectId, projections);
      yield create(StreamEventsResponseSchema, { item: { case: "event", value } });
    }
    count += group.length;
  }
  const value = { done: true, count } as const;
  yield create(StreamEventsResponseSchema, { item: { case: "end", value } });
}
