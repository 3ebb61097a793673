// One session: header with totals, the events as tree with waterfall, as flame graph or as
// conversation, and the chosen event beside them.

import { Waypoints } from "lucide-react";
import { useCallback, useDeferredValue, useMemo, useState } from "react";
import { SplitPane } from "../../design/split-pane.tsx";
import { EmptyState, ErrorState, Loading, Skeleton } from "../../design/states.tsx";
import { Page } from "../../shell/page.tsx";
import { ConversationView } from "./conversation-view.tsx";
import { EventDetails } from "./event-details.tsx";
import { FlameGraph } from "./flame-graph.tsx";
import { sessionRoute, type SessionSearch, type SetSearch } from "./route.tsx";
import { ReadingNote } from "./reading-note.tsx";
import { SessionActions, SessionCrumbs } from "./session-header.tsx";
import { SessionToolbar } from "./session-toolbar.tsx";
import { ancestorsOf, type SessionTree } from "./session-tree.ts";
import { createTimeAxis } from "./time-axis.ts";
import { TraceTree } from "./trace-tree.tsx";
import { useSessionCommands } from "./use-session-commands.ts";
import { type SessionHits, useSessionSearch } from "./use-search.ts";
import { useSkeleton } from "./use-skeleton.ts";
import "./session-page.css";

export function SessionPage() {
  const { sessionId } = sessionRoute.useParams();
  // The key gives each session a page of its own, so that no state stays, such as folded events.
  return <OneSession key={sessionId} sessionId={sessionId} />;
}

function OneSession({ sessionId }: { readonly sessionId: string }) {
  const search = sessionRoute.useSearch();
  const navigate = sessionRoute.useNavigate();
  const setSearch = useCallback<SetSearch>(
    (change) =>
      void navigate({
        to: ".",
        search: (before: SessionSearch) => ({ ...before, ...change }),
        replace: true,
      }),
    [navigate],
  );
  const skeleton = useSkeleton(sessionId);
  const { tree, totals, estimate, error, isReading, isWhole } = skeleton;
  const hits = useSessionSearch(sessionId, search.q ?? "", tree);
  const session = tree?.nodes[0]?.event;
  if (error && !tree) {
    return (
      <Page title="Session" breadcrumb={<SessionCrumbs name="Session" />}>
        <ErrorState error={error} onRetry={skeleton.refresh} />
      </Page>
    );
  }
  const name = session?.name ?? "Session";
  const { event } = search;
  const isAbsent = event !== undefined && isWhole && tree?.indexOf.has(event) === false;
  return (
    <Page
      title={name}
      breadcrumb={<SessionCrumbs name={name} sessionId={sessionId} />}
      actions={session && <SessionActions session={session} onRefresh={skeleton.refresh} />}
      toolbar={
        <SessionToolbar
          session={session}
          totals={totals}
          estimate={estimate}
          hits={hits}
          setSearch={setSearch}
        />
      }
    >
      <ReadingNote isReading={isReading && tree !== undefined} />
      {error ? <ErrorState error={error} isInline onRetry={skeleton.refresh} /> : null}
      {isAbsent ? (
        <p className="session-notice" role="status">
          The event <code>{search.event}</code> is not in this session.
        </p>
      ) : null}
      {tree ? (
        <SessionPanes tree={tree} hits={hits} setSearch={setSearch} />
      ) : (
        <SessionPlaceholder />
      )}
    </Page>
  );
}

/** The place of the rows while the first of them are on their way. */
function SessionPlaceholder() {
  return (
    <div className="session-placeholder">
      {Array.from({ length: 12 }, (_, index) => (
        <Skeleton key={index} width={`${70 - ((index * 17) % 40)}%`} height="14px" />
      ))}
      <Loading what="Loading the session" />
    </div>
  );
}

type SessionPanesProps = {
  readonly tree: SessionTree;
  readonly hits: SessionHits;
  readonly setSearch: SetSearch;
};

function SessionPanes({ tree, hits, setSearch }: SessionPanesProps) {
  const { view = "tree", event } = sessionRoute.useSearch();
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const selected = (event === undefined ? tree.standIn : tree.indexOf.get(event)) ?? 0;
  const select = useCallback(
    (at: number) => setSearch({ event: tree.nodes[at]?.event.id }),
    [tree, setSearch],
  );
  /** Chooses an event that may be in a folded branch. */
  const reveal = useCallback(
    (at: number) => {
      const above = ancestorsOf(tree, at).map((up) => tree.nodes[up]?.event.id ?? "");
      setFolded((before) => {
        const isHidden = above.some((id) => before.has(id));
        return isHidden ? new Set([...before].filter((id) => !above.includes(id))) : before;
      });
      select(at);
    },
    [tree, select],
  );
  useSessionCommands({ tree, hits, selected, reveal, setFolded, setSearch });
  const axis = useMemo(() => createTimeAxis(tree.nodes.map(({ event: one }) => one)), [tree]);
  // Keys move faster than payloads come; the details follow when the keys rest.
  const shown = useDeferredValue(selected);
  const node = tree.nodes[shown];
  const shared = { tree, axis, selected, hits: hits.ids };
  return (
    <SplitPane
      storageKey="session"
      label="Width of the events"
      initial={0.56}
      hasLargeSecond={event !== undefined}
      first={
        tree.nodes.length === 1 && view !== "chat" ? (
          <EmptyState icon={<Waypoints />} title="No events">
            Nothing was logged in this session so far.
          </EmptyState>
        ) : view === "tree" ? (
          <TraceTree {...shared} onSelect={select} folded={folded} onFold={setFolded} />
        ) : view === "flame" ? (
          <FlameGraph {...shared} onSelect={select} setSearch={setSearch} />
        ) : (
          <ConversationView tree={tree} selected={selected} onSelect={select} />
        )
      }
      second={node && <EventDetails tree={tree} at={shown} onSelect={reveal} />}
    />
  );
}
