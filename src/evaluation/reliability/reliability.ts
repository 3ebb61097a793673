// Reliability of a judge: compares its stored scores with those of people on the same events.
// Source: docs/judges.md; docs/decisions.md, 46.2 to 46.4.

import type { ProjectScope } from "../../access/scope.ts";
import { parseChoice } from "../../base/choices.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { isUuid } from "../../base/ids.ts";
import { parseTimeMs } from "../../base/iso-time.ts";
import { createPacer } from "../../base/pacer.ts";
import { reliabilityEventsMax } from "../../base/tenant-limits.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import { unescapeText } from "../../tracing/events/postgres-text.ts";
import {
  createReadContext,
  type ReadContext,
  type Reading,
} from "../../tracing/events/sized-read.ts";
import { allMetrics } from "../metrics/all-metrics.ts";
import type { Evaluator, Metrics } from "../metrics/metrics.ts";
import type { Score } from "../scores/score.ts";
import {
  type BucketName,
  bucketNames,
  compareScores,
  type Comparison,
  type JudgedEvent,
} from "./groups.ts";
import { type ScaleKind, scaleOf } from "./scale.ts";
import * as store from "./store.ts";

export type ReliabilityRequest = {
  readonly id: string;
  /** Name or id of a metric of type HUMAN. */
  readonly against: string;
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  readonly bucket?: string | undefined;
};

export type ReliabilityReport = Comparison & {
  readonly metric: string;
  readonly against: string;
  readonly kind: ScaleKind;
  readonly eventsConsidered: number;
  readonly eventsLeftOut: number;
  readonly humanScored: number;
};

export type Reliability = {
  /**
   * Compares the scores of a metric with those of people. Throws NOT_FOUND if the project has no
   * such metric, and INVALID_ARGUMENT naming the field.
   */
  report(
    project: ProjectScope,
    request: ReliabilityRequest,
    reading?: Reading,
  ): Promise<ReliabilityReport>;
};

export type ReliabilityOptions = {
  readonly metrics: Pick<Metrics, "get" | "list">;
  readonly clusters: Pick<Clusters, "database">;
  /** Maximum events to consider, and maximum scores on them. */
  readonly eventsMax?: number;
};

/** Bytes of a row in memory: two scores and the names of two models, and the ids. */
const rowBytes = 600;

export function createReliability(options: ReliabilityOptions): Reliability {
  const { metrics, clusters, eventsMax = reliabilityEventsMax } = options;
  return {
    async report({ projectId, clusterId }, request, reading) {
      const judge = await metrics.get(projectId, request.id);
      if (judge.definition.type === "HUMAN") {
        refuse("id", "must be a metric of type LLM or PYTHON; `against` names the HUMAN one");
      }
      const human = await getHuman(metrics, projectId, request.against);
      const bucket = parseBucket(request.bucket);
      const period = { projectId, ...parsePeriod(request) };
      const names = { judge: judge.definition.name, against: human.definition.name };
      const context = createReadContext(clusters.database(clusterId), projectId, reading);
      const compared = { evaluatorId: judge.id, humanName: names.against, eventsMax };
      const found = await readScores(context, period, compared);
      const kind = scaleOf(human.definition, judge.definition);
      const comparing = { kind, human: human.definition, judge: judge.definition };
      const pacer = createPacer(context.memory.holder);
      const comparison = await compareScores(found.events, comparing, { bucket, pacer });
      return {
        ...comparison,
        incomparable: comparison.incomparable + found.unreadable,
        metric: names.judge,
        against: names.against,
        kind,
        ...found.counts,
      };
    },
  };
}

type Compared = Omit<store.Compared, "rowsMax">;

