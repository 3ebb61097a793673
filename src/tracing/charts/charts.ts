// Charts over the events of a project: values of measures by time, by the values of a field, or in
// all. Exact: every matching event counts, late and changed ones too.
// Source: docs/decisions.md, 17, 27, 47.1; docs/charts.md.

import { createByteBudget, type Reservation } from "../../base/byte-budget.ts";
import { refuse } from "../../base/errors.ts";
import { isUuid, type ProjectId } from "../../base/ids.ts";
import type { JsonValue } from "../../base/json.ts";
import { statementTimeoutsMs } from "../../base/limits.ts";
import { chartValueBytes } from "../../base/tenant-limits.ts";
import type { Database, Read } from "../../postgres/database.ts";
import { codeOf } from "../../base/error-code.ts";
import { unescapeOrNull, unescapeText } from "../events/postgres-text.ts";
import type { Reading } from "../events/sized-read.ts";
import type { Condition } from "../export/condition.ts";
import { type FilterInput, parseFilters } from "../export/filter.ts";
import type { EventQuery } from "../export/place-store.ts";
import { isOfAnyRun, isOfRun } from "../export/run-conditions.ts";
import type { FieldCatalogue, ProjectFields } from "../fields/fields.ts";
import { type BucketUnit, startsInUtc, type TimeRange, zoneFault } from "./buckets.ts";
import {
  type ChartQuestion,
  type ChartRequest,
  type Measure,
  namesOf,
  parseQuestion,
} from "./chart-query.ts";
import { numberSource } from "./fields.ts";
import * as store from "./store.ts";
import type { CellRow, MeetingRow } from "./store.ts";
import { type Asking, createSummaries, type Summaries } from "./summaries/summaries.ts";
import type { Threshold } from "./threshold.ts";

export type ChartSeries = {
  /** Id of the measure. */
  readonly measure: string;
  /** Value of the split; null for events without it, for the others, and without a split. */
  readonly split: string | null;
  /** True for the series of all values without their own series. */
  readonly isOther: boolean;
  /** One for each bucket; null without a number. */
  readonly values: readonly (number | null)[];
};

export type ChartResult = {
  readonly kind: ChartQuestion["kind"];
  /** Starts of time in ISO 8601, values of the split, or the bounds of bars; none for a scalar. */
  readonly buckets: readonly JsonValue[];
  /** True if the last bucket is for all values without their own; a value may have its name. */
  readonly hasOtherBucket: boolean;
  readonly series: readonly ChartSeries[];
  readonly measures: readonly Measure[];
  readonly range: TimeRange;
  readonly timezone: string;
  readonly unit: BucketUnit | undefined;
  /** Number of events that the chart is about. */
  readonly matched: number;
  /** Number of different values of the split; 0 without one. */
  readonly splits: number;
  readonly warnings: readonly string[];
};

export type Charts = {
  /**
   * Answers a question. Throws INVALID_ARGUMENT and INVALID_FILTER naming the field, and
   * DEADLINE_EXCEEDED if it takes longer than 20 s, its waits included, which Postgres enforces.
   */
  query(projectId: ProjectId, request: ChartRequest, reading?: Reading): Promise<ChartResult>;
  /** Returns the recorded fields of a project, which tell what it can measure. */
  fieldsOf(projectId: ProjectId): Promise<ProjectFields>;
  /** Counts the events whose value of the measure meets a threshold. Throws like `query`. */
  countMeeting(
    projectId: ProjectId,
    request: MeetingRequest,
    reading?: Reading,
  ): Promise<MeetingRow>;
};

export type MeetingRequest = {
  readonly filters: readonly FilterInput[];
  readonly metric: string;
  readonly threshold: Threshold;
  /** Unix milliseconds, the end excluded. */
  readonly range: TimeRange;
  /** Number of the events that are named. */
  readonly named: number;
};

export type ChartsOptions = {
  readonly database: Database;
  readonly fields: FieldCatalogue;
};

