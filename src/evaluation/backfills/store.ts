// SQL of backfills, in the control database.

import type { ProjectId } from "../../base/ids.ts";
import type { PageOptions, Position } from "../../base/pages.ts";
import type { Fragment, Sql } from "../../postgres/database.ts";
import { lockRows } from "../../postgres/row-locks.ts";
import { isBefore, selectCreatedAtUs } from "../../postgres/keyset.ts";
import {
  escapeJson,
  escapeText,
  unescapeJson,
  unescapeOrNull,
  unescapeText,
} from "../../tracing/events/postgres-text.ts";
import type { FilterInput } from "../../tracing/export/filter.ts";
import type { EventPlace } from "../../tracing/selection/selection.ts";
import type { EndState } from "../end-state.ts";
import type { BackfillState, OpenState } from "./state.ts";

/** A backfill and its place in the list. */
export type BackfillRow = Position & {
  readonly projectId: ProjectId;
  readonly evaluatorId: string;
  readonly version: number;
  readonly filters: readonly FilterInput[];
  /** Start times in microseconds: `fromUs` inclusive, `toUs` exclusive; null for no bound. */
  readonly fromUs: number | null;
  readonly toUs: number | null;
  readonly includeFailed: boolean;
  readonly state: BackfillState;
  readonly run: number;
  readonly workflowId: string;
  readonly matched: number;
  /** Place where the next chunk begins; undefined at the start. */
  readonly after: EventPlace | undefined;
  readonly error: string | null;
  readonly createdBy: string;
  readonly endedAt: Date | null;
};

/** Key of a backfill. */
export type BackfillKey = { readonly projectId: ProjectId; readonly backfillId: string };

export function keyOf({ projectId, id }: BackfillRow): BackfillKey {
  return { projectId, backfillId: id };
}

type StoredRow = Omit<BackfillRow, "filters" | "after" | "error"> & {
  readonly filters: string;
  readonly afterUs: number | null;
  readonly afterEventId: string | null;
  readonly error: string | null;
};

function selectBackfills(sql: Sql): Fragment {
  return sql`
    select
      backfill_id as id,
      ${selectCreatedAtUs(sql, "created_at")},
      project_id as "projectId",
      evaluator_id as "evaluatorId",
      version,
      filters::text as filters,
      from_us as "fromUs",
      to_us as "toUs",
      include_failed as "includeFailed",
      state,
      run,
      workflow_id as "workflowId",
      matched,
      after_us as "afterUs",
      after_event_id as "afterEventId",
      error,
      created_by as "createdBy",
      ended_at as "endedAt"
    from evaluator_backfills`;
}

function toRow({ filters, afterUs, afterEventId, error, ...row }: StoredRow): BackfillRow {
  const isBegun = afterUs !== null && afterEventId !== null;
  return {
    ...row,
    filters: JSON.parse(unescapeJson(filters)) as FilterInput[],
    after: isBegun ? { startTimeUs: afterUs, eventId: unescapeText(afterEventId) } : undefined,
    error: unescapeOrNull(error),
  };
}

/** Returns the condition that a row is of a backfill. */
function isOf(sql: Sql, { projectId, backfillId }: BackfillKey): Fragment {
  return sql`project_id = ${projectId} and backfill_id = ${backfillId}`;
}

/**
 * Waits until no other backfill of an organization is being started, and returns how many of it
 * run.
 */
