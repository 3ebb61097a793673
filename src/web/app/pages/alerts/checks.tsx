// Checks: the values that an alert saw, as a chart with its thresholds and as a list.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { useCallback, useMemo } from "react";
import {
  type Alert,
  type AlertEvaluation,
  AlertService,
} from "../../../../../gen/waggle/v1/alert_pb.js";
import { useCurrentProjectId } from "../../api/project.ts";
import { useMore, useRpcPages } from "../../api/query.ts";
import { Status } from "../../design/badge.tsx";
import { TimeSeriesChart } from "../../design/chart.tsx";
import { countColumn, timeColumn } from "../../design/columns.tsx";
import { ReadState } from "../../design/states.tsx";
import { type Column, Table } from "../../design/table.tsx";
import { useRowPages } from "../../shell/row-pages.ts";
import { fromFilter } from "../charts/chart-messages.ts";
import { fieldName } from "../charts/question.ts";
import { AlertPreview } from "./alert-preview.tsx";
import { describeValue, formatOfAlert, measuresByUnit, noteOf } from "./alert-values.ts";
import { outcomeTones } from "./alert-tones.ts";
import { fromAlert } from "./draft.ts";
import { thresholdSeries } from "./threshold-series.ts";

const pageSize = 200;

export function Checks({ alert }: { readonly alert: Alert }) {
  const pages = useRpcPages(
    AlertService.method.listAlertEvaluations,
    { alertId: alert.id, limit: pageSize },
    { refreshMs: 30_000 },
  );
  const more = useMore(pages);
  const rows = useMemo(() => pages.data?.pages.flatMap(({ data }) => data) ?? [], [pages.data]);
  const columns = useMemo(() => columnsOf(alert), [alert]);
  const projectId = useCurrentProjectId();
  const rowPages = useRowPages(
    useCallback(
      ({ windowStart, windowEnd }: AlertEvaluation) => {
        if (!windowStart || !windowEnd) return undefined;
        const range = { from: timestampMs(windowStart), to: timestampMs(windowEnd) - 1 };
        const search = { range, filters: alert.filters.map(fromFilter) };
        return {
          to: "/app/p/$projectId/traces",
          params: { projectId },
          search: { ...search, tab: "events" },
        };
      },
      [projectId, alert],
    ),
  );
  const state = <ReadState read={pages} what="Loading checks" />;
  if (!pages.data) return state;
  return (
    <div className="alert-history">
      {state}
      {rows.length > 1 ? <ValuesChart alert={alert} checks={rows} /> : null}
      <Table
        label="Checks"
        isMain
        columns={columns}
        rows={rows}
        idOf={({ windowEnd }) => String(windowEnd && timestampMs(windowEnd))}
        toneOf={({ outcome }) => (outcome === "critical" ? "bad" : undefined)}
        {...rowPages}
        {...more}
        empty={<NoCheck alert={alert} />}
      />
    </div>
  );
}

/** Until the first check, which may be a month away, the values of past periods stand there. */
function NoCheck({ alert }: { readonly alert: Alert }) {
  const draft = useMemo(() => fromAlert(alert), [alert]);
  return (
    <div className="alert-no-check">
      <p className="soft">
        <b>No check yet.</b> The first one comes after the end of the period: see “Next check”
        above. These are the values of the periods before it.
      </p>
      <AlertPreview draft={draft} error={null} />
    </div>
  );
}

type ValuesChartProps = { readonly alert: Alert; readonly checks: readonly AlertEvaluation[] };

/** A picture for each unit of the measures, since one axis has one unit. */
function ValuesChart({ alert, checks }: ValuesChartProps) {
  const ordered = checks.toReversed();
  const times = ordered.map(({ windowStart }) => (windowStart ? timestampMs(windowStart) : 0));
  const lines = alert.alertType === "PER_EVENT" ? [] : thresholdSeries(alert, times.length);
  const groups = measuresByUnit(alert);
  return groups.map((projections) => {
    const series = projections.map((projection) => ({
      label: fieldName(projection),
      values: ordered.map(
        ({ values }) => values.find((value) => value.projection === projection)?.value ?? null,
      ),
    }));
    const names = groups.length === 1 ? [] : series.map(({ label }) => label);
    return (
      <TimeSeriesChart
        key={projections[0]}
        label={[`Values that the checks of ${alert.name} saw`, ...names].join(", ")}
        times={times}
        series={[...series, ...lines]}
        format={formatOfAlert(alert, projections[0])}
        heightPx={Math.max(90, Math.floor(180 / groups.length))}
      />
    );
  });
}

function columnsOf(alert: Alert): readonly Column<AlertEvaluation>[] {
  return [
    {
      id: "outcome",
      header: "Outcome",
      width: 112,
      cell: ({ outcome }) => <Status tone={outcomeTones[outcome] ?? "neutral"}>{outcome}</Status>,
    },
    {
      id: "period",
      isMajor: true,
      header: "Period start",
      width: 170,
      cell: ({ windowStart }) => (
        <span className="numeric">
          {windowStart ? formatPeriod(timestampMs(windowStart)) : "–"}
        </span>
      ),
    },
    ...alert.projections.map((projection, index) => ({
      id: `value-${index}`,
      header: fieldName(projection),
      width: 120,
      align: "end" as const,
      cell: ({ values }: AlertEvaluation) => {
        const value = values.find((one) => one.projection === projection)?.value;
        return (
          <span className="numeric">
            {value === undefined ? "–" : describeValue(alert, value, projection)}
          </span>
        );
      },
    })),
    countColumn({
      id: "sample",
      header: "Events",
      width: 84,
      count: ({ sampleSize }) => sampleSize,
    }),
    timeColumn({ id: "checked", header: "Checked", at: ({ evaluatedAt }) => evaluatedAt }),
    {
      id: "note",
      header: "Note",
      width: 200,
      grow: 1,
      cell: ({ error, values }) => (
        <span className="truncate" title={error}>
          {error ?? noteOf(alert, values)}
        </span>
      ),
    },
  ];
}

const period = new Intl.DateTimeFormat("en", {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
  timeZone: "UTC",
  timeZoneName: "short",
});

function formatPeriod(timeMs: number): string {
  return period.format(timeMs);
}
