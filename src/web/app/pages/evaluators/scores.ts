// Questions about the scores of an evaluator, for the charts of the API.

import type { Metric } from "../../../../../gen/waggle/v1/metric_pb.js";
import { serviceNow } from "../../api/clock.ts";
import type { FilterRow } from "../../design/filters.ts";
import { formatScore } from "../../design/format.ts";
import { boundsOf, type TimeRange } from "../../design/time-range.ts";
import type { Answer } from "../charts/answer.ts";
import type { Question } from "../charts/question.ts";

/** Field of scores, as the catalogue of the project has it. */
export type ScoreField = {
  readonly name: string;
  readonly type: string;
  /** Types of the events with a score, with commas. */
  readonly hint?: string;
};

/** Returns the field of an evaluator's scores; undefined before the first score. */
export function scoreFieldOf(name: string, fields: readonly ScoreField[]): ScoreField | undefined {
  return fields.find((field) => field.name === `metrics.${name}`);
}

/** Returns whether the scores have an average: numbers and booleans. */
export function hasAverage({ type }: ScoreField): boolean {
  return /integer|decimal|boolean/.test(type);
}

/**
 * Returns the filters of the scored events: without sessions where none has a score, and with
 * them where some have, since a chart asks which types count.
 */
export function scoredFilters({ name, hint = "" }: ScoreField): readonly FilterRow[] {
  const types = hint.split(", ");
  const ofType: FilterRow = types.every((type) => type === "session")
    ? { field: "event_type", operator: "is", value: "session" }
    : {
        field: "event_type",
        operator: "is not",
        value: types.includes("session") ? "" : "session",
      };
  return [ofType, { field: name, operator: "exists" }];
}

/** Returns the question for the average of each day, with the number of scores. */
export function dailyAverage(field: ScoreField): Question {
  const { name: metric } = field;
  return {
    kind: "time_series",
    measures: [
      { metric, aggregation: "avg" },
      { metric, aggregation: "count" },
    ],
    unit: "day",
    filters: scoredFilters(field),
  };
}

const dailyFromMs = 3 * 86_400_000;

/** Returns the unit of a chart of scores: days from three on, since an hour may have few scores. */
export function timeUnitOf(range: TimeRange): string | undefined {
  const { from, to = serviceNow() } = boundsOf(range, serviceNow());
  return to - from >= dailyFromMs ? "day" : undefined;
}

/** Returns the average over all days of an answer to `dailyAverage`; undefined without a score. */
export function averageOf({ series }: Answer): number | undefined {
  const [averages, counts] = series;
  const count = counts?.values.reduce<number>((sum, value) => sum + (value ?? 0), 0) ?? 0;
  if (!averages || count === 0) return undefined;
  const sum = averages.values.reduce<number>(
    (total, value, at) => total + (value ?? 0) * (counts?.values[at] ?? 0),
    0,
  );
  return sum / count;
}

/** Formats an average: that of booleans is the share of those that are true. */
export function formatAverage({ returnType }: Metric, average: number): string {
  if (returnType !== "boolean") return formatScore(average);
  return `${Number((average * 100).toPrecision(3))} %`;
}
