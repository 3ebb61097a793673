// Columns of the list of sessions.

import type { Session } from "../../../../../gen/waggle/v1/session_pb.js";
import { Badge, Status } from "../../design/badge.tsx";
import type { Column } from "../../design/table.tsx";
import { Cost, Count, Duration, Identifier, Time, Tokens } from "../../design/values.tsx";

export const sessionColumns: readonly Column<Session>[] = [
  {
    id: "name",
    header: "Session",
    width: 240,
    grow: 1,
    cell: ({ eventName }) => <span className="truncate">{eventName}</span>,
  },
  {
    id: "status",
    header: "Status",
    width: 110,
    cell: ({ totals, error }) => {
      const errors = totals?.numErrors ?? 0;
      if (errors === 0 && error === undefined) return <Status tone="good">ok</Status>;
      return <Status tone="bad">{errors > 1 ? `${errors} errors` : "error"}</Status>;
    },
  },
  {
    id: "started",
    header: "Started",
    width: 96,
    cell: ({ startTime }) => <Time value={startTime} />,
  },
  {
    id: "duration",
    header: "Duration",
    width: 92,
    align: "end",
    cell: ({ duration }) => <Duration value={duration} />,
  },
  {
    id: "events",
    header: "Events",
    width: 76,
    align: "end",
    cell: ({ totals }) => <Count value={totals?.numEvents} />,
  },
  {
    id: "tokens",
    header: "Tokens",
    width: 88,
    align: "end",
    cell: ({ totals }) => (
      <Tokens
        value={totals?.totalTokens}
        {...(totals && { prompt: totals.promptTokens, completion: totals.completionTokens })}
      />
    ),
  },
  {
    id: "cost",
    header: "Cost",
    width: 84,
    align: "end",
    cell: ({ totals }) => <Cost value={totals?.cost} />,
  },
  {
    id: "source",
    header: "Source",
    width: 120,
    cell: ({ source }) => <Badge>{source}</Badge>,
  },
  {
    id: "id",
    header: "Id",
    width: 168,
    cell: ({ sessionId }) => <Identifier value={sessionId} />,
  },
];
