// SQL of executions and their results, in the control database.

import type { ProjectId } from "../../base/ids.ts";
import type { ConfiguredModel } from "../../generation/configured/configured-calls.ts";
import type { Fragment, Sql } from "../../postgres/database.ts";
import { lockRows } from "../../postgres/row-locks.ts";
import {
  escapeOrNull,
  escapeText,
  unescapeOrNull,
  unescapeText,
} from "../../tracing/events/postgres-text.ts";
import type { EndState } from "../end-state.ts";

export type ExecutionRow = {
  readonly projectId: ProjectId;
  readonly runId: string;
  readonly turn: number;
  readonly workflowId: string;
  readonly state: ExecutionState;
  readonly model: ConfiguredModel;
  readonly datasetId: string;
  readonly datasetVersion: number;
  /** Maximum model calls at a time. */
  readonly concurrency: number;
  readonly datapoints: number;
  /** Position of the dataset after which the next step begins. */
  readonly afterPosition: number;
  readonly error: string | null;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
};

export type ExecutionKey = Pick<ExecutionRow, "projectId" | "runId">;
export type TurnKey = ExecutionKey & Pick<ExecutionRow, "turn">;

type StoredRow = Omit<ExecutionRow, "model"> & { readonly model: string };

function toRow({ runId, workflowId, model, error, createdBy, ...row }: StoredRow): ExecutionRow {
  return {
    ...row,
    runId: unescapeText(runId),
    workflowId: unescapeText(workflowId),
    model: JSON.parse(model) as ConfiguredModel,
    error: unescapeOrNull(error),
    createdBy: unescapeText(createdBy),
  };
}

function selectExecutions(sql: Sql): Fragment {
  return sql`
    select
      project_id as "projectId",
      run_id as "runId",
      turn,
      workflow_id as "workflowId",
      state,
      model,
      dataset_id as "datasetId",
      dataset_version as "datasetVersion",
      concurrency,
      datapoints,
      after_position::float8 as "afterPosition",
      error,
      created_by as "createdBy",
      created_at as "createdAt",
      ended_at as "endedAt"
    from run_executions`;
}

/** Returns the condition that a row is of a run of a project. */
function isOf(sql: Sql, { projectId, runId }: ExecutionKey): Fragment {
  return sql`project_id = ${projectId} and run_id = ${escapeText(runId)}`;
}

/** Returns an execution; `lock` keeps others from changing it until the transaction ends. */
export async function findExecution(
  sql: Sql,
  key: ExecutionKey,
  { lock = false }: { readonly lock?: boolean } = {},
): Promise<ExecutionRow | undefined> {
  const [row] = await sql<StoredRow[]>`
    ${selectExecutions(sql)} where ${isOf(sql, key)} ${lock ? sql`for update` : sql``}`;
  return row && toRow(row);
}

export type NewExecution = Omit<
  ExecutionRow,
  "turn" | "state" | "afterPosition" | "error" | "createdAt" | "endedAt"
>;

/** Inserts a running execution; returns false if the run has one. */
export async function insertExecution(sql: Sql, row: NewExecution): Promise<boolean> {
  const { count } = await sql`
    insert into run_executions (
      project_id, run_id, workflow_id, state, model, dataset_id, dataset_version, concurrency,
      datapoints, created_by
    )
    values (
      ${row.projectId}, ${escapeText(row.runId)}, ${escapeText(row.workflowId)}, 'running',
      ${JSON.stringify(row.model)}, ${row.datasetId}, ${row.datasetVersion}, ${row.concurrency},
      ${row.datapoints}, ${escapeText(row.createdBy)}
    )
    on conflict do nothing`;
  return count > 0;
}

/** Deletes an execution with its results. */
export async function deleteExecution(sql: Sql, key: ExecutionKey): Promise<void> {
  await sql`delete from run_executions where ${isOf(sql, key)}`;
}

/** Asks for the end of an execution that has not ended. */
export async function startCancelling(sql: Sql, key: ExecutionKey): Promise<void> {
  await sql`
    update run_executions
    set state = 'cancelling', moved_at = clock_timestamp()
    where ${isOf(sql, key)} and ended_at is null`;
}

/** Has a turn wait for scores, unless it is being cancelled. */
export async function startScoring(sql: Sql, { turn, ...key }: TurnKey): Promise<void> {
  await sql`
    update run_executions
    set state = 'scoring', moved_at = clock_timestamp()
    where ${isOf(sql, key)} and turn = ${turn} and state = 'running'`;
}

/** Moves a turn on in the dataset, and records that it is making progress. */
export async function moveExecution(
  sql: Sql,
  { turn, ...key }: TurnKey,
  afterPosition: number,
): Promise<void> {
  await sql`
    update run_executions
    set after_position = ${afterPosition}, moved_at = clock_timestamp()
    where ${isOf(sql, key)} and turn = ${turn} and ended_at is null`;
}

