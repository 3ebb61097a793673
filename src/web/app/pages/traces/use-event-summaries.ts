// Questions and answers of the events of a list: read after the rows, since a payload may have
// megabytes and a row must not wait for it.

import { useEffect, useMemo, useSyncExternalStore } from "react";
import type { Event } from "../../../../../gen/waggle/v1/event_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { queryClient } from "../../api/query.ts";
import type { EventSummary } from "./event-summary.ts";
import { type EventRow, readSummaries } from "./rows.ts";
import { Summaries } from "./summaries.ts";
import type { List } from "./use-list.ts";

/** Events that one call reads. */
const chunkSize = 100;

const summaries = new Summaries(
  (projectId, eventIds) =>
    // By the client of all queries, which tries again what may succeed then.
    queryClient.query({
      queryKey: ["summaries", projectId, eventIds],
      queryFn: ({ signal }) => readSummaries({ projectId, eventIds, signal }),
      gcTime: 0,
      staleTime: 0,
    }),
  chunkSize,
);

/** Returns the rows of a list with their summaries, as far as those are there. */
export function useEventSummaries(list: List<EventRow>, round: number): readonly EventRow[] {
  const projectId = useCurrentProjectId();
  const revision = useSyncExternalStore(summaries.subscribe, summaries.getRevision);
  const { rows } = list;
  useEffect(() => {
    const leaving = new AbortController();
    const wanted = rows.map(({ event }) => ({
      id: event.eventId ?? "",
      version: versionOf(event, round),
    }));
    void summaries.want(projectId, wanted, leaving.signal);
    return () => leaving.abort();
  }, [projectId, rows, round]);
  return useMemo(
    () =>
      rows.map(({ event }) => ({
        event,
        summary: summaries.get(projectId, event.eventId ?? ""),
      })),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `summaries` grows with `revision`
    [rows, projectId, revision],
  );
}

/**
 * Returns questions and answers of events by id, for rows that name events: undefined while they
 * are read, null without a preview. A summary is read once, so a later answer is absent.
 */
export function useSummariesOf(
  eventIds: readonly string[],
): ReadonlyMap<string, EventSummary | null | undefined> {
  const projectId = useCurrentProjectId();
  const revision = useSyncExternalStore(summaries.subscribe, summaries.getRevision);
  // Lists that refresh themselves bring the same ids in new arrays.
  const key = eventIds.join(" ");
  useEffect(() => {
    const leaving = new AbortController();
    const wanted = key === "" ? [] : key.split(" ").map((id) => ({ id, version: "once" }));
    void summaries.want(projectId, wanted, leaving.signal);
    return () => leaving.abort();
  }, [projectId, key]);
  return useMemo(
    () => new Map(key.split(" ").map((id) => [id, summaries.get(projectId, id)])),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `summaries` grows with `revision`
    [projectId, key, revision],
  );
}

/** Changes when the event ends or fails, which is when its answer arrives, and with each reload. */
function versionOf({ endTime, error }: Event, round: number): string {
  return `${round} ${endTime ?? ""} ${error ?? ""}`;
}