export function createCharts({ database, fields }: ChartsOptions): Charts {
  const summaries = createSummaries();
  return {
    async query(projectId, request, reading = {}) {
      const endsAtMs = performance.now() + statementTimeoutsMs.charts;
      const recorded = await fields.fieldsOf(projectId, reading);
      const question = parseQuestion(request, recorded, Date.now());
      const conditions = [...parseFilters(request.filters, recorded), ...runConditions(request)];
      const { fromMs, toMs } = question.range;
      const query = { projectId, conditions, fromUs: fromMs * 1_000, toUs: toMs * 1_000 };
      const { organization, signal, memory = createByteBudget(Infinity).open() } = reading;
      const read = database.reader({
        owner: projectId,
        organization,
        signal,
        kind: "charts",
        endsAtMs,
        lesserRead,
      });
      const asking = { read, query, question, organization, signal, memory, endsAtMs };
      try {
        return await answer(asking, request, summaries);
      } catch (error) {
        if (codeOf(error) === outOfRangeCode) return refuseTooLarge(request);
        // Some names are known to the runtime alone.
        if (codeOf(error) === unknownZoneCode) return refuse(namesOf(request).timezone, zoneFault);
        throw error;
      }
    },

    fieldsOf: (projectId) => fields.fieldsOf(projectId),

    async countMeeting(projectId, { filters, metric, threshold, range, named }, reading = {}) {
      const { organization, signal } = reading;
      const recorded = await fields.fieldsOf(projectId, reading);
      const conditions = parseFilters(filters, recorded);
      const source = numberSource("metric", metric, recorded);
      const { fromMs, toMs } = range;
      const query = { projectId, conditions, fromUs: fromMs * 1_000, toUs: toMs * 1_000 };
      const read = database.reader({
        owner: projectId,
        organization,
        signal,
        kind: "charts",
        lesserRead,
      });
      const row = await store.countMeeting(read, query, { source, threshold, named });
      return { ...row, eventIds: row.eventIds.map(unescapeText) };
    },
  };
}

const lesserRead =
  "a narrower date range, a filter on more, a larger bucket, or a split with fewer values";

/** Throws INVALID_ARGUMENT unless the run's id is a UUID. */
function runConditions({ run }: ChartRequest): readonly Condition[] {
  if (run?.id !== undefined && run.id !== "") {
    if (!isUuid(run.id)) refuse(run.field, "must be a UUID");
    return isOfRun(run.id);
  }
  return run?.isAny === true ? isOfAnyRun : [];
}

function refuseTooLarge(request: ChartRequest): never {
  return refuse(namesOf(request).measures, "the numbers are too large to be added up");
}

/** numeric_value_out_of_range. */
const outOfRangeCode = "22003";
/** invalid_parameter_value, which Postgres has for the name of a time zone alone. */
const unknownZoneCode = "22023";

async function answer(
  { memory, ...asking }: Omit<Asking, "starts">,
  request: ChartRequest,
  summaries: Summaries,
): Promise<ChartResult> {
  const { read, query, question } = asking;
  const { kind, range, unit, timezone, measures, split } = question;
  if (kind === "histogram") return histogram(read, query, question);
  const times = unit && (await listStarts(read, range, unit, timezone));
  const starts = times ?? [0];
  const values = starts.length * ((split?.limit ?? 0) + 1) * measures.length;
  holdValues(namesOf(request).measures, memory, values);
  const summed = await summaries.listCells({ ...asking, memory, starts });
  if (summed?.some(({ values }) => values.some((value) => !Number.isFinite(value ?? 0))))
    refuseTooLarge(request);
  const cells = summed ?? (await store.listCells(read, query, { ...question, starts }));
  const rows = cells.map((row) => {
    const text = unescapeOrNull(row.split);
    return text === row.split ? row : { ...row, split: text };
  });
  return toResult(question, rows, times);
}

/** Counts the values of an answer, which the call holds until it is sent. */
function holdValues(field: string, memory: Reservation, values: number): void {
  const bytes = values * chartValueBytes;
  if (bytes > memory.bytesMax) {
    const wayOut = "ask for fewer buckets, measures or values of the split";
    refuse(field, `an answer of up to ${values} values does not fit into memory; ${wayOut}`);
  }
  memory.grow(bytes);
}

async function listStarts(
  read: Read,
  range: TimeRange,
  unit: BucketUnit,
  timezone: string,
): Promise<readonly number[]> {
  const starts = timezone === "UTC" ? startsInUtc(range, unit) : undefined;
  return starts ?? store.listBuckets(read, range, unit, timezone);
}

