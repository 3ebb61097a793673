// Questions and answers of the events of a list: read after the rows, since a payload may have
// megabytes and a row must not wait for it.

import { useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import { useCurrentProjectId } from "../../api/project.ts";
import type { EventSummary } from "./event-summary.ts";
import type { toListInput } from "./question.ts";
import { type EventRow, type PageRequest, readSummaries } from "./rows.ts";
import type { List } from "./use-list.ts";

const chunkSize = 100;
/** Payloads of an event seldom change once it has an answer. */
const staleMs = 300_000;
/** Maximum number of summaries that are kept, of any list. */
const keptMax = 5_000;

/** Summaries by project and event, the oldest first. */
const kept = new Map<string, EventSummary | null>();

async function readAndKeep(request: PageRequest): Promise<number> {
  for (const [eventId, summary] of await readSummaries(request)) {
    const key = `${request.projectId} ${eventId}`;
    kept.delete(key);
    kept.set(key, summary);
  }
  for (const key of kept.keys()) {
    if (kept.size <= keptMax) break;
    kept.delete(key);
  }
  return Date.now();
}

/** Returns the rows of a list with their summaries, as far as those are there. */
export function useEventSummaries(
  list: List<EventRow>,
  input: ReturnType<typeof toListInput>,
  round: number,
): readonly EventRow[] {
  const projectId = useCurrentProjectId();
  const [newest] = list.freshIds;
  const chunks = [
    // The first page of a list that began anew is another one.
    ...list.cursors.map((cursor) => ({ cursor, mark: cursor === undefined ? list.firstId : "" })),
    // Rows that came in since are at the top, which is read again with each of them.
    ...(newest === undefined ? [] : [{ cursor: undefined, mark: newest }]),
  ];
  const { readAt, hasFailed } = useQueries({
    queries: chunks.map(({ cursor, mark }) => ({
      queryKey: ["summaries", projectId, input, round, cursor ?? null, mark ?? ""],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        readAndKeep({ projectId, input, cursor, limit: chunkSize, signal }),
      staleTime: staleMs,
      gcTime: staleMs,
    })),
    combine: (answers) => ({
      readAt: answers.map(({ data = 0 }) => data).join(" "),
      hasFailed: answers.some(({ isError }) => isError),
    }),
  });
  return useMemo(
    () =>
      list.rows.map(({ event }) => {
        const summary = kept.get(`${projectId} ${event.eventId ?? ""}`);
        // A row does not wait for ever for a summary that could not be read.
        return { event, summary: summary === undefined && hasFailed ? null : summary };
      }),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `kept` grows when a chunk is read
    [list.rows, projectId, readAt, hasFailed],
  );
}
