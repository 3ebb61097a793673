// From a point of a chart to the events behind it: the filters of the question, the bucket as the
// range, the value of the split as one more filter.

import type { FilterRow } from "../../design/filters.ts";
import type { TimeRange } from "../../design/time-range.ts";
import type { Answer, AnswerSeries, Bucket } from "./answer.ts";
import { withEventType } from "./chart-messages.ts";
import type { Question } from "./question.ts";

export type EventsPlace = {
  readonly range: TimeRange;
  readonly filters: readonly FilterRow[];
};

/** Opens the events behind a point; without a bucket all of the answer's range. */
export type OpenEvents = (point: {
  readonly bucket?: Bucket | undefined;
  readonly series?: AnswerSeries | undefined;
}) => void;

/** Fields of filters by the names that only charts have. */
const fieldOfColumn: Readonly<Record<string, string>> = {
  model: "config.model",
  cost: "metadata.cost",
  total_tokens: "metadata.total_tokens",
  tokens: "metadata.total_tokens",
  prompt_tokens: "metadata.prompt_tokens",
  completion_tokens: "metadata.completion_tokens",
  latency: "duration",
};

/** Returns the field of filters for a name that charts have. */
export function eventFilterField(name: string): string {
  return fieldOfColumn[name] ?? name;
}

type Point = {
  readonly question: Question;
  readonly answer: Answer;
  /** Absent for all of the range, as a single number has it. */
  readonly bucket?: Bucket | undefined;
  readonly split?: string | null | undefined;
  readonly isOther?: boolean;
};

/** Returns filters and range of the events of a point. */
export function eventsOf(point: Point): EventsPlace {
  const { question, answer, bucket } = point;
  const value = bucket?.kind === "value" ? bucket : undefined;
  const split = value ? value.value : point.split;
  const isOther = value?.isOther ?? point.isOther ?? false;
  return {
    range: rangeOf(answer, bucket),
    filters: [
      ...withEventType(question.filters),
      ...splitFilters(question, answer, split, isOther),
      ...(bucket?.kind === "bounds" ? boundFilters(question, answer, bucket) : []),
    ],
  };
}

const unitMs: Readonly<Record<string, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};

function rangeOf({ fromMs, toMs, buckets, unit }: Answer, bucket: Bucket | undefined): TimeRange {
  if (bucket?.kind !== "time") return { from: fromMs, to: toMs };
  const at = buckets.indexOf(bucket);
  const next = buckets[at + 1];
  const endMs =
    next?.kind === "time" ? next.startMs : bucket.startMs + (unitMs[unit ?? ""] ?? Infinity);
  return { from: Math.max(fromMs, bucket.startMs), to: Math.min(toMs, endMs - 1) };
}

function splitFilters(
  { splitBy }: Question,
  answer: Answer,
  split: string | null | undefined,
  isOther: boolean,
): readonly FilterRow[] {
  if (splitBy === undefined) return [];
  const field = eventFilterField(splitBy);
  if (isOther) {
    return namedSplits(answer).map((value) =>
      value === null
        ? // `is not` matches where the field is absent, and these events have a place of their own.
          { field, operator: "exists" }
        : { field, operator: "is not", value },
    );
  }
  if (split === undefined) return [];
  if (split === null) return [{ field, operator: "not exists" }];
  return [{ field, operator: "is", value: split }];
}

/** Returns the values that have a place or series of their own; null for no value. */
function namedSplits({ buckets, series }: Answer): readonly (string | null)[] {
  const values = [
    ...buckets.map((bucket) =>
      bucket.kind === "value" && !bucket.isOther ? bucket.value : undefined,
    ),
    ...series.map(({ split, isOther }) => (isOther ? undefined : split)),
  ];
  return [...new Set(values.filter((value) => value !== undefined))];
}

/** Bounds as filters that leave both ends out: the lower one is widened by the least amount. */
function boundFilters(
  { measures }: Question,
  { buckets }: Answer,
  bucket: Bucket & { kind: "bounds" },
): readonly FilterRow[] {
  const field = eventFilterField(measures[0]?.metric ?? "duration");
  const isLast = buckets.at(-1) === bucket;
  const least = (value: number): number => Math.max(Math.abs(value) * 1e-12, 1e-12);
  return [
    { field, operator: "greater than", value: bucket.from - least(bucket.from), type: "number" },
    {
      field,
      operator: "less than",
      value: isLast ? bucket.to + least(bucket.to) : bucket.to,
      type: "number",
    },
  ];
}