/** Parts of a result that the question has. */
function partsOf({ kind, measures, range, timezone, unit }: ChartQuestion) {
  return { kind, measures, range, timezone, unit };
}

function toResult(
  question: ChartQuestion,
  rows: readonly CellRow[],
  times: readonly number[] | undefined,
): ChartResult {
  const { measures, split, kind } = question;
  const [some] = rows;
  const splits = split ? (some?.splits ?? 0) : 0;
  const isBySplit = kind === "categorical" || kind === "table";
  const ranked = [...new Map(rows.map((row) => [row.rank, row])).values()]
    .filter(({ isOther }) => !isOther || split?.includeOther === true)
    .toSorted((left, right) => left.rank - right.rank);
  const valuesOf = cellsOf(rows, isBySplit ? undefined : times);
  const valueAt = (at: number, bucket: number, rank: number): number | null =>
    valuesOf(bucket, rank)?.[at] ?? (isCounted(measures[at]) ? 0 : null);
  const seriesOf = (measure: Measure, at: number): readonly ChartSeries[] => {
    const own = { measure: measure.id };
    if (isBySplit) {
      const values = ranked.map(({ rank }) => valueAt(at, 0, rank));
      return [{ ...own, split: null, isOther: false, values }];
    }
    const lines = split ? ranked : [{ rank: 1, split: null, isOther: false }];
    return lines.map((line) => ({
      ...own,
      split: line.split,
      isOther: line.isOther,
      values: (times ?? [0]).map((_, bucket) => valueAt(at, bucket, line.rank)),
    }));
  };
  const hidden = split && !split.includeOther ? splits - ranked.length : 0;
  return {
    ...partsOf(question),
    buckets: isBySplit
      ? ranked.map(({ split: value, isOther }) => (isOther ? "other" : value))
      : (times ?? []).map((time) => new Date(time).toISOString()),
    hasOtherBucket: isBySplit && ranked.at(-1)?.isOther === true,
    series: measures.flatMap(seriesOf),
    matched: some?.matched ?? 0,
    splits,
    warnings: hidden > 0 ? [`${hidden} of ${splits} values of split_by are not shown`] : [],
  };
}

/** Returns the function that finds the values of a bucket, by its place, and of a rank. */
function cellsOf(rows: readonly CellRow[], times: readonly number[] | undefined) {
  const placeOf = new Map(times?.map((time, place) => [time, place]));
  const width = rows.reduce((most, { rank }) => Math.max(most, rank), 0) + 1;
  // Undefined without events.
  const cells: CellRow["values"][] = [];
  for (const { bucketMs, rank, values } of rows) {
    cells[(placeOf.get(bucketMs) ?? 0) * width + rank] = values;
  }
  return (bucket: number, rank: number): CellRow["values"] | undefined =>
    cells[bucket * width + rank];
}

/** Returns whether a measure is 0 without events. */
function isCounted(measure: Measure | undefined): boolean {
  return measure?.aggregation === "count" || measure?.aggregation === "sum";
}

async function histogram(
  read: Read,
  query: EventQuery,
  question: ChartQuestion,
): Promise<ChartResult> {
  const rows = await store.listBars(read, query, question);
  const { least = null, greatest = null, matched = 0 } = rows[0] ?? {};
  const counts = new Map(rows.map(({ bar, count }) => [bar, count]));
  const isOne = least === greatest;
  const bars = least === null ? 0 : isOne ? 1 : question.bars;
  const bound = (at: number): number =>
    // The difference of both may be too large for a number.
    least === null || greatest === null ? 0 : least * (1 - at / bars) + greatest * (at / bars);
  const all = Array.from({ length: bars }, (_, at) => at);
  return {
    ...partsOf(question),
    buckets: all.map((at) => ({ from: bound(at), to: bound(at + 1) })),
    hasOtherBucket: false,
    series: question.measures.map(({ id }) => ({
      measure: id,
      split: null,
      isOther: false,
      values: all.map((at) => counts.get(at) ?? 0),
    })),
    matched,
    splits: 0,
    warnings: (counts.get(null) ?? 0) > 0 ? [`${counts.get(null)} events have no number`] : [],
  };
}
