// AlertPreview: what the alert would have seen in past periods, with its thresholds, and how often
// it would have triggered.

import { ChartService } from "../../../../../gen/waggle/v1/chart_pb.js";
import type { ApiError } from "../../api/errors.ts";
import { type RpcOptions, useRpc } from "../../api/query.ts";
import { TimeSeriesChart } from "../../design/chart.tsx";
import { type FilterRow, toMessage } from "../../design/filters.ts";
import { useNow } from "../../design/now.ts";
import { formatCounted, toNumber } from "../../design/format.ts";
import { ErrorState, Skeleton } from "../../design/states.tsx";
import { useSettled } from "../../design/use-settled.ts";
import { toAnswer } from "../charts/answer.ts";
import { formatOfAlert } from "./alert-values.ts";
import { describeCondition, periods } from "./alert-words.ts";
import { aggregationOf, type Draft, isMet, thresholdsOf } from "./draft.ts";
import { inWordsOfForm } from "./field-names.ts";
import { changesOf, fewestOf, pastPeriods } from "./past-periods.ts";
import { askedOf, eventCount, type Measure } from "./preview-question.ts";
import { thresholdSeries } from "./threshold-series.ts";

const settleMs = 300;

export type AlertPreviewProps = { readonly draft: Draft; readonly error: ApiError | null };

export function AlertPreview({ draft, error: saveError }: AlertPreviewProps) {
  const settled = useSettled(draft, settleMs);
  const { times, values, samples, error } = usePastValues(settled);
  const condition = {
    alertType: draft.alertType,
    aggregation: aggregationOf(draft),
    projections: [draft.projection, ...draft.others],
    frequency: draft.frequency,
  };
  const thresholds = thresholdsOf(draft);
  const lines =
    draft.alertType === "PER_EVENT"
      ? []
      : thresholdSeries({ thresholds: thresholds as never }, times?.length ?? 0);
  const count = values && samples && thresholds.critical && countMet(settled, values, samples);
  const period = periods[draft.frequency] ?? "period";
  const samplesMin = toNumber(settled.samples) ?? 0;
  return (
    <section className="alert-preview" aria-label="Preview">
      {saveError ? <ErrorState error={inWordsOfForm(saveError)} isInline /> : null}
      <h2>
        {thresholds.critical
          ? describeCondition(condition, thresholds.critical as never)
          : "Give a threshold to see how often it would have triggered"}
      </h2>
      <div className="alert-preview-picture">
        {error ? (
          <ErrorState error={error} isInline />
        ) : times && values ? (
          <TimeSeriesChart
            label="Values of past periods"
            times={times}
            series={[{ label: `each ${period}`, values }, ...lines]}
            format={formatOfAlert(condition)}
            heightPx={280}
          />
        ) : (
          <Skeleton height="280px" />
        )}
      </div>
      <p role="status">
        {count === undefined || !times
          ? ""
          : `It would have been met in ${count} of the last ${times.length} ${period}s` +
            (samplesMin > 0
              ? `; those with fewer than ${formatCounted(samplesMin, "event")} say nothing.`
              : ".")}
      </p>
    </section>
  );
}

/** Returns the values of past periods, and the number of events of each. */
function usePastValues(draft: Draft) {
  const isPerEvent = draft.alertType === "PER_EVENT";
  const { measures, filters, countedFilters } = askedOf(draft);
  const measured = usePeriods(draft, measures, filters);
  const counted = usePeriods(draft, [eventCount], countedFilters, { isEnabled: isPerEvent });
  const [first] = measured.series;
  const second = isPerEvent ? counted.series[0] : measured.series[1];
  const isDrift = draft.alertType === "DRIFT";
  const values = first && (isDrift ? changesOf(first.values) : first.values);
  // Both periods of a change must have enough events.
  const samples = second && (isDrift ? fewestOf(second.values) : second.values);
  return { times: measured.times, values, samples, error: measured.error ?? counted.error };
}

/** Asks for the values of measures in past periods. */
function usePeriods(
  { frequency }: Draft,
  measures: readonly Measure[],
  filters: readonly FilterRow[],
  { isEnabled = true }: Pick<RpcOptions, "isEnabled"> = {},
) {
  const { from, to } = pastPeriods(frequency, useNow());
  const { data, error } = useRpc(
    ChartService.method.queryChart,
    {
      dateRange: { startTime: from, endTime: to, timezone: "UTC" },
      filters: filters.map(toMessage),
      query: {
        kind: "time_series",
        measures: [...measures],
        bucket: { unit: periods[frequency] ?? "hour" },
      },
    },
    { keepsPrevious: true, staleMs: 60_000, isEnabled },
  );
  const answer = data?.data && toAnswer(data.data, false);
  const times = answer?.buckets.map((bucket) => (bucket.kind === "time" ? bucket.startMs : 0));
  return { times, series: answer?.series ?? [], error };
}

function countMet(
  draft: Draft,
  values: readonly (number | null)[],
  samples: readonly (number | null)[],
): number {
  const threshold = toNumber(draft.value) ?? 0;
  const samplesMin = toNumber(draft.samples) ?? 0;
  return values.filter((value, at) => {
    if (value === null || (samples[at] ?? 0) < samplesMin) return false;
    if (draft.alertType === "PER_EVENT") return value > 0;
    return isMet(draft.operator, value, threshold);
  }).length;
}
