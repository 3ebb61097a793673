// Steps of a backfill for its workflow: the next chunk of events, whether to continue, its end.
// Safe in any process and any number of times.
// Source: docs/decisions.md, 24.6; docs/evaluators.md, "Backfills".

import type { ProjectScope } from "../../access/scope.ts";
import { deriveUuid } from "../../base/ids.ts";
import * as limits from "../../base/limits.ts";
import { createFairPlaces, type FairPlaces } from "../../base/fair-places.ts";
import { findProject, type Scopes } from "../../controlplane/scopes/scopes.ts";
import {
  type BackfillInput,
  evaluateChunkEntry,
  type EvaluateChunkInput,
} from "../../outbox/entry.ts";
import type { Database } from "../../postgres/database.ts";
import type { EventPlace } from "../../tracing/selection/selection.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import type { RunnableEvaluator } from "../metrics/definition.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { hasGroundTruthFilter } from "../online/conditions.ts";
import type { Scores } from "../scores/scores.ts";
import { inTurn } from "../scores/turns.ts";
import { type BackfillProgress, toProgress } from "./progress.ts";
import { type EndState, isEnded } from "../end-state.ts";
import * as store from "./store.ts";
import type { BackfillKey, BackfillRow } from "./store.ts";

/** One run of a backfill: each resumption is another run with another workflow. */
export type BackfillRun = Pick<BackfillInput, "projectId" | "backfillId" | "run">;

type Step =
  | { readonly kind: "chunk"; readonly chunk: EvaluateChunkInput }
  /**
   * Nothing had to run for some time, or other backfills are searching: ask again, after a pause.
   */
  | { readonly kind: "again"; readonly pauseMs?: number }
  /** The backfill has stopped for now or for good. */
  | { readonly kind: "paused" | EndState; readonly error?: string }
  /** Another run has taken over. */
  | { readonly kind: "superseded" };

/** Next step of a workflow. */
export type NextChunk = Step & { readonly progress: BackfillProgress };

export type BackfillEnd = {
  readonly state: Exclude<EndState, "completed">;
  readonly error?: string;
};

export type BackfillRuns = {
  /**
   * Returns the run's next chunk, creating it if none is open. A chunk stays the next one until it
   * has ended, so that a lost workflow loses nothing. A requested stop takes effect here.
   */
  nextChunk(run: BackfillRun): Promise<NextChunk>;
  /** Returns whether a backfill continues; otherwise its chunk stops after its current events. */
  isRunning(backfill: BackfillKey): Promise<boolean>;
  /** Ends a run's backfill early; its unfinished events count as never reached. */
  finish(run: BackfillRun, end: BackfillEnd): Promise<void>;
  /** Fails the open backfill of an evaluator that the service disabled. */
  failOpenOf(projectId: string, evaluatorId: string, error: string): Promise<void>;
};

export type BackfillRunsOptions = {
  /** The control database. */
  readonly database: Database;
  readonly scopes: Pick<Scopes, "find">;
  readonly metrics: Pick<Metrics, "find">;
  readonly tracingOf: TracingOf;
  readonly scores: Pick<Scores, "findOpenChunk" | "openChunk" | "endChunk" | "countBackfill">;
  /** Places of backfills that search events. */
  readonly places?: FairPlaces;
  /** Maximum events of a chunk. */
  readonly chunkEventsMax?: number;
};

/** Maximum time of a call that skips pages without work. */
const passingMsMax = 10_000;

/**
 * Returns turns at searching events: few backfills search at a time, one per organization, so that
 * long searches of one tenant leave read connections to others. The wait is short, because a
 * waiting search holds a place of the worker that archives and revocations need too.
 */
export function createSearchTurns(): FairPlaces {
  return createFairPlaces({
    max: limits.backfillSelectionsMax,
    orgMax: 1,
    projectMax: 1,
    waitMs: 5_000,
    waitersMax: limits.backfillSelectionsWaitingMax,
    refusal: "the maximum number of backfills is reading events; try again",
  });
}

