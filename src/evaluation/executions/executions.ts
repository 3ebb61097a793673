// Executions: experiment runs whose models the service itself calls, a configuration on each
// datapoint of a dataset. This file has the users' requests, execution-runs.ts the workflow's
// steps. Source: docs/experiments.md, "Execution"; docs/decisions.md, 39.6.

import { type Actor, describeActor } from "../../base/actor.ts";
import { changeInside, type ChangeParts } from "../../access/change.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { executionConcurrencyMax, executionsOfOrgMax } from "../../base/tenant-limits.ts";
import type { Configurations } from "../../generation/configurations/configurations.ts";
import type {
  ConfiguredCalls,
  ConfiguredModel,
} from "../../generation/configured/configured-calls.ts";
import { executeRunEntry, type OutboxEntry } from "../../outbox/entry.ts";
import type { Outbox } from "../../outbox/outbox.ts";
import type { Sql } from "../../postgres/database.ts";
import { assertSound } from "../../tracing/events/parse-event.ts";
import type { Datasets } from "../datasets/datasets.ts";
import type { DatasetExports } from "../datasets/files/exports.ts";
import type { Run, Runs } from "../runs/runs.ts";
import { isEnded } from "../end-state.ts";
import * as store from "./store.ts";
import type { ExecutionCounts, ExecutionRow } from "./store.ts";

/** An execution and its progress. */
export type Execution = ExecutionRow & { readonly counts: ExecutionCounts };

export type ExecutionRequest = {
  /** Id or name. */
  readonly configuration: string;
  readonly environment?: string | undefined;
  /** Replaces the configuration's model. */
  readonly model?: string | undefined;
  readonly hyperparameters?: JsonObject | undefined;
  /** Default: the dataset of the run. */
  readonly datasetId?: string | undefined;
  readonly concurrency?: number | undefined;
};

/** All methods throw NOT_FOUND if the project has no such run, or the run no execution. */
export type Executions = {
  /**
   * Starts the execution of a run. Throws INVALID_ARGUMENT naming the field, also if the first
   * datapoint could not be sent, and EXECUTION_RUNNING if the run was executed before or the
   * organization has its maximum of executions.
   */
  start(
    project: ProjectScope,
    runId: string,
    request: ExecutionRequest,
    actor: Actor,
  ): Promise<Execution>;
  get(project: ProjectScope, runId: string): Promise<Execution>;
  /** Cancels an execution; again changes nothing. Throws EXECUTION_ENDED if it has ended. */
  cancel(project: ProjectScope, runId: string, actor: Actor): Promise<Execution>;
  /**
   * Has an ended execution run the datapoints that are left and those that failed. Throws
   * EXECUTION_RUNNING if it has not ended, and EXECUTION_ENDED if nothing is left.
   */
  resume(project: ProjectScope, runId: string, actor: Actor): Promise<Execution>;
  /** Deletes the execution of a run, if there is one. */
  forget(project: ProjectScope, runId: string): Promise<void>;
};

export type ExecutionsOptions = ChangeParts & {
  readonly outbox: Outbox;
  readonly configurations: Pick<Configurations, "find">;
  readonly calls: Pick<ConfiguredCalls, "check">;
  readonly datasets: Pick<Datasets, "find" | "get">;
  readonly datasetExports: Pick<DatasetExports, "page">;
  readonly runs: Pick<Runs, "get" | "update">;
};

const concurrencyDefault = 8;

