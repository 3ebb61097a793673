// Columns of the list of events.

import type { JsonObject } from "@bufbuild/protobuf";
import { Badge, Status, type Tone } from "../../design/badge.tsx";
import type { Column } from "../../design/table.tsx";
import { timeWidth } from "../../design/table-model.ts";
import { Cost, Duration, Identifier, Time, Tokens } from "../../design/values.tsx";
import { amountsOf } from "./event-amounts.ts";
import type { EventRow } from "./rows.ts";
import { QuestionLine, SummaryLine } from "./summary-line.tsx";

export const eventDefaults: readonly string[] = [
  "name",
  "type",
  "status",
  "question",
  "answer",
  "started",
  "duration",
  "tokens",
  "cost",
];

const tones: Readonly<Record<string, Tone>> = { model: "accent", tool: "info", chain: "neutral" };

export const eventColumns: readonly Column<EventRow>[] = [
  {
    id: "name",
    header: "Event",
    width: 140,
    cell: ({ event }) => (
      <span className="truncate" title={event.eventName}>
        {event.eventName}
      </span>
    ),
  },
  {
    id: "type",
    header: "Type",
    width: 76,
    cell: ({ event }) => (
      <Badge tone={tones[event.eventType ?? ""] ?? "neutral"}>{event.eventType}</Badge>
    ),
  },
  {
    id: "status",
    isMajor: true,
    header: "Status",
    width: 76,
    cell: ({ event: { error } }) =>
      error === undefined ? (
        <Status tone="good">ok</Status>
      ) : (
        <span title={error}>
          <Status tone="bad">error</Status>
        </span>
      ),
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
    cell: ({ summary, event }) => (
      <SummaryLine
        text={summary?.answer}
        error={event.error}
        isLoading={summary === undefined}
        hasNone={summary === null}
        isAnswer
      />
    ),
  },
  {
    id: "model",
    header: "Model",
    width: 132,
    cell: ({ event }) => <span className="truncate">{textOf(event.config, "model") || "–"}</span>,
  },
  {
    id: "started",
    isMajor: true,
    header: "Started",
    width: timeWidth,
    cell: ({ event }) => <Time value={event.startTime} />,
  },
  {
    id: "duration",
    header: "Duration",
    width: 84,
    align: "end",
    cell: ({ event }) => <Duration value={event.duration} />,
  },
  {
    id: "tokens",
    header: "Tokens",
    width: 72,
    align: "end",
    cell: ({ event }) => {
      const { tokens, ...parts } = amountsOf(event.metadata);
      return <Tokens value={tokens} {...parts} />;
    },
  },
  {
    id: "cost",
    header: "Cost",
    width: 76,
    align: "end",
    cell: ({ event }) => {
      const { cost } = amountsOf(event.metadata);
      return <Cost value={cost ?? event.costEstimate?.cost} isEstimate={cost === undefined} />;
    },
  },
  {
    id: "source",
    header: "Source",
    width: 110,
    cell: ({ event }) => <Badge>{event.source}</Badge>,
  },
  {
    id: "session",
    header: "Session",
    width: 168,
    hasControl: true,
    cell: ({ event }) => <Identifier value={event.sessionId ?? ""} />,
  },
  {
    id: "id",
    header: "Id",
    width: 168,
    hasControl: true,
    cell: ({ event }) => <Identifier value={event.eventId ?? ""} />,
  },
];

function textOf(fields: JsonObject | undefined, key: string): string {
  const value = fields?.[key];
  return typeof value === "string" ? value : "";
}