const nothingDone: BackfillProgress = { matched: 0, done: 0, scored: 0, failed: 0, skipped: 0 };

export function createBackfillRuns({
  places = createSearchTurns(),
  ...given
}: BackfillRunsOptions): BackfillRuns {
  const options = { ...given, places };
  const { database, scores } = options;

  async function progressOf(key: BackfillKey): Promise<BackfillProgress> {
    const row = await store.findBackfill(database.sql(), key);
    const project = row && (await findProject(options.scopes, row.projectId));
    if (!row || !project) return nothingDone;
    return toProgress(row, await scores.countBackfill(project, key.backfillId));
  }

  return {
    async nextChunk(run) {
      const untilMs = Date.now() + passingMsMax;
      let next: Step;
      do next = await takeStep(options, run);
      while (next.kind === "again" && next.pauseMs === undefined && Date.now() < untilMs);
      return { ...next, progress: await progressOf(run) };
    },

    async isRunning(key) {
      const row = await store.findBackfill(database.sql(), key);
      return row?.state === "running";
    },

    finish: (run, end) => finish(options, run, end),

    async failOpenOf(projectId, evaluatorId, error) {
      await database.transaction(async (sql) => {
        const row = await store.lockOpenBackfill(sql, projectId, evaluatorId);
        // Its workflow reads the state and releases the rest.
        if (row) await store.endBackfill(sql, store.keyOf(row), { state: "failed", error });
      });
    },
  };
}

type Options = BackfillRunsOptions & Required<Pick<BackfillRunsOptions, "places">>;

async function takeStep(options: Options, run: BackfillRun): Promise<Step> {
  const row = await stopIfAsked(options, run);
  if (!row) return { kind: "cancelled", error: "there is no such backfill" };
  if (row.run !== run.run) return { kind: "superseded" };
  if (row.state === "paused") return { kind: "paused" };
  const project = await findProject(options.scopes, row.projectId);
  if (isEnded(row.state)) {
    if (project) await letGo(options, project, row);
    // The error is in the record only: it may contain an evaluator's text, and Temporal must not
    // store such text.
    return { kind: row.state };
  }
  const { projectId, evaluatorId, version } = row;
  const evaluator = project && (await options.metrics.find(projectId, evaluatorId, version));
  if (!evaluator) {
    const what = project ? "metric was deleted" : "project was archived";
    const error = `the ${what}`;
    await finish(options, run, { state: "cancelled", error });
    return { kind: "cancelled", error };
  }
  return chunkOf(options, { project, row, evaluator });
}

/** Applies requested stops at a point where no event is running. */
async function stopIfAsked(
  { database }: BackfillRunsOptions,
  run: BackfillRun,
): Promise<BackfillRow | undefined> {
  return database.transaction(async (sql) => {
    const row = await store.findBackfill(sql, run, { lock: true });
    if (row?.run !== run.run) return row;
    if (row.state === "pausing") await store.updateState(sql, run, "paused");
    else if (row.state === "cancelling") {
      await store.endBackfill(sql, run, { state: "cancelled", error: undefined });
    } else return row;
    return store.findBackfill(sql, run);
  });
}

type BackfillContext = {
  readonly project: ProjectScope;
  readonly row: BackfillRow;
  readonly evaluator: RunnableEvaluator;
};

async function chunkOf(options: Options, context: BackfillContext): Promise<Step> {
  const { project, row } = context;
  const open = await options.scores.findOpenChunk(project, row.id);
  if (open) return { kind: "chunk", chunk: toInput(context, open) };
  return inTurn(options.places, { owner: project }, () => openChunk(options, context));
}

