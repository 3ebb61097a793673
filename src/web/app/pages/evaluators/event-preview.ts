// The name and the answer of an event in a line.

import { useMemo } from "react";
import type { Event } from "../../../../../gen/waggle/v1/event_pb.js";
import { unnamed } from "../session/session-tree.ts";
import { type EventSummary, summarizeEvent } from "../traces/event-summary.ts";
import { useNewestCalls } from "../traces/use-session-summaries.ts";

export type PreviewedEvent = {
  readonly event: Event;
  readonly name: string;
  /** Error of the event, else its answer, cut to a line. */
  readonly preview: string;
};

const charsMax = 160;

/**
 * Returns the events with their names and previews. A session that was made for its events has
 * neither, and is shown by its newest call.
 */
export function usePreviews(events: readonly Event[] | undefined): readonly PreviewedEvent[] {
  const wanted = useMemo(
    () =>
      (events ?? [])
        .filter(needsCall)
        .map(({ eventId = "", endTime }) => ({ id: eventId, version: String(endTime) })),
    [events],
  );
  const newestCallOf = useNewestCalls(wanted);
  return useMemo(
    () =>
      (events ?? []).map((event) => {
        const call = needsCall(event) ? newestCallOf(event.eventId ?? "") : undefined;
        return {
          event,
          name: call?.callName ?? event.eventName ?? "",
          preview: previewOf(event, call ?? summarizeEvent(event)),
        };
      }),
    [events, newestCallOf],
  );
}

function needsCall({ eventType, eventName }: Event): boolean {
  return eventType === "session" && eventName === unnamed;
}

function previewOf({ error }: Event, { answer }: EventSummary): string {
  return (error ? `error: ${error}` : (answer ?? "")).slice(0, charsMax);
}
