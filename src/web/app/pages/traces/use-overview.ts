// Overview of all matching sessions or events: exact totals, calls and errors over time, and the
// most frequent errors. All of it comes from the charts of the API, so that it never covers loaded
// rows only.

import { useMemo } from "react";
import { ChartService } from "../../../../../gen/waggle/v1/chart_pb.js";
import type { ApiError } from "../../api/errors.ts";
import { useRpc } from "../../api/query.ts";
import { type FilterRow, toMessage } from "../../design/filters.ts";
import { zoneName } from "../../design/time-range.ts";
import {
  histogramMeasures,
  toHistogram,
  toTotals,
  totalsMeasures,
  toValueCounts,
} from "./chart-answer.ts";
import { type Question, toChartFilters, totalsIn } from "./question.ts";

const liveRefreshMs = 10_000;
const pointsMax = 100;
const errorsMax = 5;

export type Overview = {
  /** Filters that no chart knows, by their fields; there is no overview then. */
  readonly unknownFilters: readonly string[];
  /** The things that are counted. */
  readonly counted: "sessions" | "calls";
  readonly totals: ReturnType<typeof toTotals> | undefined;
  readonly histogram: ReturnType<typeof toHistogram> | undefined;
  readonly errors: ReturnType<typeof toValueCounts> | undefined;
  /** Whether some of it still answers the question before. */
  readonly isOld: boolean;
  readonly fault: ApiError | undefined;
  /** Asks again for the parts that failed. */
  readonly retry: () => void;
  /** Calls of the range, for a list of sessions without filters. */
  readonly calls: ReturnType<typeof toTotals> | undefined;
};

/**
 * Reads the overview of a question. A list of sessions without filters is pictured by the calls of
 * its range; with filters by its sessions, since those filters say nothing about calls.
 */
export function useOverview(question: Question, isLive: boolean): Overview {
  const isSessions = question.tab === "sessions";
  const isOfCalls = !isSessions || question.filters.length === 0;
  const unknownFilters = totalsIn(question);
  const isEnabled = unknownFilters.length === 0;
  const shared = { refreshMs: isLive && liveRefreshMs, keepsPrevious: true, isEnabled };
  const ofCalls: Question = isSessions ? { ...question, tab: "events" } : question;
  const pictured = isOfCalls ? ofCalls : question;
  const filters = toChartFilters(question);
  const picturedFilters = toChartFilters(pictured);
  const { queryChart } = ChartService.method;
  const scalars = { kind: "scalar", measures: totalsMeasures };
  const totals = useRpc(queryChart, chart(question, filters, scalars), shared);
  const calls = useRpc(queryChart, chart(question, picturedFilters, scalars), {
    ...shared,
    isEnabled: isEnabled && isSessions && isOfCalls,
  });
  const overTime = {
    kind: "time_series",
    measures: histogramMeasures,
    bucket: { maxPoints: pointsMax },
  };
  const histogram = useRpc(queryChart, chart(question, picturedFilters, overTime), shared);
  const withError: FilterRow = { field: "error", operator: "exists" };
  const byError = {
    kind: "table",
    measures: histogramMeasures.slice(0, 1),
    splitBy: "error",
    splitRanking: { limit: errorsMax, includeOther: false },
  };
  const ofErrors = chart(question, [...picturedFilters, withError], byError);
  const errors = useRpc(queryChart, ofErrors, shared);
  const parts = [totals, calls, histogram, errors];
  return {
    unknownFilters,
    counted: isOfCalls ? "calls" : "sessions",
    totals: useMemo(() => totals.data && toTotals(totals.data), [totals.data]),
    calls: useMemo(() => calls.data && toTotals(calls.data), [calls.data]),
    histogram: useMemo(() => histogram.data && toHistogram(histogram.data), [histogram.data]),
    errors: useMemo(() => errors.data && toValueCounts(errors.data), [errors.data]),
    isOld: parts.some(({ isPlaceholderData }) => isPlaceholderData),
    fault: parts.find(({ error }) => error)?.error ?? undefined,
    retry: () => {
      for (const part of parts) if (part.error) void part.refetch();
    },
  };
}

type ChartParts = {
  readonly kind: string;
  readonly measures: readonly { metric: string; aggregation: string; id: string }[];
  readonly bucket?: { readonly maxPoints: number };
  readonly splitBy?: string;
  readonly splitRanking?: { readonly limit: number; readonly includeOther: boolean };
};

/** Returns a request for a chart of a question. */
export function chart(
  { from, to }: Question,
  filters: readonly FilterRow[],
  { measures, ...query }: ChartParts,
) {
  return {
    dateRange: { startTime: from, ...(to !== undefined && { endTime: to }), timezone: zoneName },
    filters: filters.map(toMessage),
    query: { ...query, measures: [...measures] },
  };
}
