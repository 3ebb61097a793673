// The list of events: calls of models and tools, and the steps around them.

import type { NavigateOptions } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { pickColumns } from "./columns.ts";
import { eventColumns, eventDefaults } from "./event-columns.tsx";
import { type Question, toListInput } from "./question.ts";
import { type EventRow, readEvents } from "./rows.ts";
import { TracesList } from "./traces-list.tsx";
import { useEventSummaries } from "./use-event-summaries.ts";
import { useList } from "./use-list.ts";

/** A session, or one of its events. */
export type ListTarget = { readonly sessionId: string; readonly eventId?: string };

export type ListViewProps = {
  readonly question: Question;
  readonly isLive: boolean;
  readonly round: number;
  /** Ids of the columns in the address. */
  readonly chosen: readonly string[] | undefined;
  readonly toPage: (target: ListTarget) => NavigateOptions;
  readonly selected: ReadonlySet<string>;
  readonly onSelect: (selected: ReadonlySet<string>) => void;
  /** Whether filters or words leave something out. */
  readonly isNarrowed: boolean;
  readonly onWiden: () => void;
  /** Shows the events that match the same filters. */
  readonly onEvents: () => void;
  /** Stops following the list. */
  readonly onPause: () => void;
};

const idOf = ({ event }: EventRow): string => event.eventId ?? "";
const hasError = ({ event }: EventRow): boolean => event.error !== undefined;

export function EventList(props: ListViewProps) {
  const { question, isLive, round, chosen, toPage, onEvents: _, ...shared } = props;
  const input = useMemo(() => toListInput(question), [question]);
  const list = useList({ name: "events", input, read: readEvents, idOf, isLive, round });
  const rows = useEventSummaries(list, round);
  const { columns } = useMemo(() => pickColumns(eventColumns, chosen, eventDefaults), [chosen]);
  return (
    <TracesList
      {...shared}
      label="Events"
      list={list}
      rows={rows}
      columns={columns}
      idOf={idOf}
      hasError={hasError}
      toPage={useCallback(
        ({ event: { sessionId = "", eventId = "" } }: EventRow) => toPage({ sessionId, eventId }),
        [toPage],
      )}
    />
  );
}