/** Ends an execution; an ended one stays unchanged. */
export async function endExecution(
  sql: Sql,
  key: ExecutionKey,
  { state, error }: { readonly state: EndState; readonly error?: string | undefined },
): Promise<void> {
  await sql`
    update run_executions
    set state = ${state}, error = ${error === undefined ? null : escapeText(error)},
      ended_at = clock_timestamp(), moved_at = clock_timestamp()
    where ${isOf(sql, key)} and ended_at is null`;
}

/** Hands an execution over to another workflow, from the first datapoint on. */
export async function startTurn(
  sql: Sql,
  { turn, ...key }: TurnKey,
  workflowId: string,
): Promise<void> {
  await sql`
    update run_executions
    set turn = ${turn}, workflow_id = ${escapeText(workflowId)}, state = 'running',
      after_position = 0, error = null, ended_at = null, moved_at = clock_timestamp()
    where ${isOf(sql, key)}`;
}

/** Has the failed datapoints tried again. */
export async function retryFailed(sql: Sql, key: ExecutionKey): Promise<void> {
  await sql`
    update run_execution_results
    set state = 'again', attempt = attempt + 1
    where ${isOf(sql, key)} and state = 'failed'`;
}

/** Outcome of a datapoint. */
export type ResultRow = {
  readonly datapointId: string;
  readonly attempt: number;
  readonly state: "done" | "failed" | "again";
  readonly cost: number | null;
  readonly error: string | null;
};

/** Returns the results of datapoints, in no order. */
export async function listResults(
  sql: Sql,
  key: ExecutionKey,
  datapointIds: readonly string[],
): Promise<readonly ResultRow[]> {
  const rows = await sql<ResultRow[]>`
    select datapoint_id as "datapointId", attempt, state, cost, error
    from run_execution_results
    where ${isOf(sql, key)} and datapoint_id = any(${[...datapointIds]}::uuid[])`;
  return rows.map((row) => ({ ...row, error: row.error && unescapeText(row.error) }));
}

/**
 * Records the outcome of a datapoint, which costs its failed attempts too; one that is done stays
 * unchanged.
 */
export async function insertResult(
  sql: Sql,
  { projectId, runId }: ExecutionKey,
  { datapointId, attempt, state, cost, error }: ResultRow,
): Promise<void> {
  const text = escapeOrNull(error);
  await sql`
    insert into run_execution_results as held (
      project_id, run_id, datapoint_id, attempt, state, cost, error
    )
    select
      ${projectId}, ${escapeText(runId)}, ${datapointId}, ${attempt}, ${state}, ${cost}, ${text}
    where exists (
      select 1 from run_executions where ${isOf(sql, { projectId, runId })}
    )
    on conflict (project_id, run_id, datapoint_id) do update set
      state = excluded.state,
      cost = coalesce(held.cost + excluded.cost, excluded.cost),
      error = excluded.error
    where held.state = 'again' and held.attempt = excluded.attempt`;
}

/** Returns how many datapoints have which outcome, and what they cost. */
export async function countResults(sql: Sql, key: ExecutionKey): Promise<ExecutionCounts> {
  const [row] = await sql<ExecutionCounts[]>`
    select
      count(*) filter (where state = 'done')::integer as done,
      count(*) filter (where state = 'failed')::integer as failed,
      coalesce(sum(cost), 0) as cost,
      count(*) filter (where state = 'done' and cost is null)::integer as unpriced
    from run_execution_results
    where ${isOf(sql, key)}`;
  return row ?? { done: 0, failed: 0, cost: 0, unpriced: 0 };
}

/**
 * Waits until no other execution of an organization is being started, and returns how many of it
 * have not ended.
 */
export async function lockOpen(sql: Sql, orgId: string): Promise<number> {
  await lockRows(sql, "run_executions", orgId);
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count
    from run_executions
    join projects using (project_id)
    join workspaces using (workspace_id)
    join dataplanes using (dataplane_id)
    where org_id = ${orgId} and ended_at is null`;
  return row?.count ?? 0;
}

/**
 * Returns at most `limit` open executions that have not moved for `ageMs`, of all projects, because
 * no request notices a workflow that was ended from outside. Open executions are few.
 */
export async function listStill(
  sql: Sql,
  ageMs: number,
  limit: number,
): Promise<readonly ExecutionRow[]> {
  const rows = await sql<StoredRow[]>`
    ${selectExecutions(sql)}
    where ended_at is null
      and moved_at < clock_timestamp() - ${ageMs} * interval '1 millisecond'
    order by moved_at
    limit ${limit}`;
  return rows.map(toRow);
}

/** `running`: models are called; `scoring`: the last scores are awaited. */
export type ExecutionState = "running" | "scoring" | "cancelling" | EndState;

/** Datapoints of an execution, by outcome, and the cost of the model calls in US dollars. */
export type ExecutionCounts = {
  readonly done: number;
  readonly failed: number;
  readonly cost: number;
  /** Calls without a known price. */
  readonly unpriced: number;
};
