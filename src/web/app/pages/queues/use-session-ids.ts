// Sessions of the events of a queue, which names the events alone.

import { useMemo } from "react";
import { ExportService } from "../../../../../gen/waggle/v1/export_pb.js";
import { callRpc } from "../../api/transport.ts";
import { createSummaries, useSummaries } from "../traces/use-summaries.ts";

const store = createSummaries({ name: "session-ids", chunkSize: 100, read: readSessionIds });

/**
 * Returns a function that finds the id of an event's session: undefined while it is read, null
 * without one.
 */
export function useSessionIds(
  eventIds: readonly string[],
): (eventId: string) => string | null | undefined {
  // A list that refreshes itself brings the same ids in new arrays.
  const key = eventIds.join(" ");
  const wanted = useMemo(
    () => (key === "" ? [] : key.split(" ").map((id) => ({ id, version: "once" }))),
    [key],
  );
  return useSummaries(store, wanted);
}

type SessionIdsRequest = {
  readonly projectId: string;
  /** At most 100. */
  readonly ids: readonly string[];
  readonly signal?: AbortSignal;
};

/** Reads the ids of the sessions of events, by the id of the event; deleted events are absent. */
export async function readSessionIds({
  ids,
  ...options
}: SessionIdsRequest): Promise<ReadonlyMap<string, string | null>> {
  const { events } = await callRpc(
    ExportService.method.getEvents,
    { eventIds: [...ids], projections: ["session_id"] },
    options,
  );
  return new Map(events.map(({ eventId = "", sessionId = null }) => [eventId, sessionId]));
}
