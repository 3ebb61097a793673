// Above the list: exact totals of everything that matches, calls and errors over time, whose brush
// is the time range, and the errors that came most.

import { Code, ConnectError } from "@connectrpc/connect";
import { CircleAlert, CircleCheck } from "lucide-react";
import type { ApiError } from "../../api/errors.ts";
import { Button } from "../../design/button.tsx";
import { formatCount } from "../../design/format.ts";
import { Histogram } from "../../design/histogram.tsx";
import { ErrorState, Skeleton } from "../../design/states.tsx";
import type { TimeRange } from "../../design/time-range.ts";
import { Cost, Count, Duration, KeyValue, Tokens } from "../../design/values.tsx";
import type { Histogram as CallsHistogram, Totals, ValueCount } from "./chart-answer.ts";
import type { Overview } from "./use-overview.ts";
import "./overview.css";

export type OverviewProps = {
  readonly overview: Overview;
  readonly isSessions: boolean;
  readonly onRange: (range: TimeRange) => void;
  /** Called with the message of an error: show the events that have it. */
  readonly onError: (message: string) => void;
};

const chartHeightPx = 76;

export function OverviewStrip({ overview, isSessions, onRange, onError }: OverviewProps) {
  const { histogram, errors, fault, counted, unknownFilters } = overview;
  if (unknownFilters.length > 0) {
    return (
      <section className="overview" aria-label="Overview">
        <p className="overview-note">
          No totals and no chart: {unknownFilters.join(", ")} is a total of a session, and charts
          count events. The list has every match.
        </p>
      </section>
    );
  }
  return (
    <section className="overview" aria-label="Overview">
      {fault && !overview.totals ? null : <TotalsRow overview={overview} isSessions={isSessions} />}
      {fault && isOfFilters(fault) ? (
        <p className="overview-fault">
          <CircleAlert aria-hidden /> These filters cannot be pictured: {fault.message}
        </p>
      ) : fault ? (
        <ErrorState error={fault} isInline onRetry={overview.retry} />
      ) : (
        <div className="overview-body">
          <div className="overview-chart">
            {histogram ? (
              <CallsChart histogram={histogram} counted={counted} onRange={onRange} />
            ) : (
              <Skeleton height={`${chartHeightPx}px`} />
            )}
          </div>
          <ErrorsPanel errors={errors} counted={counted} onError={onError} />
        </div>
      )}
    </section>
  );
}

/** Returns whether the service refused the question itself: to ask again would not help. */
function isOfFilters({ cause }: ApiError): boolean {
  return ConnectError.from(cause).code === Code.InvalidArgument;
}

type CallsChartProps = {
  readonly histogram: CallsHistogram;
  readonly counted: Overview["counted"];
  readonly onRange: (range: TimeRange) => void;
};

function CallsChart({ histogram, counted, onRange }: CallsChartProps) {
  const noun = counted === "calls" ? "Calls" : "Sessions";
  return (
    <Histogram
      label={`${noun} and errors over time`}
      times={histogram.times}
      unit={histogram.unit}
      series={[
        { label: `${noun} without error`, values: histogram.good, color: 1 },
        { label: "Errors", values: histogram.bad, color: "bad" },
      ]}
      format={formatCount}
      onRange={onRange}
    />
  );
}

function TotalsRow({ overview, isSessions }: Pick<OverviewProps, "overview" | "isSessions">) {
  const { totals, calls, isOld } = overview;
  if (!totals) return <Skeleton width="60%" height="18px" />;
  return (
    <div
      className="overview-totals"
      aria-busy={isOld}
      title={isOld ? undefined : "Exact: every match of the range counts."}
    >
      <KeyValue isRow items={isSessions ? sessionItems(totals, calls) : callItems(totals)} />
      <span className="overview-exact">{isOld ? "counting…" : "exact"}</span>
    </div>
  );
}

function callItems(totals: Totals) {
  return [
    { label: "Calls", value: <Count value={totals.count} /> },
    { label: "Errors", value: <Errors count={totals.errors} of={totals.count} /> },
    ...usageItems(totals, "Cost with estimates"),
  ];
}

function sessionItems(totals: Totals, calls: Totals | undefined) {
  const called = calls ?? totals;
  return [
    { label: "Sessions", value: <Count value={totals.count} /> },
    ...(calls ? [{ label: "Calls", value: <Count value={calls.count} /> }] : []),
    {
      // With filters the calls of the sessions are not known.
      label: calls ? "Errors" : "Errors of sessions themselves",
      value: <Errors count={called.errors} of={called.count} />,
    },
    ...usageItems(
      calls ? { ...totals, cost: calls.cost } : totals,
      calls ? "Cost with estimates" : "Cost as sent",
    ),
  ];
}

/** Filtered sessions add up the costs that were sent; calls without one have an estimate. */
function usageItems({ tokens, cost, medianMs, p95Ms }: Totals, costLabel: string) {
  return [
    { label: "Tokens", value: <Tokens value={tokens} /> },
    { label: costLabel, value: <Cost value={cost} /> },
    { label: "p50", value: <Duration value={medianMs} /> },
    { label: "p95", value: <Duration value={p95Ms} /> },
  ];
}

function Errors({ count, of }: { readonly count: number; readonly of: number }) {
  const share = of === 0 ? 0 : (count / of) * 100;
  return (
    <span data-tone={count > 0 ? "bad" : undefined} className="overview-errors-total">
      <Count value={count} />
      {count === 0 ? null : <small> ({formatShare(share)} %)</small>}
    </span>
  );
}

/** Formats a share above zero, which never reads as none. */
function formatShare(percent: number): string {
  if (percent < 0.1) return "<0.1";
  return percent < 1 ? percent.toFixed(1) : String(Math.round(percent));
}

type ErrorsPanelProps = {
  readonly errors: readonly ValueCount[] | undefined;
  readonly counted: Overview["counted"];
  readonly onError: (message: string) => void;
};

/** Most frequent error messages, with their counts. */
function ErrorsPanel({ errors, counted, onError }: ErrorsPanelProps) {
  if (!errors) return <Skeleton height={`${chartHeightPx}px`} />;
  if (errors.length === 0) {
    return (
      <p className="overview-fine">
        <CircleCheck aria-hidden />{" "}
        {counted === "calls"
          ? "No call has an error in this range"
          : "No session has an error of its own"}
      </p>
    );
  }
  return (
    <div className="overview-errors">
      <h2>What went wrong</h2>
      <ul>
        {errors.map(({ value, count }) => (
          <li key={value}>
            <Button variant="ghost" size="small" title={value} onClick={() => onError(value)}>
              <b className="numeric">{formatCount(count)}</b>
              <bdi className="truncate">{value.slice(0, 200)}</bdi>
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}
