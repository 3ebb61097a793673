// Steps of an execution for its workflow: the next datapoints, the wait for scores, the end. Safe
// in any process and any number of times. Source: docs/experiments.md, "Execution";
// docs/decisions.md, 39.6.

import type { ProjectScope } from "../../access/scope.ts";
import type { FairPlaces } from "../../base/fair-places.ts";
import { executionFailuresMax } from "../../base/tenant-limits.ts";
import { findProject, type Scopes } from "../../controlplane/scopes/scopes.ts";
import type { ExecuteRunInput } from "../../outbox/entry.ts";
import type { Database } from "../../postgres/database.ts";
import type { Datasets } from "../datasets/datasets.ts";
import type { DatasetExports, PageOfVersion } from "../datasets/files/exports.ts";
import type { RunProgressReader } from "../runs/progress.ts";
import type { Runs } from "../runs/runs.ts";
import { inTurn } from "../scores/turns.ts";
import {
  type DatapointOutcome,
  type DatapointParts,
  type DatapointRun,
  idsOf,
  runDatapoint,
} from "./run-datapoint.ts";
import { type EndState, isEnded } from "../end-state.ts";
import * as store from "./store.ts";
import type { ExecutionCounts, ExecutionRow, ResultRow } from "./store.ts";

/** One turn of an execution. */
export type ExecutionTurn = Pick<ExecuteRunInput, "projectId" | "runId" | "turn">;

type Step =
  /** Ask again, after a pause. */
  | { readonly kind: "again"; readonly pauseMs?: number; readonly isScoring?: boolean }
  | { readonly kind: EndState }
  /** Another turn has taken over. */
  | { readonly kind: "superseded" };

export type NextStep = Step & {
  readonly progress: ExecutionCounts & { readonly datapoints: number };
};

export type ExecutionEnd = {
  readonly state: Exclude<EndState, "completed">;
  readonly error?: string | undefined;
};

export type ExecutionRuns = {
  /**
   * Does the next part of the work. A requested cancellation takes effect here; one of the signal
   * ends the calls under way, which are made again later.
   */
  step(turn: ExecutionTurn, signal: AbortSignal): Promise<NextStep>;
  /** Ends an execution early. */
  finish(turn: ExecutionTurn, end: ExecutionEnd): Promise<void>;
};

export type ExecutionRunsOptions = DatapointParts & {
  /** The control database. */
  readonly database: Database;
  readonly scopes: Pick<Scopes, "find">;
  readonly runs: Pick<Runs, "find" | "update">;
  readonly datasets: Pick<Datasets, "find">;
  readonly datasetExports: Pick<DatasetExports, "page">;
  readonly progress: RunProgressReader;
  /** Places of concurrent steps. */
  readonly places: FairPlaces;
};

/** Datapoints of a step: a cancellation waits for it, and a crash repeats its look-ups. */
const datapointsOfStep = 100;
/** Pause between two looks at the scores. */
const scoringPauseMs = 2_000;

const datasetGone = "the dataset was deleted";

export function createExecutionRuns(options: ExecutionRunsOptions): ExecutionRuns {
  const { database } = options;
  return {
    async step(turn, signal) {
      const step = await takeStep(options, turn, signal);
      const row = await store.findExecution(database.sql(), turn);
      const counts = await store.countResults(database.sql(), turn);
      return { ...step, progress: { datapoints: row?.datapoints ?? 0, ...counts } };
    },
    finish: (turn, end) => finish(options, turn, end),
  };
}

async function takeStep(
  options: ExecutionRunsOptions,
  turn: ExecutionTurn,
  signal: AbortSignal,
): Promise<Step> {
  const row = await store.findExecution(options.database.sql(), turn);
  if (!row) return { kind: "cancelled" };
  if (row.turn !== turn.turn) return { kind: "superseded" };
  if (isEnded(row.state)) {
    await tellRun(options, row);
    return { kind: row.state };
  }
  const end = (state: EndState, error?: string) => endWith(options, row, { state, error });
  if (row.state === "cancelling") return end("cancelled");
  const project = await findProject(options.scopes, row.projectId);
  if (!project) return end("cancelled", "the project was archived");
  const run = await options.runs.find(project, row.runId);
  if (!run) return end("cancelled", "the run was deleted");
  if (row.state === "scoring") {
    const { isComplete } = await options.progress.read(project, run);
    if (isComplete) return end("completed");
    await store.moveExecution(options.database.sql(), row, row.afterPosition);
    return { kind: "again", pauseMs: scoringPauseMs, isScoring: true };
  }
  if (!(await options.datasets.find(project, row.datasetId))) {
    return end("failed", datasetGone);
  }
  return inTurn(options.places, { owner: project, signal }, () =>
    runPage(options, { project, row }, signal),
  );
}

type Context = { readonly project: ProjectScope; readonly row: ExecutionRow };

