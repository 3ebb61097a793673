// Questions and answers of the sessions of a list. Many programs send calls of models alone, by
// plain events or OpenTelemetry: such a session has no payload, and is shown by its newest call.

import { useEffect, useMemo, useSyncExternalStore } from "react";
import type { Session } from "../../../../../gen/waggle/v1/session_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { queryClient } from "../../api/query.ts";
import { readNewestCalls, type SessionRow } from "./rows.ts";
import { Summaries } from "./summaries.ts";

/** Sessions that are read at a time, each by a call of its own. */
const chunkSize = 8;

const summaries = new Summaries(
  (projectId, sessionIds) =>
    queryClient.query({
      queryKey: ["newest-calls", projectId, sessionIds],
      queryFn: ({ signal }) => readNewestCalls(projectId, sessionIds, signal),
      gcTime: 0,
      staleTime: 0,
    }),
  chunkSize,
);

/** Returns the rows, those without a payload with the summary of their newest call. */
export function useSessionSummaries(
  rows: readonly SessionRow[],
  round: number,
): readonly SessionRow[] {
  const projectId = useCurrentProjectId();
  const revision = useSyncExternalStore(summaries.subscribe, summaries.getRevision);
  useEffect(() => {
    const leaving = new AbortController();
    const wanted = rows
      .filter(needsCall)
      .map(({ session }) => ({ id: session.sessionId, version: versionOf(session, round) }));
    void summaries.want(projectId, wanted, leaving.signal);
    return () => leaving.abort();
  }, [projectId, rows, round]);
  return useMemo(
    () =>
      rows.map((row) => {
        if (!needsCall(row)) return row;
        const summary = summaries.get(projectId, row.session.sessionId);
        return { session: row.session, summary: summary === null ? row.summary : summary };
      }),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `summaries` grows with `revision`
    [rows, projectId, revision],
  );
}

function needsCall({ session: { totals }, summary }: SessionRow): boolean {
  const isEmpty = summary?.question === undefined && summary?.answer === undefined;
  return isEmpty && (totals?.numEvents ?? 0) > 0;
}

/** Changes with each event that comes or ends, and with each reload. */
function versionOf({ totals, endTime }: Session, round: number): string {
  return [round, endTime, totals?.numEvents, totals?.totalTokens, totals?.cost].join(" ");
}
