// Encodes the events of sessions as the Parquet file that exports are, so that either reads back.

import { create } from "@bufbuild/protobuf";
import {
  type StreamEventsResponse,
  StreamEventsResponseSchema,
} from "../../../gen/waggle/v1/export_pb.js";
import type { ProjectId } from "../../base/ids.ts";
import type { SelectedEvent } from "../events/event-row.ts";
import { toEventMessage } from "../events/event-message.ts";
import { encodeParquet } from "../export/parquet.ts";

/** Yields the bytes of a file of events. */
export function encodeSessions(
  projectId: ProjectId,
  groups: AsyncIterable<readonly SelectedEvent[]>,
): AsyncGenerator<Uint8Array, void, undefined> {
  return encodeParquet(toMessages(projectId, groups));
}

async function* toMessages(
  projectId: ProjectId,
  groups: AsyncIterable<readonly SelectedEvent[]>,
): AsyncGenerator<StreamEventsResponse, void, undefined> {
  let count = 0;
  for await (const group of groups) {
    for (const event of group) {
      const value = toEventMessage(event, projectId, undefined);
      yield create(StreamEventsResponseSchema, { item: { case: "event", value } });
    }
    count += group.length;
  }
  yield create(StreamEventsResponseSchema, {
    item: { case: "end", value: { done: true, count } },
  });
}
