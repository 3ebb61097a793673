// The list of sessions: filters and time range in the address, live renewal, totals of the listed
// sessions.

import { useNavigate } from "@tanstack/react-router";
import { Radio, Waypoints } from "lucide-react";
import { useCallback, useMemo } from "react";
import { ExportService } from "../../../../../gen/waggle/v1/export_pb.js";
import { SessionService } from "../../../../../gen/waggle/v1/session_pb.js";
import { useRpc, useRpcPages } from "../../api/query.ts";
import { Button } from "../../design/button.tsx";
import { FilterBar } from "../../design/filter-bar.tsx";
import { toMessage } from "../../design/filters.ts";
import { EmptyState, ErrorState, Loading } from "../../design/states.tsx";
import { Table } from "../../design/table.tsx";
import { TimeRangePicker } from "../../design/time-range-picker.tsx";
import { boundsOf, rangeDefault } from "../../design/time-range.ts";
import { useNow } from "../../design/now.ts";
import { useCommands } from "../../shell/commands.ts";
import { Page } from "../../shell/page.tsx";
import { tracesRoute, type TracesSearch } from "./route.tsx";
import { sessionColumns } from "./session-columns.tsx";
import { SessionTotals } from "./session-totals.tsx";

const liveMs = 2_000;
const pageSize = 200;

export function TracesPage() {
  const search = tracesRoute.useSearch();
  const { range = rangeDefault, filters = [], live = false } = search;
  const navigate = useNavigate();
  const setSearch = useCallback(
    (change: Partial<TracesSearch>) =>
      void navigate({ to: ".", search: (before: TracesSearch) => ({ ...before, ...change }) }),
    [navigate],
  );
  const toggleLive = () => setSearch({ live: live ? undefined : true });
  useCommands([
    {
      id: "traces.live",
      title: live ? "Stop following" : "Follow live",
      keys: "l",
      run: toggleLive,
    },
  ]);
  const sessions = useSessions({ range, filters }, live);
  const { data: schema } = useRpc(ExportService.method.getEventSchema, {}, { staleMs: 60_000 });
  const fields = useMemo(() => fieldsOf(schema?.fields ?? []), [schema]);
  return (
    <Page
      title="Traces"
      actions={
        <>
          <Button
            size="small"
            icon={<Radio />}
            aria-pressed={live}
            data-state={live ? "open" : undefined}
            onClick={toggleLive}
          >
            Live
          </Button>
          <TimeRangePicker value={range} onChange={(next) => setSearch({ range: next })} />
        </>
      }
      toolbar={
        <>
          <FilterBar
            filters={filters}
            fields={fields}
            onChange={(next) => setSearch({ filters: next.length === 0 ? undefined : next })}
          />
          <SessionTotals sessions={sessions.rows} hasMore={sessions.hasNextPage} />
        </>
      }
    >
      <SessionList sessions={sessions} hasFilters={filters.length > 0} />
    </Page>
  );
}

function useSessions({ range, filters }: Required<Omit<TracesSearch, "live">>, live: boolean) {
  const { from, to } = boundsOf(range, useNow());
  const input = {
    filters: filters.map(toMessage),
    dateRange: { gte: from, ...(to !== undefined && { lte: to }) },
    limit: pageSize,
  };
  const pages = useRpcPages(SessionService.method.listSessions, input, {
    cursorOf: (page) => page.nextCursor,
    refreshMs: live && liveMs,
    keepsPrevious: true,
  });
  const rows = useMemo(() => pages.data?.pages.flatMap(({ sessions }) => sessions), [pages.data]);
  return { ...pages, rows: rows ?? [] };
}

type SessionListProps = {
  readonly sessions: ReturnType<typeof useSessions>;
  readonly hasFilters: boolean;
};

function SessionList({ sessions, hasFilters }: SessionListProps) {
  const { rows, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = sessions;
  const readMore = useCallback(() => void fetchNextPage(), [fetchNextPage]);
  if (error && rows.length === 0) {
    return <ErrorState error={error} onRetry={() => void sessions.refetch()} />;
  }
  if (isPending) return <Loading what="Loading sessions" />;
  return (
    <Table
      label="Sessions"
      isMain
      widthsKey="sessions"
      columns={sessionColumns}
      rows={rows}
      idOf={({ sessionId }) => sessionId}
      toneOf={({ totals, error: failure }) =>
        (totals?.numErrors ?? 0) > 0 || failure !== undefined ? "bad" : undefined
      }
      onMore={hasNextPage ? readMore : undefined}
      isLoadingMore={isFetchingNextPage}
      empty={
        <EmptyState icon={<Waypoints />} title="No sessions here">
          {hasFilters ? emptyTexts.filtered : emptyTexts.all}
        </EmptyState>
      }
    />
  );
}

const emptyTexts = {
  filtered: "No session of this time matches every filter: remove one, or widen the range.",
  all: "Nothing was logged in this time. Widen the range, or send a first trace.",
} as const;

type SchemaField = { readonly name: string; readonly type: string; readonly eventType: string };

/** One entry for each name: an event type that has it stands as the hint. */
function fieldsOf(fields: readonly SchemaField[]) {
  const byName = Map.groupBy(fields, ({ name }) => name);
  return [...byName].map(([name, found]) => ({
    name,
    type: found[0]?.type ?? "string",
    hint: [...new Set(found.map(({ eventType }) => eventType))].join(", "),
  }));
}
