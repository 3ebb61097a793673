// Questions and answers of the sessions of a list. Many programs send calls of models alone, by
// plain events or OpenTelemetry: such a session has no payload, and is shown by its newest call.

import { useMemo } from "react";
import type { Session } from "../../../../../gen/waggle/v1/session_pb.js";
import { readNewestCalls, type SessionRow, type SessionSummary } from "./rows.ts";
import type { WantedSummary } from "./summaries.ts";
import { createSummaries, useSummaries } from "./use-summaries.ts";

// Each session takes a call of its own.
const store = createSummaries({ name: "newest-calls", chunkSize: 8, read: readNewestCalls });

/**
 * Returns a function that finds the summary of a session's newest call by the session's id:
 * undefined while it is read, null without one. The argument is the same array until it changes.
 */
export function useNewestCalls(
  wanted: readonly WantedSummary[],
): (sessionId: string) => SessionSummary | null | undefined {
  return useSummaries(store, wanted);
}

/** Returns the rows, those without a payload with the summary of their newest call. */
export function useSessionSummaries(
  rows: readonly SessionRow[],
  round: number,
): readonly SessionRow[] {
  const wanted = useMemo(
    () =>
      rows
        .filter(needsCall)
        .map(({ session }) => ({ id: session.sessionId, version: versionOf(session, round) })),
    [rows, round],
  );
  const summaryOf = useNewestCalls(wanted);
  return useMemo(
    () =>
      rows.map((row) => {
        if (!needsCall(row)) return row;
        const summary = summaryOf(row.session.sessionId);
        return { session: row.session, summary: summary === null ? row.summary : summary };
      }),
    [rows, summaryOf],
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