export async function lockRunning(sql: Sql, orgId: string): Promise<number> {
  await lockRows(sql, "evaluator_backfills", orgId);
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count
    from evaluator_backfills
    join projects using (project_id)
    join workspaces using (workspace_id)
    join dataplanes using (dataplane_id)
    where org_id = ${orgId} and ended_at is null and state <> 'paused'`;
  return row?.count ?? 0;
}

export type NewBackfill = Pick<
  BackfillRow,
  | "id"
  | "projectId"
  | "evaluatorId"
  | "version"
  | "filters"
  | "fromUs"
  | "toUs"
  | "includeFailed"
  | "workflowId"
  | "matched"
  | "createdBy"
>;

/** Inserts a running backfill; returns false if another one of its evaluator is open. */
export async function insertBackfill(sql: Sql, row: NewBackfill): Promise<boolean> {
  const { count } = await sql`
    insert into evaluator_backfills (
      backfill_id, project_id, evaluator_id, version, filters, from_us, to_us, include_failed,
      state, workflow_id, matched, created_by
    )
    values (
      ${row.id}, ${row.projectId}, ${row.evaluatorId}, ${row.version},
      ${escapeJson(JSON.stringify(row.filters))}::text::jsonb, ${row.fromUs}, ${row.toUs},
      ${row.includeFailed}, 'running', ${row.workflowId}, ${row.matched}, ${row.createdBy}
    )
    on conflict (evaluator_id) where ended_at is null do nothing`;
  return count > 0;
}

/** Returns a backfill; `lock` keeps others from changing it until the transaction ends. */
export async function findBackfill(
  sql: Sql,
  key: BackfillKey,
  { lock = false }: { readonly lock?: boolean } = {},
): Promise<BackfillRow | undefined> {
  const [row] = await sql<StoredRow[]>`
    ${selectBackfills(sql)} where ${isOf(sql, key)} ${lock ? sql`for update` : sql``}`;
  return row && toRow(row);
}

/** Locks and returns the open backfill of an evaluator. */
export async function lockOpenBackfill(
  sql: Sql,
  projectId: string,
  evaluatorId: string,
): Promise<BackfillRow | undefined> {
  const [row] = await sql<StoredRow[]>`
    ${selectBackfills(sql)}
    where project_id = ${projectId} and evaluator_id = ${evaluatorId} and ended_at is null
    for update`;
  return row && toRow(row);
}

/** Returns backfills of an evaluator, newest first, one more than the page may hold. */
export async function listBackfills(
  sql: Sql,
  projectId: string,
  evaluatorId: string,
  { limit, after }: PageOptions,
): Promise<readonly BackfillRow[]> {
  const rows = await sql<StoredRow[]>`
    ${selectBackfills(sql)}
    where project_id = ${projectId} and evaluator_id = ${evaluatorId}
      and ${isBefore(sql, ["created_at", "backfill_id"], after)}
    order by created_at desc, backfill_id desc
    limit ${limit + 1}`;
  return rows.map(toRow);
}

export async function updateState(sql: Sql, key: BackfillKey, state: OpenState): Promise<void> {
  await sql`
    update evaluator_backfills
    set state = ${state}, moved_at = now()
    where ${isOf(sql, key)} and ended_at is null`;
}

/** Hands a backfill over to another workflow. */
export async function updateRun(
  sql: Sql,
  key: BackfillKey,
  next: Pick<BackfillRow, "state" | "run" | "workflowId">,
): Promise<void> {
  await sql`
    update evaluator_backfills
    set state = ${next.state}, run = ${next.run}, workflow_id = ${next.workflowId},
      moved_at = now()
    where ${isOf(sql, key)} and ended_at is null`;
}

/** Ends a backfill; an ended one stays unchanged. */
export async function endBackfill(
  sql: Sql,
  key: BackfillKey,
  { state, error }: { readonly state: EndState; readonly error: string | undefined },
): Promise<void> {
  await sql`
    update evaluator_backfills
    set state = ${state}, error = ${error === undefined ? null : escapeText(error)},
      ended_at = now(), moved_at = now()
    where ${isOf(sql, key)} and ended_at is null`;
}

/** Moves to the place where the next chunk begins, unless another run has taken over. */
export async function moveBackfill(
  sql: Sql,
  { run, ...key }: BackfillKey & { readonly run: number },
  after: EventPlace,
): Promise<void> {
  await sql`
    update evaluator_backfills
    set after_us = ${after.startTimeUs}, after_event_id = ${escapeText(after.eventId)},
      moved_at = now()
    where ${isOf(sql, key)} and run = ${run} and ended_at is null`;
}

/** Records that a backfill is making progress. */
export async function touchBackfill(sql: Sql, key: BackfillKey): Promise<void> {
  await sql`
    update evaluator_backfills
    set moved_at = now()
    where ${isOf(sql, key)} and ended_at is null`;
}

/**
 * Returns at most `limit` running backfills that have not moved for `ageMs`, of all projects,
 * because no request notices a workflow that was ended from outside. Open backfills are few.
 */
export async function listStill(
  sql: Sql,
  ageMs: number,
  limit: number,
): Promise<readonly BackfillRow[]> {
  const rows = await sql<StoredRow[]>`
    ${selectBackfills(sql)}
    where ended_at is null and state <> 'paused'
      and moved_at < now() - ${ageMs} * interval '1 millisecond'
    order by moved_at
    limit ${limit}`;
  return rows.map(toRow);
}
