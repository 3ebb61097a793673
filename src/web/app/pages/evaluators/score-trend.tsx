// ScoreTrend: the average of an evaluator's scores in the last seven days, and its course.

import type { Metric } from "../../../../../gen/waggle/v1/metric_pb.js";
import { formatTime } from "../../design/format.ts";
import { Sparkline } from "../../design/sparkline.tsx";
import { weekRange } from "../../design/time-range.ts";
import { useAnswer } from "../charts/chart-answer.tsx";
import { type Question, questionDefault } from "../charts/question.ts";
import { useEventFields } from "../traces/event-fields.ts";
import { averageOf, dailyAverage, formatAverage, hasAverage, scoreFieldOf } from "./scores.ts";

export function ScoreTrend({ metric }: { readonly metric: Metric }) {
  const field = scoreFieldOf(metric.name, useEventFields());
  const isAsked = field !== undefined && hasAverage(field);
  const question: Question = isAsked ? dailyAverage(field) : questionDefault;
  const { answer } = useAnswer(question, weekRange, isAsked);
  const average = isAsked && answer ? averageOf(answer) : undefined;
  if (!answer || average === undefined) return <span aria-label="no average">–</span>;
  const values = answer.series[0]?.values ?? [];
  return (
    <span className="score-trend" title={`since ${formatTime(answer.fromMs)}`}>
      <Sparkline
        label={`Average of each day: ${values.map((value) => wordOf(metric, value)).join(", ")}`}
        values={values}
      />
      <b className="numeric">{formatAverage(metric, average)}</b>
    </span>
  );
}

function wordOf(metric: Metric, value: number | null): string {
  return value === null ? "none" : formatAverage(metric, value);
}
