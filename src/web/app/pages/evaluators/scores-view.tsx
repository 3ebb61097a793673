// ScoresView: the scores of an evaluator over time, how they are distributed, and by model.

import type { Metric } from "../../../../../gen/waggle/v1/metric_pb.js";
import { EmptyState } from "../../design/states.tsx";
import { TimeRangePicker } from "../../design/time-range-picker.tsx";
import { type TimeRange, weekRange } from "../../design/time-range.ts";
import { useSearchChange } from "../../shell/search.ts";
import { ChartAnswer } from "../charts/chart-answer.tsx";
import type { Question } from "../charts/question.ts";
import { useEventFields } from "../traces/event-fields.ts";
import { evaluatorRoute, type EvaluatorSearch } from "./route.tsx";
import { hasAverage, type ScoreField, scoredFilters, scoreFieldOf, timeUnitOf } from "./scores.ts";

const heightPx = 240;

export function ScoresView({ metric }: { readonly metric: Metric }) {
  const { range = weekRange } = evaluatorRoute.useSearch();
  const change = useSearchChange<EvaluatorSearch>();
  const setRange = (next: TimeRange): void => change({ range: next });
  const field = scoreFieldOf(metric.name, useEventFields());
  if (!field) {
    return (
      <EmptyState title="No scores yet">
        {metric.type === "HUMAN"
          ? "People give them in a queue, or beside an event of a trace."
          : "Let it run on events as they come, or score the past with a backfill."}
      </EmptyState>
    );
  }
  return (
    <div className="evaluator-scores">
      <div>
        <TimeRangePicker value={range} onChange={setRange} />
      </div>
      <div className="evaluator-charts">
        {chartsOf(field, timeUnitOf(range)).map(({ name, question }) => (
          <section key={name} className="evaluator-chart" aria-label={name}>
            <h2>{name}</h2>
            <ChartAnswer
              label={`${name} of ${metric.name}`}
              question={question}
              range={range}
              heightPx={heightPx}
              onRange={setRange}
            />
          </section>
        ))}
      </div>
    </div>
  );
}

type NamedQuestion = { readonly name: string; readonly question: Question };

function chartsOf(field: ScoreField, unit: string | undefined): readonly NamedQuestion[] {
  const { name: metric, type } = field;
  const filters = scoredFilters(field);
  const overTime = { kind: "time_series", ...(unit !== undefined && { unit }), filters } as const;
  const counted = [{ metric: "event_count" }];
  const byValue: NamedQuestion = {
    name: "Scores by value",
    question: { kind: "categorical", measures: counted, splitBy: metric, filters },
  };
  if (!hasAverage(field)) {
    const split = { ...overTime, measures: counted, splitBy: metric };
    return [{ name: "Scores over time", question: split }, byValue];
  }
  const measures = [{ metric, aggregation: "avg" }];
  return [
    { name: "Average score over time", question: { ...overTime, measures } },
    type.includes("boolean")
      ? byValue
      : {
          name: "Distribution of scores",
          question: { kind: "histogram", measures: [{ metric }], filters },
        },
    {
      name: "Average score by model",
      question: {
        kind: "categorical",
        measures: [...measures, ...counted],
        splitBy: "model",
        filters,
      },
    },
    { name: "Scores over time", question: { ...overTime, measures: counted } },
  ];
}
