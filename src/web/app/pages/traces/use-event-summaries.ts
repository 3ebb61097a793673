// Questions and answers of the events of a list: read after the rows, since a payload may have
// megabytes and a row must not wait for it.

import { useMemo } from "react";
import type { Event } from "../../../../../gen/waggle/v1/event_pb.js";
import type { EventSummary } from "./event-summary.ts";
import { type EventRow, readSummaries } from "./rows.ts";
import type { List } from "./use-list.ts";
import { createSummaries, useSummaries } from "./use-summaries.ts";

const store = createSummaries({ name: "summaries", chunkSize: 100, read: readSummaries });

/** Returns the rows of a list with their summaries, as far as those are there. */
export function useEventSummaries(list: List<EventRow>, round: number): readonly EventRow[] {
  const { rows } = list;
  const wanted = useMemo(
    () => rows.map(({ event }) => ({ id: event.eventId ?? "", version: versionOf(event, round) })),
    [rows, round],
  );
  const summaryOf = useSummaries(store, wanted);
  return useMemo(
    () => rows.map(({ event }) => ({ event, summary: summaryOf(event.eventId ?? "") })),
    [rows, summaryOf],
  );
}

/**
 * Returns questions and answers of events by id, for rows that name events: undefined while they
 * are read, null without a preview. A summary is read once for each version.
 */
export function useSummariesOf(
  eventIds: readonly string[],
  version = "once",
): ReadonlyMap<string, EventSummary | null | undefined> {
  // Lists that refresh themselves bring the same ids in new arrays.
  const key = eventIds.join(" ");
  const wanted = useMemo(
    () => (key === "" ? [] : key.split(" ").map((id) => ({ id, version }))),
    [key, version],
  );
  const summaryOf = useSummaries(store, wanted);
  return useMemo(() => new Map(wanted.map(({ id }) => [id, summaryOf(id)])), [wanted, summaryOf]);
}

/** Changes when the event ends or fails, which is when its answer arrives, and with each reload. */
function versionOf({ endTime, error }: Event, round: number): string {
  return `${round} ${endTime ?? ""} ${error ?? ""}`;
}
