// Scores: results of evaluators on events, one per version and event, together with the events'
// metrics. Source: docs/decisions.md, 22.4, 24.1, 25.1, 26; docs/evaluators.md.

import type { ProjectRef } from "../../access/scope.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Sql } from "../../postgres/database.ts";
import type { Mask } from "../../tracing/masking/mask.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import type { RunResult } from "../runner/runner.ts";
import {
  countFailures,
  type FailureCount,
  getFailures,
} from "../metrics/disable-after-failures.ts";
import * as chunkStore from "./chunk-store.ts";
import type { ChunkCounts, ChunkSums, MetricSums, OpenChunk } from "./chunk-store.ts";
import * as queuedStore from "./queued-store.ts";
import type { QueuedEvent, QueuedVersion } from "./queued-store.ts";
import { type ResultRow, toMetrics, toResultRow } from "./result-row.ts";
import * as store from "./store.ts";
import type { RunRow, ScoreCounts } from "./store.ts";

export type { ChunkCounts, QueuedEvent, ScoreCounts };

/** The version that a chunk runs, and the name of its scores. */
export type ChunkKey = {
  readonly chunkId: string;
  readonly evaluatorId: string;
  readonly version: number;
  readonly enablement: number;
  /** The version's name: the key of its scores in `metrics`. */
  readonly name: string;
};

/** A chunk to create for a backfill. */
export type NewChunk = ChunkKey & {
  readonly backfillId: string;
  readonly workflowId: string;
};

/** `skip`: the event no longer has to run; nothing is stored of it. */
export type EndedRun = {
  readonly eventId: string;
  readonly result: RunResult | { readonly kind: "skip" };
};

/** The failures in a row of this enablement after a commit. */
export type Committed = FailureCount & {
  /**
   * Number of results that counted. For the others the event was deleted, or another writer stored
   * them.
   */
  readonly committed: number;
};

/** One run of a version on an event. */
export type RunRecord = RunRow;

/** Statistics of an evaluator; ended runs are counted over the chunks created since a time. */
export type MetricCounts = MetricSums & {
  readonly queued: number;
  readonly running: number;
  readonly oldestQueuedAt: Date | undefined;
  readonly failuresInRow: number;
  readonly lastFailure: string | undefined;
};

/** Events for a chunk. */
export type OfferedEvents = {
  readonly eventIds: readonly string[];
  /** Whether events on which the version failed run again. */
  readonly includeFailed: boolean;
  /** Number of further events that were already passed over; they count as skipped. */
  readonly skipped: number;
};

export type Scores = {
  /** Returns the ids of the chunk's events that still have to run, by start time. */
  runningOf(project: ProjectRef, chunkId: string): Promise<readonly string[]>;
  /**
   * Queues runs of a version on events, which are held, unless the evaluator has run on them in any
   * version.
   */
  queueRuns(
    project: ProjectRef,
    evaluator: QueuedVersion,
    events: readonly QueuedEvent[],
  ): Promise<void>;
  /** Returns the number of waiting runs in a cluster, and the time of the oldest. */
  sumQueued(clusterId: string): Promise<{ readonly count: number; readonly oldest: Date | null }>;
  /**
   * Commits results, in their order: each ends its run and is merged into the event's metrics, both
   * or neither. A result whose run no longer belongs to the chunk changes nothing, so retries are
   * safe. Does not join the caller's transaction on another cluster.
   */
  commitResults(
    project: ProjectRef,
    chunk: ChunkKey,
    results: readonly EndedRun[],
  ): Promise<Committed>;
  /** Returns the failures in a row of an enablement, like `commitResults`. */
  failuresInRow(
    project: ProjectRef,
    evaluator: Pick<ChunkKey, "evaluatorId" | "enablement">,
  ): Promise<FailureCount>;
  /**
   * Creates a backfill's chunk. It takes, as running, the events that the version has not run on,
   * and with `includeFailed` those it failed on; the others count as skipped. Idempotent. A chunk
   * without events has ended. Returns the counts of the chunk.
   */
  openChunk(
    project: ProjectRef,
    chunk: NewChunk,
    events: OfferedEvents,
  ): Promise<ChunkCounts & { readonly isEnded: boolean }>;
  /** Returns the open chunk of a backfill; undefined if there is none. */
  findOpenChunk(
    project: ProjectRef,
    backfillId: string,
  ): Promise<Pick<OpenChunk, "chunkId" | "enablement" | "events"> | undefined>;
  /**
   * Ends a chunk; idempotent. Unfinished runs go back to the queue, or are dropped as if never
   * queued.
   */
  endChunk(project: ProjectRef, chunkId: string, rest: "requeue" | "drop"): Promise<void>;
  /**
   * Moves waiting runs of the chunk's version into the chunk, up to `eventsMax` events, and returns
   * their events; empty if nothing waits.
   */
  extendChunk(project: ProjectRef, chunk: ChunkKey, eventsMax: number): Promise<readonly string[]>;
  /**
   * Records progress of a chunk although no run of it has ended, so that it does not count as lost.
   */
  touchChunk(project: ProjectRef, chunkId: string): Promise<void>;
  /** Drops some waiting runs of a disabled or deleted evaluator; returns the number. */
  dropQueued(project: ProjectRef, evaluatorId: string): Promise<number>;
  /** Returns the progress of a chunk; undefined if there is none. */
  countChunk(
    project: ProjectRef,
    chunkId: string,
  ): Promise<(ChunkCounts & { readonly isEnded: boolean }) | undefined>;
  /** Returns the sums over a backfill's chunks. */
  countBackfill(project: ProjectRef, backfillId: string): Promise<ChunkCounts>;
  /**
   * Returns the runs of an evaluator on an event, newest version first: those of `version` and of
   * the newest other versions, a hundred in all.
   */
  runsOf(
    project: ProjectRef,
    evaluator: Pick<ChunkKey, "evaluatorId" | "version">,
    eventId: string,
  ): Promise<readonly RunRecord[]>;
  /** Counts the scores of events by evaluator. */
  countEvents(
    project: ProjectRef,
    eventIds: readonly string[],
  ): Promise<readonly (ScoreCounts & { readonly evaluatorId: string })[]>;
  /** Returns the statistics of an evaluator. */
  countMetric(
    project: ProjectRef,
    evaluator: Pick<ChunkKey, "evaluatorId" | "enablement">,
    since: Date,
  ): Promise<MetricCounts>;
};

