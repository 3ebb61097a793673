// The list of sessions.

import { useCallback, useMemo } from "react";
import { pickColumns } from "./columns.ts";
import { toListInput } from "./question.ts";
import { readSessions, type SessionRow } from "./rows.ts";
import { sessionColumns, sessionDefaults } from "./session-columns.tsx";
import type { ListViewProps } from "./event-list.tsx";
import { TracesList } from "./traces-list.tsx";
import { useList } from "./use-list.ts";
import { useSessionSummaries } from "./use-session-summaries.ts";

const idOf = ({ session }: SessionRow): string => session.sessionId;

const hasError = ({ session: { totals, error } }: SessionRow): boolean =>
  (totals?.numErrors ?? 0) > 0 || error !== undefined;

export function SessionList(props: ListViewProps) {
  const { question, isLive, round, chosen, toPage, ...shared } = props;
  const input = useMemo(() => toListInput(question), [question]);
  const list = useList({ name: "sessions", input, read: readSessions, idOf, isLive, round });
  const rows = useSessionSummaries(list.rows, round);
  const { columns } = useMemo(() => pickColumns(sessionColumns, chosen, sessionDefaults), [chosen]);
  return (
    <TracesList
      {...shared}
      label="Sessions"
      list={list}
      rows={rows}
      columns={columns}
      idOf={idOf}
      hasError={hasError}
      toPage={useCallback(
        ({ session: { sessionId } }: SessionRow) => toPage({ sessionId }),
        [toPage],
      )}
    />
  );
}
