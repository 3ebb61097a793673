// Questions and answers of the events of a list: read after the rows, since a payload may have
// megabytes and a row must not wait for it.

import { useEffect, useMemo, useSyncExternalStore } from "react";
import type { Event } from "../../../../../gen/waggle/v1/event_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { queryClient } from "../../api/query.ts";
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

/** Changes when the event ends or fails, which is when its answer arrives, and with each reload. */
function versionOf({ endTime, error }: Event, round: number): string {
  return `${round} ${endTime ?? ""} ${error ?? ""}`;
}
