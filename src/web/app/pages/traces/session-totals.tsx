// Totals of the sessions that are listed; says when more sessions match than are loaded.

import type { Session } from "../../../../../gen/waggle/v1/session_pb.js";
import { formatExactCount } from "../../design/format.ts";
import { Cost, Count, KeyValue, Tokens } from "../../design/values.tsx";

export type SessionTotalsProps = {
  readonly sessions: readonly Session[];
  readonly hasMore: boolean;
};

export function SessionTotals({ sessions, hasMore }: SessionTotalsProps) {
  const count = formatExactCount(sessions.length);
  const costs = sessions.flatMap(({ totals }) => totals?.cost ?? []);
  const sum = (valueOf: (totals: NonNullable<Session["totals"]>) => number): number =>
    sessions.reduce((total, { totals }) => total + (totals ? valueOf(totals) : 0), 0);
  return (
    <KeyValue
      isRow
      items={[
        { label: "Sessions", value: hasMore ? `first ${count}` : count },
        { label: "Events", value: <Count value={sum(({ numEvents }) => numEvents)} /> },
        { label: "Errors", value: <Count value={sum(({ numErrors }) => numErrors)} /> },
        { label: "Tokens", value: <Tokens value={sum(({ totalTokens }) => totalTokens)} /> },
        {
          label: "Cost",
          value: <Cost value={costs.length === 0 ? undefined : costs.reduce((a, b) => a + b, 0)} />,
        },
      ]}
    />
  );
}
