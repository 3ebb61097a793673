// The state of the traces: the address, when it was asked, and the selected rows.

import { type NavigateOptions, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { serviceNow } from "../../api/clock.ts";
import { useCurrentProjectId } from "../../api/project.ts";
import { monthRange } from "../../design/time-range.ts";
import type { ListTarget } from "./event-list.tsx";
import { toEventFilters, toQuestion, wordsFilter } from "./question.ts";
import { tracesRoute } from "./route.tsx";
import type { Changes, TracesSearch } from "./search.ts";

export const noRows: ReadonlySet<string> = new Set();

export function useTracesView() {
  const search = tracesRoute.useSearch();
  const projectId = useCurrentProjectId();
  const navigate = useNavigate({ from: tracesRoute.fullPath });
  const [round, setRound] = useState(0);
  const [selected, setSelected] = useState<ReadonlySet<string>>(noRows);
  const key = JSON.stringify([
    search.tab,
    search.range,
    search.filters,
    search.q,
    search.kind,
    round,
  ]);
  // A moving range ends at the time of its question, so that the list does not move by itself.
  const question = useMemo(
    () => toQuestion(search, serviceNow()),
    // oxlint-disable-next-line react/exhaustive-deps -- the key holds what matters of it
    [key],
  );
  const go = useCallback(
    (change: (before: TracesSearch) => TracesSearch) => {
      setSelected(noRows);
      void navigate({ to: ".", search: change });
    },
    [navigate],
  );
  const setSearch = useCallback(
    (change: Changes) => go((before) => withoutAbsent({ ...before, ...change })),
    [go],
  );
  const showEvents = (): void => {
    const filters = toEventFilters(search.filters ?? []);
    setSearch({
      tab: "events",
      columns: undefined,
      kind: undefined,
      filters: filters.length === 0 ? undefined : filters,
    });
  };
  const isNarrowed = (search.filters ?? []).length > 0 || search.q !== undefined;
  return {
    search,
    setSearch,
    question,
    isLive: search.live === true,
    round,
    renew: useCallback(() => setRound((before) => before + 1), []),
    selected,
    setSelected,
    apply: useCallback((next: TracesSearch) => go(() => withoutAbsent(next)), [go]),
    // Columns and the kind belong to the list; filters and range to both.
    setTab: (tab: "events" | undefined) =>
      tab === "events" ? showEvents() : setSearch({ tab, columns: undefined, kind: undefined }),
    showError: (message: string) => setSearch({ ...errorSearch(search, message) }),
    listProps: {
      chosen: search.columns,
      isNarrowed,
      onPause: () => setSearch({ live: undefined }),
      onWiden: () =>
        setSearch(isNarrowed ? { filters: undefined, q: undefined } : { range: monthRange }),
      onEvents: showEvents,
      toPage: useCallback(
        ({ sessionId, eventId }: ListTarget): NavigateOptions => ({
          to: "/app/p/$projectId/traces/$sessionId",
          params: { projectId, sessionId },
          search: { ...(eventId !== undefined && { event: eventId }), ...toPlace(search) },
        }),
        [projectId, search],
      ),
    },
  };
}

/**
 * Returns the part of a session's address that tells of the list: range and filters for the
 * sessions beside it, and the whole search for the way back where these two say less. Filters of
 * events say nothing about sessions.
 */
function toPlace(list: TracesSearch) {
  const { tab, range, filters = [], q, ...others } = list;
  const words = q === undefined ? [] : [wordsFilter(q)];
  const all = tab === "events" ? [] : [...filters, ...words];
  const isMore = tab === "events" || Object.values(others).some((part) => part !== undefined);
  return {
    ...(range && { range }),
    ...(all.length > 0 && { filters: all }),
    ...(isMore && { list }),
  };
}

/** Length at which the service cuts the values that a chart counts. */
const errorShownMax = 200;

function errorSearch(search: TracesSearch, message: string): Changes {
  const isCut = message.length >= errorShownMax;
  const filter = {
    field: "error",
    operator: isCut ? ("contains" as const) : ("is" as const),
    value: message,
    type: "string" as const,
  };
  // Filters of sessions say nothing about their events.
  const kept = search.tab === "events" ? (search.filters ?? []) : [];
  const others = kept.filter(({ field }) => field !== "error");
  return { tab: "events", columns: undefined, filters: [...others, filter] };
}

function withoutAbsent(search: Changes): TracesSearch {
  const given = Object.entries(search).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}
