// Scores: what evaluators made of events, each once for a version and an event, together with the
// events' metrics.
// Source: docs/decisions.md, 22, 24 to 26; docs/evaluators.md.

import type { ProjectScope } from "../../access/scope.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Sql } from "../../postgres/database.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import type { RunResult } from "../runner/runner.ts";
import * as chunkStore from "./chunk-store.ts";
import type { ChunkCounts, ChunkSums, EvaluatorSums, Streak } from "./chunk-store.ts";
import { type ResultRow, toMetrics, toResultRow } from "./result-row.ts";
import * as store from "./store.ts";
import type { RunRow } from "./store.ts";

export type { ChunkCounts };

/** A project and the cluster that holds its events. */
export type ProjectPlace = Pick<ProjectScope, "projectId" | "clusterId">;

/** The version that a chunk runs, and what its scores are called. */
export type ChunkKey = {
  readonly chunkId: string;
  readonly evaluatorId: string;
  readonly version: number;
  readonly enablement: number;
  /** The version's name: the key of its scores in `metrics`. */
  readonly name: string;
};

/** A chunk that is to be made for a backfill. */
export type NewChunk = ChunkKey & {
  readonly backfillId: string;
  readonly workflowId: string;
};

/** `skip`: the event is not to be run on after all; nothing is kept of it. */
export type EndedRun = {
  readonly eventId: string;
  readonly result: RunResult | { readonly kind: "skip" };
};

export type Committed = {
  /** Results that counted; of the others the event is gone, or somebody else wrote them. */
  readonly committed: number;
  /** In this enablement up to now; stays when it has reached `failuresMax`. */
  readonly failuresInRow: number;
  /** What the metric's `_failure` says; absent where nothing failed in this enablement. */
  readonly lastFailure?: string;
};

/** One run of a version on an event. */
export type RunRecord = RunRow;

/** How an evaluator fares; what ended is counted of the chunks that were made since a time. */
export type EvaluatorCounts = EvaluatorSums & {
  readonly queued: number;
  readonly running: number;
  readonly oldestQueuedAt: Date | undefined;
  readonly failuresInRow: number;
  readonly lastFailure: string | undefined;
};

/** Events for a chunk. */
export type OfferedEvents = {
  readonly eventIds: readonly string[];
  /** Whether those that the version has failed on are run again. */
  readonly includeFailed: boolean;
  /** Further events that were passed over already; they count as skipped. */
  readonly skipped: number;
};

export type Scores = {
  /** Returns ids of the chunk's events that still have to run, by start time. */
  runningOf(project: ProjectPlace, chunkId: string): Promise<readonly string[]>;
  /**
   * Commits results, in their order: each ends its run and is merged into the event's metrics, both
   * or neither. A result whose run is not the chunk's any more changes nothing, so that a retry may
   * bring it again. Joins no transaction of the caller's on another cluster.
   */
  commitResults(
    project: ProjectPlace,
    chunk: ChunkKey,
    results: readonly EndedRun[],
  ): Promise<Committed>;
  /** Returns the failures in a row of an enablement, as `commitResults` does. */
  failuresInRow(
    project: ProjectPlace,
    evaluator: Pick<ChunkKey, "evaluatorId" | "enablement">,
  ): Promise<Omit<Committed, "committed">>;
  /**
   * Makes a backfill's chunk: of the events, those that the version has not run on, or has failed
   * on with `includeFailed`, are its own and running; the others count as skipped. Again changes
   * nothing. A chunk that got no event has ended. Returns what the chunk has.
   */
  openChunk(
    project: ProjectPlace,
    chunk: NewChunk,
    events: OfferedEvents,
  ): Promise<ChunkCounts & { readonly isEnded: boolean }>;
  /**
   * Ends a chunk; again changes nothing. What still has to run goes back to the queue, or is
   * dropped as if it had never been queued.
   */
  endChunk(project: ProjectPlace, chunkId: string, rest: "requeue" | "drop"): Promise<void>;
  /**
   * Takes what waits for the chunk's version into the chunk, until it has `eventsMax` events, and
   * returns which; none where nothing waits.
   */
  extendChunk(
    project: ProjectPlace,
    chunk: ChunkKey,
    eventsMax: number,
  ): Promise<readonly string[]>;
  /** Says that a chunk gets on, though no run of it has ended: it is not taken for lost. */
  touchChunk(project: ProjectPlace, chunkId: string): Promise<void>;
  /** Drops some of what waits for an evaluator that is disabled or deleted; returns how many. */
  dropQueued(project: ProjectPlace, evaluatorId: string): Promise<number>;
  /** Returns how far a chunk is; undefined when there is none. */
  countChunk(
    project: ProjectPlace,
    chunkId: string,
  ): Promise<(ChunkCounts & { readonly isEnded: boolean }) | undefined>;
  /** Returns the sums over a backfill's chunks. */
  countBackfill(project: ProjectPlace, backfillId: string): Promise<ChunkCounts>;
  /**
   * Returns the runs of an evaluator on an event, the newest version first: that of one version,
   * and those of the newest others, a hundred in all.
   */
  runsOf(
    project: ProjectPlace,
    evaluator: Pick<ChunkKey, "evaluatorId" | "version">,
    eventId: string,
  ): Promise<readonly RunRecord[]>;
  /** Returns how an evaluator fares. */
  countEvaluator(
    project: ProjectPlace,
    evaluator: Pick<ChunkKey, "evaluatorId" | "enablement">,
    since: Date,
  ): Promise<EvaluatorCounts>;
};

export type ScoresOptions = {
  readonly clusters: Pick<Clusters, "database">;
  readonly tracingOf: TracingOf;
  /** Failures in a row that disable an evaluator. */
  readonly failuresMax: number;
};

