// The line under the session's name: views, search with its hits, status and totals.

import { Search } from "lucide-react";
import { useRef } from "react";
import type { SessionTotals } from "../../../../../gen/waggle/v1/session_pb.js";
import { Status } from "../../design/badge.tsx";
import { formatCounted, formatExactCount } from "../../design/format.ts";
import { Input } from "../../design/input.tsx";
import { Segments } from "../../design/tabs.tsx";
import { Cost, Count, Duration, KeyValue, Time, Tokens } from "../../design/values.tsx";
import { runCommand, useCommands } from "../../shell/commands.ts";
import { sessionRoute, type SessionView, type SetSearch } from "./route.tsx";
import type { SessionEvent, TotalCost } from "./session-event.ts";
import type { SessionHits } from "./use-search.ts";

export type SessionToolbarProps = {
  readonly session: SessionEvent | undefined;
  readonly totals: SessionTotals | undefined;
  /** Cost with estimates; undefined while it is not known. */
  readonly estimate: TotalCost | undefined;
  readonly hits: SessionHits;
  readonly setSearch: SetSearch;
};

const views = [
  { value: "tree", label: "Tree" },
  { value: "flame", label: "Flame" },
  { value: "chat", label: "Chat" },
];

export function SessionToolbar(props: SessionToolbarProps) {
  const { session, totals, estimate, hits, setSearch } = props;
  const { view = "tree" } = sessionRoute.useSearch();
  return (
    <>
      <Segments
        label="View"
        options={views}
        value={view}
        onChange={(next) => setSearch({ view: next as SessionView })}
      />
      <SessionSearchField hits={hits} setSearch={setSearch} />
      <KeyValue
        isRow
        items={[
          { label: "Status", value: <SessionStatus session={session} totals={totals} /> },
          { label: "Started", value: <Time value={session?.startMs} /> },
          { label: "Duration", value: <Duration value={session?.durationMs} /> },
          { label: "Events", value: <Count value={totals?.numEvents} /> },
          {
            label: "Tokens",
            value: (
              <Tokens
                value={totals?.totalTokens}
                {...(totals && {
                  prompt: totals.promptTokens,
                  completion: totals.completionTokens,
                })}
              />
            ),
          },
          {
            label: "Cost",
            value: estimate?.isCostEstimate ? (
              <Cost value={estimate.cost} isEstimate />
            ) : (
              <Cost value={totals?.cost} />
            ),
          },
        ]}
      />
    </>
  );
}

function SessionStatus({ session, totals }: Pick<SessionToolbarProps, "session" | "totals">) {
  if (!session || !totals) return <span aria-label="not known yet">–</span>;
  const { numErrors } = totals;
  if (session.error !== undefined) return <Status tone="bad">failed</Status>;
  if (numErrors > 0) {
    return <Status tone="bad">{formatCounted(numErrors, "error")}</Status>;
  }
  return <Status tone="good">no errors</Status>;
}

function SessionSearchField({ hits, setSearch }: Pick<SessionToolbarProps, "hits" | "setSearch">) {
  const { q = "" } = sessionRoute.useSearch();
  const field = useRef<HTMLInputElement>(null);
  useCommands([
    {
      id: "session.search",
      title: "Search in the session",
      keys: "/",
      run: () => field.current?.focus(),
    },
  ]);
  const count = hits.places.length;
  const word = count === 1 ? "hit" : "hits";
  const found = `${formatExactCount(count)}${hits.hasMore ? "+" : ""} ${word}`;
  return (
    <div className="session-search">
      <Input
        ref={field}
        type="search"
        icon={<Search aria-hidden />}
        aria-label="Search in the session"
        placeholder="Search in all events"
        value={q}
        maxLength={200}
        onChange={(event) => setSearch({ q: event.target.value || undefined })}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault();
            runCommand(event.shiftKey ? "session.hit-before" : "session.hit");
          } else if (event.key === "Escape") {
            setSearch({ q: undefined });
            event.currentTarget.blur();
          }
        }}
      />
      <span role="status" className="numeric">
        {q === "" ? "" : hits.error ? hits.error.message : hits.isSearching ? "searching" : found}
      </span>
    </div>
  );
}