async function runPage(
  options: ExecutionRunsOptions,
  { project, row }: Context,
  signal: AbortSignal,
): Promise<Step> {
  const sql = options.database.sql();
  const { datasetId, datasetVersion: version, afterPosition } = row;
  const place = { datasetId, version, afterPosition };
  const page = await options.datasetExports.page(project, place, datapointsOfStep);
  if (!page) return endWith(options, row, { state: "failed", error: datasetGone });
  const ids = page.items.map(({ id }) => id);
  const results = new Map(
    (await store.listResults(sql, row, ids)).map((result) => [result.datapointId, result]),
  );
  const left = page.items.filter(({ id }) => (results.get(id)?.state ?? "again") === "again");
  const stop = await runAll(options, { project, row, left, results }, signal);
  if (stop) return stop;
  if (page.next === undefined) await store.startScoring(sql, row);
  else await store.moveExecution(sql, row, page.next);
  return { kind: "again" };
}

type Work = Context & {
  readonly left: PageOfVersion["items"];
  readonly results: ReadonlyMap<string, ResultRow>;
};

/** The error may quote what a provider says of a datapoint. */
async function maskError(
  { tracingOf }: ExecutionRunsOptions,
  project: ProjectScope,
  error: string | null,
): Promise<string | null> {
  const mask = error === null ? undefined : await tracingOf(project).maskOf(project.projectId);
  return error === null || !mask ? error : mask.text(error);
}

/** Runs datapoints, several at a time. Returns a step if the execution must not go on. */
async function runAll(
  options: ExecutionRunsOptions,
  { project, row, left, results }: Work,
  signal: AbortSignal,
): Promise<Step | undefined> {
  const { database, scopes } = options;
  const runs = left.map(({ id, inputs, history, groundTruth }) => ({
    project,
    runId: row.runId,
    datasetId: row.datasetId,
    datapointId: id,
    attempt: results.get(id)?.attempt ?? 1,
    model: row.model,
    content: { inputs, history, groundTruth },
  }));
  const stored = await findStored(options, project, runs);
  const waiting = runs[Symbol.iterator]();
  let failuresInRow = 0;
  let stop: Step | undefined;

  async function runOne(run: DatapointRun): Promise<void> {
    const known = stored.get(idsOf(run).generationId);
    const outcome = known ?? (await runDatapoint(options, run, signal));
    const { cost } = outcome;
    const error = await maskError(options, project, outcome.error);
    const { datapointId, attempt } = run;
    const state = error === null ? "done" : "failed";
    const result: ResultRow = { datapointId, attempt, state, cost, error };
    await store.insertResult(database.sql(), row, result);
    failuresInRow = error === null ? 0 : failuresInRow + 1;
    if (failuresInRow < executionFailuresMax || stop) return;
    const text = `${executionFailuresMax} datapoints in a row failed; the last: ${error}`;
    stop = await endWith(options, row, { state: "failed", error: text });
  }

  async function work(): Promise<void> {
    for (const run of waiting) {
      if (stop) return;
      const now = await store.findExecution(database.sql(), row);
      const isOn = now?.turn === row.turn && now.state === "running";
      // An archived project has no more calls from the moment it is archived.
      if (isOn && (await findProject(scopes, row.projectId))) await runOne(run);
      else stop ??= { kind: "again" };
    }
  }

  const workers = await Promise.allSettled(Array.from({ length: row.concurrency }, work));
  const failed = workers.find((worker) => worker.status === "rejected");
  if (failed) throw failed.reason;
  return stop;
}

/** Returns the outcomes of the datapoints whose model event is stored, by its id. */
async function findStored(
  { tracingOf }: ExecutionRunsOptions,
  { clusterId, projectId }: ProjectScope,
  runs: readonly DatapointRun[],
): Promise<ReadonlyMap<string, DatapointOutcome>> {
  const ids = runs.map((run) => idsOf(run).generationId);
  const events = await tracingOf({ clusterId }).runEvents.outcomes(projectId, ids);
  return new Map(events.map(({ eventId, cost, error }) => [eventId, { cost, error }]));
}

async function finish(
  options: ExecutionRunsOptions,
  turn: ExecutionTurn,
  end: ExecutionEnd,
): Promise<void> {
  const row = await store.findExecution(options.database.sql(), turn);
  if (row?.turn === turn.turn && !isEnded(row.state)) await endWith(options, row, end);
}

/** Ends an execution, and its run with it. */
async function endWith(
  options: ExecutionRunsOptions,
  row: ExecutionRow,
  end: { readonly state: EndState; readonly error?: string | undefined },
): Promise<Step> {
  const ended = await options.database.transaction(async (sql) => {
    const now = await store.findExecution(sql, row, { lock: true });
    if (now?.turn === row.turn && !isEnded(now.state)) await store.endExecution(sql, row, end);
    return store.findExecution(sql, row);
  });
  if (ended?.turn !== row.turn) return { kind: "superseded" };
  await tellRun(options, ended);
  return { kind: isEnded(ended.state) ? ended.state : end.state };
}

/** Gives the run the state of its ended execution. */
async function tellRun(options: ExecutionRunsOptions, row: ExecutionRow): Promise<void> {
  const project = await findProject(options.scopes, row.projectId);
  const run = project && (await options.runs.find(project, row.runId));
  if (!run || !isEnded(row.state) || run.status === row.state) return;
  await options.runs.update(project, row.runId, { status: row.state });
}