export function createExecutions(options: ExecutionsOptions): Executions {
  const { database, runs } = options;

  async function withCounts(row: ExecutionRow): Promise<Execution> {
    return { ...row, counts: await store.countResults(database.sql(), row) };
  }

  return {
    async start(project, runId, request, actor) {
      return withCounts(await start(options, { project, runId, actor }, request));
    },

    async get(project, runId) {
      const { projectId } = project;
      const row = await store.findExecution(database.sql(), { projectId, runId });
      if (!row) throw notFound();
      return withCounts(row);
    },

    async cancel(project, runId, actor) {
      const row = await changeExecution(options, { project, runId, actor }, async (sql, before) => {
        if (before.state === "cancelling") return { verb: "cancel" };
        if (isEnded(before.state)) {
          throw new ServiceError(
            "EXECUTION_ENDED",
            `the execution has ended: it is ${before.state}`,
          );
        }
        await store.startCancelling(sql, before);
        return { verb: "cancel" };
      });
      return withCounts(row);
    },

    async resume(project, runId, actor) {
      const run = await runs.get(project, runId);
      const whose = { project, runId, actor };
      const row = await changeExecution(options, whose, async (sql, before) => {
        await assertResumable(sql, before);
        await assertRoom(sql, project);
        const turn = before.turn + 1;
        const entry = entryOf(project, run, { ...before, turn }, actor);
        await store.retryFailed(sql, before);
        await store.startTurn(sql, { ...before, turn }, entry.workflowId);
        await runs.update(project, runId, { status: "running" });
        return { verb: "resume", entry };
      });
      return withCounts(row);
    },

    forget: ({ projectId }, runId) => store.deleteExecution(database.sql(), { projectId, runId }),
  };
}

type Whose = { readonly project: ProjectScope; readonly runId: string; readonly actor: Actor };

async function start(
  options: ExecutionsOptions,
  { project, runId, actor }: Whose,
  request: ExecutionRequest,
): Promise<ExecutionRow> {
  const { concurrency = concurrencyDefault } = request;
  const { projectId } = project;
  if (!(Number.isInteger(concurrency) && concurrency >= 1))
    refuse("concurrency", "must be 1 or more");
  if (concurrency > executionConcurrencyMax) {
    refuse("concurrency", `must be at most ${executionConcurrencyMax}`);
  }
  const found = await options.runs.get(project, runId);
  const model = await toModel(options, project, request);
  const run = await withDataset(options, project, found, request.datasetId);
  const datapoints = await checkDataset(options, project, run, model);
  const { datasetId } = run;
  return changeInside(options, { scope: project, actor }, async (sql) => {
    await assertRoom(sql, project);
    const entry = entryOf(project, run, { turn: 1, datapoints }, actor);
    const isFirst = await store.insertExecution(sql, {
      projectId,
      runId,
      workflowId: entry.workflowId,
      model,
      datasetId: run.datasetId,
      datasetVersion: run.datasetVersion,
      concurrency,
      datapoints,
      createdBy: describeActor(actor),
    });
    const result = await store.findExecution(sql, { projectId, runId });
    if (!result) throw new Error("an insert returned no row");
    if (!isFirst) throw executedBefore(result);
    await options.outbox.append(entry);
    // Runs before the commit: the workflow, which starts after it, may end the run at once.
    await options.runs.update(project, runId, { status: "running", datasetId });
    return {
      result,
      audit: { action: "execution.start", targetId: runId, after: stateOf(result) },
    };
  });
}

/** Keeps the configuration as it is now, so that later changes of it do not change the run. */
async function toModel(
  { configurations }: Pick<ExecutionsOptions, "configurations">,
  { projectId }: ProjectScope,
  { configuration, environment, model, hyperparameters }: ExecutionRequest,
): Promise<ConfiguredModel> {
  if (hyperparameters) assertSound(hyperparameters, "hyperparameters");
  const found = await configurations.find(projectId, { configuration, environment });
  const { id, name, version, provider, parameters } = found.configuration;
  return {
    configuration: { id, name, version, provider, parameters },
    ...(found.environment !== undefined && { environment: found.environment }),
    ...(model && { model }),
    ...(hyperparameters && { hyperparameters }),
  };
}

type RunWithDataset = Run & { readonly datasetId: string; readonly datasetVersion: number };

/** Returns the run with its dataset, which the request may name for a run that has none. */
async function withDataset(
  { datasets }: Pick<ExecutionsOptions, "datasets">,
  project: ProjectScope,
  run: Run,
  given = "",
): Promise<RunWithDataset> {
  const isNew = given !== "" && run.datasetId === null;
  const { datasetId, datasetVersion } = isNew
    ? { datasetId: given, datasetVersion: (await datasets.find(project, given))?.version ?? null }
    : run;
  if (given !== "" && datasetId !== given) refuse("dataset_id", "is not the dataset of the run");
  if (datasetId === null) return refuse("dataset_id", "is required: the run names no dataset");
  if (datasetVersion === null) return refuse("dataset_id", "the project has no such dataset");
  return { ...run, datasetId, datasetVersion };
}

