// Columns of the list of events.

import type { JsonObject } from "@bufbuild/protobuf";
import { Badge, Status, type Tone } from "../../design/badge.tsx";
import { idColumn, textColumn, timeColumn } from "../../design/columns.tsx";
import type { Column } from "../../design/table.tsx";
import { Cost, Duration, Tokens } from "../../design/values.tsx";
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
  textColumn({ id: "name", header: "Event", width: 140, text: ({ event }) => event.eventName }),
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
  textColumn({
    id: "model",
    header: "Model",
    width: 132,
    text: ({ event }) => textOf(event.config, "model") || undefined,
  }),
  timeColumn({
    id: "started",
    isMajor: true,
    header: "Started",
    at: ({ event }) => event.startTime,
  }),
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
  idColumn({ id: "session", header: "Session", idOf: ({ event }) => event.sessionId ?? "" }),
  idColumn({ idOf: ({ event }) => event.eventId ?? "" }),
];

function textOf(fields: JsonObject | undefined, key: string): string {
  const value = fields?.[key];
  return typeof value === "string" ? value : "";
}