export type ScoresOptions = {
  readonly clusters: Pick<Clusters, "database">;
  readonly tracingOf: TracingOf;
  /** Failures in a row that disable an evaluator. */
  readonly failuresMax: number;
};

/** Maximum runs to list: a metric may have ten thousand versions, each with a run on the event. */
const runsMax = 100;

/**
 * Maximum runs dropped per turn. The rows are narrow: this takes some hundred milliseconds; a
 * larger backlog takes several turns.
 */
const droppedMax = 10_000;

/** A chunk with its project, for SQL. */
type ProjectChunk = ChunkKey & { readonly projectId: string };

export function createScores(options: ScoresOptions): Scores {
  const { clusters, tracingOf, failuresMax } = options;
  const databaseOf = ({ clusterId }: ProjectRef) => clusters.database(clusterId);
  const sqlOf = (project: ProjectRef) => databaseOf(project).sql();

  /** Ends the runs and returns the results that counted, in their order. */
  async function endRuns(
    sql: Sql,
    project: ProjectRef,
    { chunk, rows }: { readonly chunk: ProjectChunk; readonly rows: readonly ResultRow[] },
  ): Promise<readonly ResultRow[]> {
    const { projectId } = project;
    const { metrics } = tracingOf(project);
    const ids = rows.map(({ eventId }) => eventId);
    // Locks the events first, like every writer; deleting an event then deletes its runs.
    const types = await metrics.lock(projectId, ids);
    const ended = await store.endRuns(sql, chunk, rows);
    const counted = rows.filter(({ eventId }) => ended.has(eventId));
    const merges = counted.map((row) => toMetrics(row, chunk.name));
    await metrics.merge(projectId, types, merges);
    return counted;
  }

  return {
    async runningOf(project, chunkId) {
      const ids = await store.listRunning(sqlOf(project), project.projectId, chunkId);
      return tracingOf(project).metrics.inOrder(project.projectId, ids);
    },

    queueRuns: (project, evaluator, events) =>
      queuedStore.insertQueuedRuns(sqlOf(project), evaluator, events),

    sumQueued: (clusterId) => queuedStore.sumQueued(clusters.database(clusterId).sql()),

    async commitResults(project, key, results) {
      const chunk = { ...key, projectId: project.projectId };
      const mask = await tracingOf(project).maskOf(project.projectId);
      const { rows, skipped } = sortResults(mask ? await maskAll(mask, results) : results);
      return databaseOf(project).transaction(async (sql) => {
        const counted = await endRuns(sql, project, { chunk, rows });
        const skips = await store.skipRuns(sql, chunk, skipped);
        const failures = counted.map(({ failure }) => failure);
        const count = await countFailures(sql, chunk, { failures, failuresMax });
        await chunkStore.addToChunk(sql, chunk, { ...sumUp(counted), skipped: skips });
        return { committed: counted.length + skips, ...count };
      });
    },

    failuresInRow: (project, { evaluatorId, enablement }) =>
      getFailures(sqlOf(project), { projectId: project.projectId, evaluatorId, enablement }),

    async openChunk(project, chunk, { eventIds, includeFailed, skipped }) {
      const placed = { ...chunk, projectId: project.projectId };
      return databaseOf(project).transaction(async (sql) => {
        if (await chunkStore.insertChunk(sql, placed)) {
          const held = [...(await tracingOf(project).metrics.hold(project.projectId, eventIds))];
          const { enablement } = chunk;
          const take = { enablement, eventIds: held, includesFailed: includeFailed };
          const events = await store.takeRuns(sql, placed, take);
          const passed = skipped + eventIds.length - events;
          await chunkStore.fillChunk(sql, placed, { events, skipped: passed });
        }
        const counts = await chunkStore.findChunk(sql, placed.projectId, chunk.chunkId);
        if (counts === undefined) throw new Error("a chunk was made and is not there");
        return counts;
      });
    },

    findOpenChunk: (project, backfillId) =>
      chunkStore.findOpenChunk(sqlOf(project), project.projectId, backfillId),

    async endChunk(project, chunkId, rest) {
      const { projectId } = project;
      await databaseOf(project).transaction(async (sql) => {
        if (rest === "requeue") await store.requeueRuns(sql, projectId, chunkId);
        else await store.dropRuns(sql, projectId, chunkId);
        await chunkStore.endChunk(sql, projectId, chunkId);
      });
    },

    extendChunk: (project, key, eventsMax) =>
      databaseOf(project).transaction((sql) =>
        chunkStore.extendChunk(sql, { ...key, projectId: project.projectId }, eventsMax),
      ),

    touchChunk: (project, chunkId) =>
      chunkStore.touchChunk(sqlOf(project), project.projectId, chunkId),

    dropQueued: (project, evaluatorId) =>
      queuedStore.deleteQueued(sqlOf(project), project.projectId, evaluatorId, droppedMax),

    countChunk: (project, chunkId) =>
      chunkStore.findChunk(sqlOf(project), project.projectId, chunkId),

    countBackfill: (project, backfillId) =>
      chunkStore.sumBackfill(sqlOf(project), project.projectId, backfillId),

    runsOf(project, { evaluatorId, version }, eventId) {
      const key = { projectId: project.projectId, evaluatorId, version };
      return store.listRuns(sqlOf(project), key, { eventId, limit: runsMax });
    },

    countEvents: (project, eventIds) =>
      store.countEvents(sqlOf(project), project.projectId, eventIds),

    async countMetric(project, { evaluatorId, enablement }, since) {
      const { projectId } = project;
      const sql = sqlOf(project);
      const key = { projectId, evaluatorId, enablement };
      const waiting = await queuedStore.countWaiting(sql, projectId, evaluatorId);
      const sums = await chunkStore.sumMetric(sql, projectId, evaluatorId, since);
      const { failuresInRow, lastFailure } = await getFailures(sql, key);
      const { queued, running, oldest_queued_at: oldest } = waiting;
      return {
        ...sums,
        queued,
        running,
        oldestQueuedAt: oldest ?? undefined,
        failuresInRow,
        lastFailure,
      };
    },
  };
}