/** A metric may have ten thousand versions, each of which may run on an event. */
const runsMax = 100;

/** Narrow rows: some hundred milliseconds; of a backlog of millions the next turn drops more. */
const droppedMax = 10_000;

/** A chunk as SQL names it. */
type PlacedChunk = ChunkKey & { readonly projectId: string };

export function createScores(options: ScoresOptions): Scores {
  const { clusters, tracingOf, failuresMax } = options;
  const databaseOf = ({ clusterId }: ProjectPlace) => clusters.database(clusterId);
  const sqlOf = (project: ProjectPlace) => databaseOf(project).sql();

  /** Ends the runs and returns what of the results counted, in their order. */
  async function endRuns(
    sql: Sql,
    project: ProjectPlace,
    { chunk, rows }: { readonly chunk: PlacedChunk; readonly rows: readonly ResultRow[] },
  ): Promise<readonly ResultRow[]> {
    const { projectId } = project;
    const { metrics } = tracingOf(project);
    const ids = rows.map(({ eventId }) => eventId);
    // The events first, as every writer has it; deleting one goes on to its runs.
    const types = await metrics.lock(projectId, ids);
    const ended = await store.endRuns(sql, chunk, rows);
    const counted = rows.filter(({ eventId }) => ended.has(eventId));
    const merges = counted.map((row) => toMetrics(row, chunk.name));
    await metrics.merge(projectId, types, merges);
    return counted;
  }

  return {
    runningOf: (project, chunkId) => store.listRunning(sqlOf(project), project.projectId, chunkId),

    async commitResults(project, key, results) {
      const chunk = { ...key, projectId: project.projectId };
      const { rows, skipped } = sortResults(results);
      return databaseOf(project).transaction(async (sql) => {
        const counted = await endRuns(sql, project, { chunk, rows });
        const skips = await store.skipRuns(sql, chunk, skipped);
        const streak = await count(sql, chunk, { counted, failuresMax });
        await chunkStore.addToChunk(sql, chunk, { ...sumUp(counted), skipped: skips });
        return { committed: counted.length + skips, ...toAnswer(streak) };
      });
    },

    async failuresInRow({ projectId, clusterId }, evaluator) {
      const key = { projectId, ...evaluator };
      const sql = clusters.database(clusterId).sql();
      return toAnswer(await chunkStore.findStreak(sql, key, { isLocked: false }));
    },

    async openChunk(project, chunk, { eventIds, includeFailed, skipped }) {
      const placed = { ...chunk, projectId: project.projectId };
      return databaseOf(project).transaction(async (sql) => {
        if (await chunkStore.insertChunk(sql, placed)) {
          const take = { enablement: chunk.enablement, eventIds, includesFailed: includeFailed };
          const events = await store.takeRuns(sql, placed, take);
          const passed = skipped + eventIds.length - events;
          await chunkStore.fillChunk(sql, placed, { events, skipped: passed });
        }
        const counts = await chunkStore.findChunk(sql, placed.projectId, chunk.chunkId);
        if (counts === undefined) throw new Error("a chunk was made and is not there");
        return counts;
      });
    },

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
      store.deleteQueued(sqlOf(project), project.projectId, evaluatorId, droppedMax),

    countChunk: (project, chunkId) =>
      chunkStore.findChunk(sqlOf(project), project.projectId, chunkId),

    countBackfill: (project, backfillId) =>
      chunkStore.sumBackfill(sqlOf(project), project.projectId, backfillId),

    runsOf(project, { evaluatorId, version }, eventId) {
      const key = { projectId: project.projectId, evaluatorId, version };
      return store.listRuns(sqlOf(project), key, { eventId, limit: runsMax });
    },

    async countEvaluator(project, { evaluatorId, enablement }, since) {
      const { projectId } = project;
      const sql = sqlOf(project);
      const key = { projectId, evaluatorId, enablement };
      const waiting = await store.countWaiting(sql, projectId, evaluatorId);
      const sums = await chunkStore.sumEvaluator(sql, projectId, evaluatorId, since);
      const streak = await chunkStore.findStreak(sql, key, { isLocked: false });
      const { queued, running, oldest_queued_at: oldest } = waiting;
      return {
        ...sums,
        ...{ queued, running, oldestQueuedAt: oldest ?? undefined },
        failuresInRow: streak.failuresInRow,
        lastFailure: streak.lastFailure ?? undefined,
      };
    },
  };
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

/**
 * Counts failures in a row in the order of the results. A streak that has reached the bound stays:
 * whoever was to disable the evaluator may have been cut off, and its next chunk sees it.
 */
async function count(
  sql: Sql,
  { projectId, evaluatorId, enablement }: PlacedChunk,
  { counted, failuresMax }: { counted: readonly ResultRow[]; failuresMax: number },
): Promise<Streak> {
  const key = { projectId, evaluatorId, enablement };
  if (counted.some(({ state }) => state === "failed")) await chunkStore.ensureStreak(sql, key);
  const before = await chunkStore.findStreak(sql, key, { isLocked: true });
  let { failuresInRow, lastFailure } = before;
  for (const { failure } of counted) {
    if (failuresInRow >= failuresMax) break;
    failuresInRow = failure === null ? 0 : failuresInRow + 1;
    lastFailure = failure ?? lastFailure;
  }
  const isSame = failuresInRow === before.failuresInRow && lastFailure === before.lastFailure;
  const streak = { failuresInRow, lastFailure };
  if (!isSame) await chunkStore.setStreak(sql, key, streak);
  return streak;
}

function toAnswer({ failuresInRow, lastFailure }: Streak): Omit<Committed, "committed"> {
  return { failuresInRow, ...(lastFailure !== null && { lastFailure }) };
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
