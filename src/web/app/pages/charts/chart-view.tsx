// ChartView: an answer as its kind shows it. Every point leads to the events behind it, and every
// picture has its numbers as a table and as CSV.

import { useNavigate } from "@tanstack/react-router";
import { Copy as CopyIcon, Table2 } from "lucide-react";
import { useState } from "react";
import { useCurrentProjectId } from "../../api/project.ts";
import { IconButton } from "../../design/button.tsx";
import { type ChartSeries, HistogramChart, TimeSeriesChart } from "../../design/chart.tsx";
import { showToast } from "../../design/toast.tsx";
import { copyText } from "../../design/values.tsx";
import type { TimeRange } from "../../design/time-range.ts";
import { type Answer, type AnswerSeries, formatOf, toCsv, unitOf } from "./answer.ts";
import { BarList } from "./bar-list.tsx";
import { Bars } from "./bars.tsx";
import { eventsOf, type OpenEvents } from "./drill-down.ts";
import { NumberTable } from "./number-table.tsx";
import { isCounted, type Question } from "./question.ts";
import { Scalars } from "./scalars.tsx";
import "./chart-view.css";

export type ChartViewProps = {
  readonly label: string;
  readonly question: Question;
  readonly answer: Answer;
  readonly heightPx?: number;
  readonly onRange?: (range: TimeRange) => void;
};

function useOpenEvents(question: Question, answer: Answer): OpenEvents {
  const projectId = useCurrentProjectId();
  const navigate = useNavigate();
  return ({ bucket, series }) => {
    const isOther = series?.isOther ?? false;
    const search = eventsOf({ question, answer, bucket, split: series?.split, isOther });
    void navigate({
      to: "/app/p/$projectId/traces",
      params: { projectId },
      search: { ...search, tab: "events" },
    });
  };
}

export function ChartView(props: ChartViewProps) {
  const { question, answer, label } = props;
  const [isTable, setTable] = useState(false);
  const open = useOpenEvents(question, answer);
  const copy = () =>
    void copyText(toCsv(answer), "numbers").then(
      (isDone) => isDone && showToast({ text: "Copied the numbers as CSV" }),
    );
  const hasPicture = answer.kind !== "table" && answer.kind !== "scalar";
  return (
    <div className="chart-view">
      <div className="chart-view-acts">
        {hasPicture ? (
          <IconButton
            size="small"
            label={isTable ? "Show the chart" : "Show the numbers"}
            isPressed={isTable}
            icon={<Table2 />}
            onClick={() => setTable(!isTable)}
          />
        ) : null}
        <IconButton size="small" label="Copy as CSV" icon={<CopyIcon />} onClick={copy} />
      </div>
      {isTable || answer.kind === "table" ? (
        <NumberTable label={label} answer={answer} splitBy={question.splitBy} onOpen={open} />
      ) : (
        <Picture {...props} open={open} />
      )}
    </div>
  );
}

function Picture(props: ChartViewProps & { readonly open: OpenEvents }) {
  const { answer, label, open } = props;
  switch (answer.kind) {
    case "categorical":
      return <BarList label={label} answer={answer} onOpen={open} />;
    case "scalar":
      return <Scalars answer={answer} onOpen={open} />;
    case "histogram":
      return <Bars label={label} answer={answer} onOpen={open} />;
    default:
      return <OverTime {...props} />;
  }
}

/** Lines or bars over time: a picture for each unit, since one axis has one unit. */
function OverTime({
  question,
  answer,
  label,
  heightPx = 200,
  onRange,
  open,
}: ChartViewProps & { readonly open: OpenEvents }) {
  const times = answer.buckets.map((bucket) => (bucket.kind === "time" ? bucket.startMs : 0));
  const unitOfSeries = ({ measure }: AnswerSeries) =>
    unitOf(answer.measures[measure] ?? { metric: "" });
  const groups = [...Map.groupBy(answer.series, unitOfSeries).values()];
  const height = Math.max(80, Math.floor(heightPx / groups.length) - 34);
  return groups.map((group) => {
    const [first] = group;
    const measure = answer.measures[first?.measure ?? 0] ?? { metric: "event_count" };
    const shared = {
      label: groups.length === 1 ? label : `${label}: ${first?.label ?? ""}`,
      times,
      unit: answer.unit,
      series: group.map((one) => toChartSeries(one, question)),
      format: formatOf(measure),
      heightPx: height,
      hasOwnNumbers: true,
      ...(onRange && { onRange }),
      onPoint: (timeMs: number, name: string | undefined) =>
        open({
          bucket: answer.buckets[times.indexOf(timeMs)],
          series: group.find((one) => one.label === name),
        }),
    };
    return isCounted(measure) ? (
      <HistogramChart key={shared.label} {...shared} />
    ) : (
      <TimeSeriesChart key={shared.label} {...shared} />
    );
  });
}

function toChartSeries({ label, values, measure }: AnswerSeries, question: Question): ChartSeries {
  const isBad = question.measures[measure]?.metric === "error_rate" && !question.splitBy;
  return { label, values, ...(isBad && { color: "bad" as const }) };
}
