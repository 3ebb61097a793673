// Two sessions side by side, aligned by the names of their steps, with the differences of duration,
// tokens and cost, and the outputs of the chosen step.

import { Link } from "@tanstack/react-router";
import { ArrowLeftRight, Columns2 } from "lucide-react";
import { useCallback, useMemo } from "react";
import { useCurrentProjectId } from "../../api/project.ts";
import { IconButton } from "../../design/button.tsx";
import { SplitPane } from "../../design/split-pane.tsx";
import { EmptyState, ErrorState, Loading } from "../../design/states.tsx";
import { useCommands } from "../../shell/commands.ts";
import { Page } from "../../shell/page.tsx";
import { type Skeleton, useSkeleton } from "../session/use-skeleton.ts";
import { type AlignedRow, alignTrees } from "./align-trees.ts";
import { CompareOutputs } from "./compare-outputs.tsx";
import { CompareTable } from "./compare-table.tsx";
import { CompareTotals } from "./compare-totals.tsx";
import { compareRoute, type CompareSearch } from "./route.tsx";
import "./compare.css";

export function ComparePage() {
  const { a, b } = compareRoute.useSearch();
  const navigate = compareRoute.useNavigate();
  const [left, right] = [useSkeleton(a), useSkeleton(b)];
  const swap = (): void =>
    void navigate({
      to: ".",
      search: (before: CompareSearch) => ({ ...before, a: b, b: a }),
      replace: true,
    });
  useCommands([{ id: "compare.swap", title: "Swap the sessions", keys: "s", run: swap }]);
  const isComplete = a !== undefined && b !== undefined;
  return (
    <Page
      title="Compare sessions"
      breadcrumb={<Crumbs a={a} left={left} />}
      actions={
        isComplete ? (
          <IconButton label="Swap the sessions" keys="s" icon={<ArrowLeftRight />} onClick={swap} />
        ) : null
      }
      toolbar={isComplete ? <CompareTotals left={left} right={right} /> : null}
    >
      {isComplete ? (
        <Compared left={left} right={right} />
      ) : (
        <EmptyState icon={<Columns2 />} title="Choose two sessions">
          Open a session, press Compare, and pick the other one.
        </EmptyState>
      )}
    </Page>
  );
}

function Crumbs({ a, left }: { readonly a: string | undefined; readonly left: Skeleton }) {
  const projectId = useCurrentProjectId();
  return (
    <>
      <Link to="/app/p/$projectId/traces" params={{ projectId }}>
        Traces
      </Link>
      <span aria-hidden>/</span>
      {a === undefined ? null : (
        <>
          <Link
            className="truncate"
            to="/app/p/$projectId/traces/$sessionId"
            params={{ projectId, sessionId: a }}
          >
            {left.tree?.nodes[0]?.event.name ?? "Session"}
          </Link>
          <span aria-hidden>/</span>
        </>
      )}
      <span>Compare</span>
    </>
  );
}

/** Whether a row has the event of a key, which was made before the sessions were swapped or not. */
function isRowOf({ a, b }: AlignedRow, key: string | undefined): boolean {
  const eventId = key?.slice("a.".length);
  return eventId !== undefined && (a?.id === eventId || b?.id === eventId);
}

function Compared({ left, right }: { readonly left: Skeleton; readonly right: Skeleton }) {
  const { row } = compareRoute.useSearch();
  const navigate = compareRoute.useNavigate();
  const choose = useCallback(
    (key: string) =>
      void navigate({
        to: ".",
        search: (before: CompareSearch) => ({ ...before, row: key }),
        replace: true,
      }),
    [navigate],
  );
  const rows = useMemo(
    () => (left.tree && right.tree ? alignTrees(left.tree, right.tree) : undefined),
    [left.tree, right.tree],
  );
  const failed = [left, right].find(({ error, tree }) => error && !tree);
  if (failed?.error) return <ErrorState error={failed.error} onRetry={failed.refresh} />;
  if (!rows) return <Loading what="Loading both sessions" />;
  const chosen = rows.find((one) => isRowOf(one, row)) ?? rows[0];
  return (
    <SplitPane
      storageKey="compare"
      label="Width of the events"
      initial={0.62}
      first={<CompareTable rows={rows} chosen={chosen?.key} onChoose={choose} />}
      second={chosen ? <CompareOutputs key={chosen.key} row={chosen} /> : null}
    />
  );
}