async function maskAll(mask: Mask, runs: readonly EndedRun[]): Promise<readonly EndedRun[]> {
  const masked: EndedRun[] = [];
  for (const { eventId, result } of runs) {
    masked.push({
      eventId,
      result: result.kind === "skip" ? result : await maskResult(mask, result),
    });
  }
  return masked;
}

function sortResults(results: readonly EndedRun[]) {
  const rows: ResultRow[] = [];
  const skipped: string[] = [];
  for (const { eventId, result } of results) {
    if (result.kind === "skip") skipped.push(eventId);
    else rows.push(toResultRow(eventId, result));
  }
  return { rows, skipped };
}

function sumUp(rows: readonly ResultRow[]): Omit<ChunkSums, "skipped"> {
  const calls = rows.flatMap(({ judge }) => judge ?? []);
  const sum = (numbers: readonly (number | null)[]) =>
    numbers.reduce<number>((total, number) => total + (number ?? 0), 0);
  return {
    scored: rows.filter(({ state }) => state === "scored").length,
    failed: rows.filter(({ state }) => state === "failed").length,
    promptTokens: sum(calls.map(({ promptTokens }) => promptTokens)),
    completionTokens: sum(calls.map(({ completionTokens }) => completionTokens)),
    cost: sum(calls.map(({ cost }) => cost)),
    unpriced: calls.filter(({ cost }) => cost === null).length,
  };
}

/**
 * Returns a result whose stored texts are masked, which an evaluator's code, a judge's model or a
 * provider wrote; before they are cut, which may halve a match. Source: docs/masking.md.
 */
export async function maskResult(mask: Mask, result: RunResult): Promise<RunResult> {
  const { judge } = result;
  const rest = judge ? { judge: { ...judge, answer: await mask.text(judge.answer) } } : {};
  if (result.kind === "failure") {
    return { ...result, ...rest, message: await mask.text(result.message) };
  }
  const { score, explanation } = result;
  return {
    ...result,
    ...rest,
    score: await mask.value(score),
    explanation: explanation === undefined ? undefined : await mask.text(explanation),
  };
}