async function readScores(context: ReadContext, period: store.Period, compared: Compared) {
  const { eventsMax } = compared;
  const { read } = context;
  // Most projects have few scores of people, and their reports reserve little memory.
  const fewRows = Math.ceil(eventsMax / 100);
  const rows =
    (await readRows(context, period, { ...compared, rowsMax: fewRows })) ??
    (await readRows(context, period, { ...compared, rowsMax: eventsMax }));
  if (rows === undefined) throw tooMany(eventsMax);
  const { considered = 0, human_scored: humanScored = 0 } = rows[0] ?? {};
  const isFull = considered >= eventsMax;
  const [total] = isFull ? await read((sql) => store.countEvents(sql, period)) : [];
  const eventsLeftOut = Math.max(0, (total?.count ?? considered) - considered);
  const events = rows.flatMap(toJudgedEvent);
  const paired = rows.filter(({ event_id }) => event_id !== null).length;
  return {
    events,
    unreadable: paired - events.length,
    counts: { eventsConsidered: considered, eventsLeftOut, humanScored },
  };
}

/** Reserves the memory of `rowsMax` rows. Returns undefined if there are more. */
async function readRows(
  { read, memory }: ReadContext,
  period: store.Period,
  compared: store.Compared,
): Promise<readonly store.ScoreRow[] | undefined> {
  const { rowsMax } = compared;
  memory.grow(rowsMax * rowBytes);
  // One extra row tells whether there are more.
  const rows = await read((sql) =>
    store.scoreRows(sql, period, { ...compared, rowsMax: rowsMax + 1 }),
  );
  if (rows.length <= rowsMax) return rows;
  memory.giveBack(rowsMax * rowBytes);
  return undefined;
}

async function getHuman(
  metrics: ReliabilityOptions["metrics"],
  projectId: ProjectScope["projectId"],
  against: string,
): Promise<Evaluator> {
  if (against === "") refuse("against", "is required: the name or id of a metric of type HUMAN");
  for await (const metric of allMetrics(metrics, projectId, "HUMAN")) {
    if (metric.definition.name === against || metric.id === against) return metric;
  }
  const noun = isUuid(against) ? "id" : "name";
  return refuse("against", `the project has no metric of type HUMAN with this ${noun}`);
}

function parseBucket(text: string | undefined): BucketName {
  return parseChoice("bucket", bucketNames, text || "day");
}

function parsePeriod({ start, end }: ReliabilityRequest) {
  const [startUs, endUs] = [parseBound("start", start), parseBound("end", end)];
  if (startUs !== undefined && endUs !== undefined && startUs > endUs) {
    refuse("start", "must not be after end");
  }
  return { startUs, endUs };
}

function parseBound(field: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const timeMs = parseTimeMs(text);
  if (timeMs === undefined) refuse(field, "must be Unix milliseconds or ISO 8601");
  return Math.round(timeMs * 1_000);
}

/** Returns no event if a score is not a boolean, number or short text. */
function toJudgedEvent(row: store.ScoreRow): JudgedEvent[] {
  const { event_id: eventId, start_time_us: startUs, model, judge_model: judgeModel } = row;
  const human = toScore(row.human_type, row.human);
  const judge = toScore(row.judge_type, row.judge);
  if (eventId === null || human === undefined || judge === undefined) return [];
  return [
    {
      eventId: unescapeText(eventId),
      startMs: startUs / 1_000,
      model: model === null ? undefined : unescapeText(model),
      judgeModel: judgeModel === null ? undefined : unescapeText(judgeModel),
      version: row.version,
      human,
      judge,
    },
  ];
}

function toScore(type: string, text: string | null): Score | undefined {
  if (text === null) return undefined;
  if (type === "boolean") return text === "true";
  if (type === "number") return Number(text);
  const isComparable = type === "string" && text.length <= store.textLengthMax;
  return isComparable ? unescapeText(text) : undefined;
}

function tooMany(eventsMax: number): ServiceError {
  const message =
    `the metric has more than ${eventsMax} scores on events that people scored; ` +
    "narrow the period by start and end";
  return new ServiceError("ANSWER_TOO_LARGE", message);
}