async function openChunk(options: BackfillRunsOptions, context: BackfillContext): Promise<Step> {
  const { database, tracingOf, chunkEventsMax = limits.chunkEventsMax } = options;
  const { project, row, evaluator } = context;
  const { projectId } = project;
  const { selection } = tracingOf(project);
  const search = {
    filters: [...evaluator.definition.filters.filterArray, ...row.filters],
    fromUs: row.fromUs ?? undefined,
    toUs: row.toUs ?? undefined,
  };
  const page = { after: row.after, limit: chunkEventsMax };
  const { places, next } = await selection.page(projectId, search, page);
  const last = next ?? places.at(-1);
  if (!last) return complete(options, row);
  const made = places.length > 0 ? await makeChunk(options, context, places) : undefined;
  // Last, because a process that dies earlier finds the chunk open or creates the same one again.
  // Also past the last page, so that continuous writes of a project do not keep the backfill at its
  // first page.
  await store.moveBackfill(database.sql(), { ...store.keyOf(row), run: row.run }, last);
  return made ? { kind: "chunk", chunk: toInput(context, made) } : { kind: "again" };
}

/** Creates the chunk of a page; returns undefined if nothing in it has to run. */
async function makeChunk(
  { scores, tracingOf }: BackfillRunsOptions,
  { project, row, evaluator }: BackfillContext,
  places: readonly EventPlace[],
): Promise<OpenChunk | undefined> {
  const ids = places.map(({ eventId }) => eventId);
  const eventIds = evaluator.readsGroundTruth
    ? await tracingOf(project).selection.matching(project.projectId, ids, [hasGroundTruthFilter])
    : ids;
  // The same page gives the same chunk id, however often it is reached.
  const chunkId = deriveUuid([row.id, ...ids].join(" "));
  const { evaluatorId, version, enablement, definition } = evaluator;
  const input = toInput({ project, row, evaluator }, { chunkId, enablement, events: 0 });
  const { workflowId } = evaluateChunkEntry(input);
  const { events, isEnded: hasRun } = await scores.openChunk(
    project,
    {
      chunkId,
      evaluatorId,
      version,
      enablement,
      name: definition.name,
      backfillId: row.id,
      workflowId,
    },
    { eventIds, includeFailed: row.includeFailed, skipped: ids.length - eventIds.length },
  );
  return hasRun ? undefined : { chunkId, enablement, events };
}

type OpenChunk = {
  readonly chunkId: string;
  readonly enablement: number;
  readonly events: number;
};

function toInput(
  { project, row, evaluator }: BackfillContext,
  { chunkId, enablement, events }: OpenChunk,
): EvaluateChunkInput {
  return {
    projectId: project.projectId,
    orgId: project.orgId,
    backfillId: row.id,
    evaluatorId: row.evaluatorId,
    version: row.version,
    actor: row.createdBy,
    evaluatorName: evaluator.definition.name,
    chunkId,
    enablement,
    events,
  };
}

async function complete({ database }: BackfillRunsOptions, row: BackfillRow): Promise<Step> {
  return database.transaction(async (sql) => {
    const now = await store.findBackfill(sql, store.keyOf(row), { lock: true });
    // It was paused or cancelled meanwhile; the next step applies that.
    if (now?.state !== "running" || now.run !== row.run) return { kind: "again" };
    await store.endBackfill(sql, store.keyOf(row), { state: "completed", error: undefined });
    return { kind: "completed" };
  });
}

async function finish(
  options: BackfillRunsOptions,
  run: BackfillRun,
  { state, error }: BackfillEnd,
): Promise<void> {
  const row = await options.database.transaction(async (sql) => {
    const before = await store.findBackfill(sql, run, { lock: true });
    if (before?.run === run.run && before.state !== "paused") {
      await store.endBackfill(sql, run, { state, error });
    }
    return store.findBackfill(sql, run);
  });
  const project = row && (await findProject(options.scopes, row.projectId));
  if (project && isEnded(row.state)) await letGo(options, project, row);
}

/** Ends the chunks that an ended backfill left open. */
async function letGo(
  { scores }: BackfillRunsOptions,
  project: ProjectScope,
  row: BackfillRow,
): Promise<void> {
  for (;;) {
    const open = await scores.findOpenChunk(project, row.id);
    if (!open) return;
    await scores.endChunk(project, open.chunkId, "drop");
  }
}
