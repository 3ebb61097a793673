// The totals of two sessions, and how the second differs from the first.

import { Link } from "@tanstack/react-router";
import { useCurrentProjectId } from "../../api/project.ts";
import { formatCost, formatCount, formatDuration } from "../../design/format.ts";
import type { Skeleton } from "../session/use-skeleton.ts";
import { Difference } from "./difference.tsx";

type Measure = {
  readonly label: string;
  readonly of: (skeleton: Skeleton) => number | undefined;
  readonly format: (value: number) => string;
};

const measures: readonly Measure[] = [
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
    <table className="compare-totals numeric">
      <thead>
        <tr>
          <th scope="col">Session</th>
          {measures.map(({ label }) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <Side letter="A" skeleton={left} />
        <Side letter="B" skeleton={right} />
        <tr>
          <th scope="row">B − A</th>
          {measures.map(({ label, of, format }) => (
            <td key={label}>
              <Difference a={of(left)} b={of(right)} format={format} />
            </td>
          ))}
        </tr>
      </tbody>
    </table>
  );
}

function Side({ letter, skeleton }: { readonly letter: string; readonly skeleton: Skeleton }) {
  const projectId = useCurrentProjectId();
  const session = skeleton.tree?.nodes[0]?.event;
  return (
    <tr>
      <th scope="row">
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
      </th>
      {measures.map(({ label, of, format }) => {
        const value = of(skeleton);
        return <td key={label}>{value === undefined ? "–" : format(value)}</td>;
      })}
    </tr>
  );
}
