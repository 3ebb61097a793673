// The top of the session page: the way back to the list, the sessions before and after, copying,
// and comparing with another one.

import { Link, useNavigate } from "@tanstack/react-router";
import { ChevronDown, ChevronUp, Columns2, RefreshCw } from "lucide-react";
import { useMemo, useState } from "react";
import { SessionService } from "../../../../../gen/waggle/v1/session_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { useRpcPages } from "../../api/query.ts";
import { Button, IconButton } from "../../design/button.tsx";
import { Input } from "../../design/input.tsx";
import { MoreButton } from "../../design/more-button.tsx";
import { Popover } from "../../design/popover.tsx";
import { ReadState } from "../../design/states.tsx";
import { Cost, Duration, Identifier, Time } from "../../design/values.tsx";
import { useCommands } from "../../shell/commands.ts";
import { summarizeEvent } from "../traces/event-summary.ts";
import { fromFilters } from "../traces/question.ts";
import { nameOf } from "../traces/rows.ts";
import { useSessionSummaries } from "../traces/use-session-summaries.ts";
import { sessionRoute } from "./route.tsx";
import type { SessionEvent } from "./session-event.ts";
import { useNeighbours } from "./use-neighbours.ts";

type SessionCrumbsProps = { readonly name: string; readonly sessionId?: string };

export function SessionCrumbs({ name, sessionId }: SessionCrumbsProps) {
  const projectId = useCurrentProjectId();
  const { range, filters = [], list } = sessionRoute.useSearch();
  return (
    <>
      <Link
        to="/app/p/$projectId/traces"
        params={{ projectId }}
        search={list ?? { ...(range && { range }), ...fromFilters(filters) }}
      >
        Traces
      </Link>
      <span aria-hidden>/</span>
      <span className="truncate" title={name}>
        {name}
      </span>
      {sessionId === undefined ? null : <Identifier value={sessionId} />}
    </>
  );
}

type SessionActionsProps = {
  readonly session: SessionEvent;
  readonly onRefresh: () => void;
};

export function SessionActions({ session, onRefresh }: SessionActionsProps) {
  const { range, filters = [], view, list } = sessionRoute.useSearch();
  const projectId = useCurrentProjectId();
  const navigate = useNavigate();
  const place = { sessionId: session.id, startMs: session.startMs, range, filters };
  const { previous, next } = useNeighbours(place);
  const open = (sessionId: string | undefined): void => {
    if (sessionId === undefined) return;
    void navigate({
      to: "/app/p/$projectId/traces/$sessionId",
      params: { projectId, sessionId },
      search: { view, range, ...(filters.length > 0 && { filters }), ...(list && { list }) },
    });
  };
  const [newer, older] = ["Newer session", "Older session"];
  useCommands([
    { id: "session.newer", title: newer, keys: "[", run: () => open(previous) },
    { id: "session.older", title: older, keys: "]", run: () => open(next) },
    { id: "session.refresh", title: "Refresh the session", keys: "r", run: onRefresh },
  ]);
  const canMove = { newer: previous !== undefined, older: next !== undefined };
  return (
    <>
      <IconButton label="Refresh" keys="r" icon={<RefreshCw />} onClick={onRefresh} />
      <ComparePicker sessionId={session.id} />
      <IconButton
        label={canMove.newer ? newer : "No newer session in the list"}
        keys="["
        icon={<ChevronUp />}
        disabled={!canMove.newer}
        onClick={() => open(previous)}
      />
      <IconButton
        label={canMove.older ? older : "No older session in the list"}
        keys="]"
        icon={<ChevronDown />}
        disabled={!canMove.older}
        onClick={() => open(next)}
      />
    </>
  );
}

function ComparePicker({ sessionId }: { readonly sessionId: string }) {
  const [isOpen, setOpen] = useState(false);
  useCommands([
    { id: "session.compare", title: "Compare with another session", run: () => setOpen(true) },
  ]);
  return (
    <Popover
      label="Compare with another session"
      align="end"
      isOpen={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button size="small" icon={<Columns2 />}>
          Compare
        </Button>
      }
    >
      <CompareChoices sessionId={sessionId} />
    </Popover>
  );
}

const pageSize = 30;

function CompareChoices({ sessionId }: { readonly sessionId: string }) {
  const projectId = useCurrentProjectId();
  const [typed, setTyped] = useState("");
  const list = useRpcPages(SessionService.method.listSessions, { limit: pageSize });
  const { data } = list;
  const listed = useMemo(
    () =>
      (data?.pages ?? [])
        .flatMap(({ sessions }) => sessions)
        .filter((session) => session.sessionId !== sessionId)
        .map((session) => ({ session, summary: summarizeEvent(session) })),
    [data, sessionId],
  );
  const others = useSessionSummaries(listed, 0);
  const target = (b: string) =>
    ({
      to: "/app/p/$projectId/traces/compare",
      params: { projectId },
      search: { a: sessionId, b },
    }) as const;
  const navigate = useNavigate();
  return (
    <div className="compare-choices">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim() !== "") void navigate(target(typed.trim()));
        }}
      >
        <Input
          aria-label="Id of the other session"
          placeholder="Id of a session, then Enter"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </form>
      <ReadState read={list} what="Loading sessions" isInline />
      {data && others.length === 0 ? <p>There is no other session in this project yet.</p> : null}
      <ul>
        {others.map((row) => (
          <li key={row.session.sessionId}>
            <Link {...target(row.session.sessionId)}>
              <span className="truncate">{nameOf(row)}</span>
              <Duration value={row.session.duration} />
              <Cost value={row.session.totals?.cost} />
              <Time value={row.session.startTime} />
              <bdi className="compare-question truncate">{row.summary?.question}</bdi>
            </Link>
          </li>
        ))}
      </ul>
      <MoreButton size="small" pages={list} label="Show older sessions" />
    </div>
  );
}
