// The totals of two sessions, and how the second differs from the first.

import { Link } from "@tanstack/react-router";
import { useCurrentProjectId } from "../../api/project.ts";
import { formatCost, formatCount, formatDuration } from "../../design/format.ts";
import type { Skeleton } from "../session/use-skeleton.ts";
import { type Measure, TotalsTable } from "./totals-table.tsx";

const measures: readonly Measure<Skeleton>[] = [
  {
    label: "Duration",
    of: ({ tree }) => tree?.nodes[0]?.event.durationMs,
    format: formatDuration,
  },
  { label: "Events", of: ({ totals }) => totals?.numEvents, format: formatCount },
  { label: "Errors", of: ({ totals }) => totals?.numErrors, format: formatCount },
  { label: "Tokens", of: ({ totals }) => totals?.totalTokens || undefined, format: formatCount },
  { label: "Cost", of: costOf, format: formatCost },
];

/** Returns the cost with estimates once all events are there, until then the sent cost. */
function costOf({ totals, estimate }: Skeleton): number | undefined {
  return estimate ? estimate.cost : totals?.cost;
}

export type CompareTotalsProps = { readonly left: Skeleton; readonly right: Skeleton };

export function CompareTotals({ left, right }: CompareTotalsProps) {
  return (
    <TotalsTable
      kind="Session"
      first={{ name: <Name letter="A" skeleton={left} />, value: left }}
      second={{ name: <Name letter="B" skeleton={right} />, value: right }}
      difference="B − A"
      measures={measures}
    />
  );
}

function Name({ letter, skeleton }: { readonly letter: string; readonly skeleton: Skeleton }) {
  const projectId = useCurrentProjectId();
  const session = skeleton.tree?.nodes[0]?.event;
  return (
    <>
      <span className="compare-letter">{letter}</span>
      {session ? (
        <Link
          to="/app/p/$projectId/traces/$sessionId"
          params={{ projectId, sessionId: session.id }}
          title={session.id}
        >
          {session.name.slice(0, 60)}
        </Link>
      ) : null}
    </>
  );
}
