// A question of a chart as the app holds it: in addresses, for the API, and out of stored charts.

import { type FilterRow, parseFilters } from "../../design/filters.ts";

export const kinds = ["time_series", "categorical", "scalar", "histogram", "table"] as const;
export type ChartKind = (typeof kinds)[number];

export type Measure = {
  readonly metric: string;
  /** Absent for the one that the service takes by itself. */
  readonly aggregation?: string | undefined;
};

export type Question = {
  readonly kind: ChartKind;
  readonly measures: readonly Measure[];
  /** Field whose values have a series of their own. */
  readonly splitBy?: string;
  /** Number of values of the split; default 10. */
  readonly splits?: number;
  /** Unit of the buckets of time; absent for the one that fits the range. */
  readonly unit?: string;
  /** Number of bars of a histogram. */
  readonly bars?: number;
  readonly filters: readonly FilterRow[];
};

export const questionDefault: Question = {
  kind: "time_series",
  measures: [{ metric: "event_count" }],
  filters: [],
};

const measuresMax = 10;

/** Reads the question of an address; undefined for another form. */
export function parseQuestion(question: unknown): Question | undefined {
  if (typeof question !== "object" || question === null) return undefined;
  const given = question as Record<string, unknown>;
  const kind = kinds.find((one) => one === given["kind"]);
  const { measures } = given;
  if (kind === undefined || !Array.isArray(measures)) return undefined;
  const good = measures.filter(isMeasure).slice(0, measuresMax);
  if (good.length === 0) return undefined;
  return {
    kind,
    measures: good,
    filters: parseFilters(given["filters"]) ?? [],
    ...(isText(given["splitBy"]) && { splitBy: given["splitBy"] }),
    ...(isText(given["unit"]) && { unit: given["unit"] }),
    ...(isCount(given["splits"]) && { splits: given["splits"] }),
    ...(isCount(given["bars"]) && { bars: given["bars"] }),
  };
}

function isMeasure(value: unknown): value is Measure {
  if (typeof value !== "object" || value === null) return false;
  const { metric, aggregation } = value as Record<string, unknown>;
  return isText(metric) && (aggregation === undefined || isText(aggregation));
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}

/** Returns whether the kind shows one place for each value of the split, and so needs one. */
export function needsSplit(kind: ChartKind): boolean {
  return kind === "categorical" || kind === "table";
}

/** Returns whether values are counts or sums, which stand as bars over time. */
export function isCounted({ metric, aggregation }: Measure): boolean {
  return metric === "event_count" && (aggregation === undefined || aggregation === "count");
}

const names: Readonly<Record<string, string>> = {
  event_count: "events",
  error_rate: "error rate",
  total_tokens: "tokens",
  tokens: "tokens",
  prompt_tokens: "prompt tokens",
  completion_tokens: "completion tokens",
  latency: "duration",
  "config.configuration.name": "prompt",
  "config.configuration.version": "prompt version",
};

/** Returns a field as people read it. */
export function fieldName(metric: string): string {
  return names[metric] ?? metric;
}

/** Returns a measure as people read it, such as `p95 duration`. */
export function measureName({ metric, aggregation }: Measure): string {
  const name = fieldName(metric);
  if (metric === "event_count") return name;
  // A rate is an average; its other aggregations are something else and have their name.
  if (metric === "error_rate" && (aggregation ?? "avg") === "avg") return name;
  const usual = ["cost", "total_tokens", "prompt_tokens", "completion_tokens"].includes(metric);
  const shown = aggregation ?? (usual ? "sum" : "avg");
  return shown === "sum" && usual ? name : `${shown} ${name}`;
}
