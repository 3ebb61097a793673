// Columns of the list of sessions.

import { Badge, Status } from "../../design/badge.tsx";
import { countColumn, idColumn, textColumn, timeColumn } from "../../design/columns.tsx";
import type { Column } from "../../design/table.tsx";
import { Cost, Duration, Tokens } from "../../design/values.tsx";
import { QuestionLine, SummaryLine } from "./summary-line.tsx";
import { nameOf, type SessionRow } from "./rows.ts";

export const sessionDefaults: readonly string[] = [
  "name",
  "status",
  "question",
  "answer",
  "started",
  "duration",
  "events",
  "tokens",
  "cost",
];

export const sessionColumns: readonly Column<SessionRow>[] = [
  textColumn({ id: "name", header: "Session", width: 132, text: (row) => nameOf(row) }),
  {
    id: "status",
    isMajor: true,
    header: "Status",
    width: 86,
    cell: ({ session: { totals, error } }) => {
      const errors = totals?.numErrors ?? 0;
      if (errors === 0 && error === undefined) return <Status tone="good">ok</Status>;
      return (
        <span title={error}>
          <Status tone="bad">{errors > 1 ? `${errors} errors` : "error"}</Status>
        </span>
      );
    },
  },
  {
    id: "question",
    header: "Question",
    width: 190,
    grow: 3,
    cell: ({ summary }) => <QuestionLine summary={summary} />,
  },
  {
    id: "answer",
    header: "Answer",
    width: 190,
    grow: 3,
    cell: ({ summary, session }) => (
      <SummaryLine
        text={summary?.answer}
        error={session.error}
        isAnswer
        isLoading={summary === undefined}
      />
    ),
  },
  timeColumn({
    id: "started",
    isMajor: true,
    header: "Started",
    at: ({ session }) => session.startTime,
  }),
  {
    id: "duration",
    header: "Duration",
    width: 84,
    align: "end",
    cell: ({ session }) => <Duration value={session.duration} />,
  },
  countColumn({
    id: "events",
    header: "Events",
    width: 64,
    count: ({ session }) => session.totals?.numEvents,
  }),
  countColumn({
    id: "model-events",
    header: "Model calls",
    width: 92,
    count: ({ session }) => session.totals?.numModelEvents,
  }),
  {
    id: "tokens",
    header: "Tokens",
    width: 72,
    align: "end",
    cell: ({ session: { totals } }) => (
      <Tokens
        value={totals?.totalTokens}
        {...(totals && { prompt: totals.promptTokens, completion: totals.completionTokens })}
      />
    ),
  },
  {
    id: "cost",
    // Estimates are of calls: the list of sessions does not know them.
    header: "Cost sent",
    width: 88,
    align: "end",
    cell: ({ session }) => <Cost value={session.totals?.cost} />,
  },
  {
    id: "feedback",
    header: "Feedback",
    width: 84,
    cell: ({ session }) =>
      session.totals?.hasFeedback === true ? <Badge tone="accent">given</Badge> : "–",
  },
  {
    id: "source",
    header: "Source",
    width: 110,
    cell: ({ session }) => <Badge>{session.source}</Badge>,
  },
  idColumn({ idOf: ({ session }) => session.sessionId }),
];