/**
 * Checks that the first datapoint could be sent to the model; returns the number of datapoints.
 */
async function checkDataset(
  { datasets, datasetExports, calls }: ExecutionsOptions,
  project: ProjectScope,
  { datasetId, datasetVersion: version }: RunWithDataset,
  model: ConfiguredModel,
): Promise<number> {
  const { datapoints: count } = await datasets.get(project, datasetId, version);
  const place = { datasetId, version, afterPosition: 0 };
  const first = (await datasetExports.page(project, place, 1))?.items[0];
  if (!first) return refuse("dataset_id", "the dataset has no datapoints");
  const { inputs, history: messages } = first;
  await calls.check(project, model, { inputs, messages });
  return count;
}

type Changing = { readonly verb: "cancel" | "resume"; readonly entry?: OutboxEntry };

async function changeExecution(
  options: ExecutionsOptions,
  { project, runId, actor }: Whose,
  work: (sql: Sql, before: ExecutionRow) => Promise<Changing>,
): Promise<ExecutionRow> {
  const key = { projectId: project.projectId, runId };
  return changeInside(options, { scope: project, actor }, async (sql) => {
    const before = await store.findExecution(sql, key, { lock: true });
    if (!before) throw notFound();
    const { verb, entry } = await work(sql, before);
    const result = (await store.findExecution(sql, key)) ?? before;
    if (entry) await options.outbox.append(entry);
    if (result.state === before.state) return { result };
    const states = { before: stateOf(before), after: stateOf(result) };
    return { result, audit: { action: `execution.${verb}`, targetId: runId, ...states } };
  });
}

async function assertResumable(sql: Sql, row: ExecutionRow): Promise<void> {
  if (!isEnded(row.state)) throw executedBefore(row);
  const { done } = await store.countResults(sql, row);
  if (done < row.datapoints) return;
  throw new ServiceError("EXECUTION_ENDED", "every datapoint is done: nothing is left to run");
}

/** Throws EXECUTION_RUNNING if the organization has its maximum of executions. */
async function assertRoom(sql: Sql, { orgId }: ProjectScope): Promise<void> {
  if ((await store.lockOpen(sql, orgId)) < executionsOfOrgMax) return;
  const message =
    `${executionsOfOrgMax} executions of the organization have not ended, which is the limit; ` +
    "wait for one of them, or cancel it";
  throw new ServiceError("EXECUTION_RUNNING", message);
}

/** Returns the entry of the workflow of a turn. */
export function entryOf(
  { projectId, orgId }: ProjectScope,
  { runId, name }: Pick<Run, "runId" | "name">,
  { turn, datapoints }: Pick<ExecutionRow, "turn" | "datapoints">,
  actor: Actor | string,
): OutboxEntry {
  return executeRunEntry({
    projectId,
    orgId,
    runId,
    runName: name ?? "run",
    turn,
    datapoints,
    actor: typeof actor === "string" ? actor : describeActor(actor),
  });
}

function notFound(): ServiceError {
  return new ServiceError("NOT_FOUND", "no such execution");
}

function executedBefore({ state }: ExecutionRow): ServiceError {
  const message = isEnded(state)
    ? `the run was executed before: its execution is ${state}; resume it, or create another run`
    : "the execution of the run has not ended; wait for it or cancel it";
  return new ServiceError("EXECUTION_RUNNING", message);
}

/** Returns an execution's state for the audit log. */
function stateOf({ state, turn, model, datasetId, datasetVersion, datapoints }: ExecutionRow) {
  const { id, name, version } = model.configuration;
  return {
    state,
    turn,
    datapoints,
    dataset_id: datasetId,
    dataset_version: datasetVersion,
    configuration: { id, name, version },
  };
}
