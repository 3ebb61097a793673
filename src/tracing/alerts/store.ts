// SQL of alerts and their checks, in the control database.

import type { ProjectId } from "../../base/ids.ts";
import type { Sql } from "../../postgres/database.ts";
import { deletableRows } from "../../postgres/project-rows.ts";
import type { AlertDefinition } from "./alert-fields.ts";
import type { Frequency, Period } from "./periods.ts";

/** `active` means that it has never triggered since its last change. */
export type Condition = "active" | "triggered" | "resolved";

export type AlertValue = {
  readonly projection: string;
  /** Null without a number. */
  readonly value: number | null;
  /** Values of the period and of the one before, for DRIFT. */
  readonly current?: number | null;
  readonly baseline?: number | null;
  /** Examples of events that meet the threshold, for alerts of kind PER_EVENT. */
  readonly eventIds?: readonly string[];
};

export type Outcome = "critical" | "resolved" | "between" | "insufficient" | "failed";

export type NewEvaluation = {
  readonly outcome: Outcome;
  readonly sampleSize: number;
  readonly values: readonly AlertValue[];
  readonly error: string | null;
};

export type Evaluation = NewEvaluation & {
  readonly windowStart: Date;
  readonly windowEnd: Date;
  readonly evaluatedAt: Date;
  readonly condition: Condition;
};

export type AlertKey = { readonly projectId: ProjectId; readonly id: string };

export type AlertRow = AlertDefinition & {
  readonly projectId: ProjectId;
  readonly id: string;
  readonly revision: number;
  readonly condition: Condition;
  readonly dueAt: Date;
  readonly lastWindowEnd: Date | null;
  readonly lastTriggeredAt: Date | null;
  readonly lastResult: Evaluation | null;
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly updatedAt: Date | null;
};

/** Lock, number and deletion of a project's alerts. */
export const alertRows = deletableRows("alerts", "alert_id");

type StoredAlert = Omit<AlertRow, "lastResult"> & {
  readonly resultWindowStart: Date | null;
  readonly resultWindowEnd: Date;
  readonly evaluatedAt: Date;
  readonly outcome: Outcome;
  readonly sampleSize: number;
  readonly values: readonly AlertValue[];
  readonly error: string | null;
  readonly resultCondition: Condition;
};

function toAlertRow(stored: StoredAlert): AlertRow {
  const { resultWindowStart, resultWindowEnd, evaluatedAt, outcome, ...others } = stored;
  const { sampleSize, values, error, resultCondition, ...row } = others;
  return {
    ...row,
    lastResult: resultWindowStart && {
      windowStart: resultWindowStart,
      windowEnd: resultWindowEnd,
      evaluatedAt,
      outcome,
      sampleSize,
      values,
      error,
      condition: resultCondition,
    },
  };
}

/** Returns the alerts of a project, oldest first, at most `limit`; or the one of an id. */
export async function listAlerts(
  sql: Sql,
  projectId: string,
  { id, limit }: { readonly id?: string; readonly limit: number },
): Promise<readonly AlertRow[]> {
  const rows = await sql<StoredAlert[]>`
    select
      alerts.project_id as "projectId", alerts.alert_id as id, name, description, kind,
      aggregation, filters, projections, critical, resolved, frequency,
      sample_size_min as "sampleSizeMin", is_active as "isActive", is_muted as "isMuted",
      revision, alerts.condition, due_at as "dueAt", last_window_end as "lastWindowEnd",
      last_triggered_at as "lastTriggeredAt", created_at as "createdAt",
      created_by as "createdBy", updated_at as "updatedAt",
      last.window_start as "resultWindowStart", last.window_end as "resultWindowEnd",
      last.evaluated_at as "evaluatedAt", last.outcome, last.sample_size as "sampleSize",
      last.values, last.error, last.condition as "resultCondition"
    from alerts
    left join alert_evaluations as last
      on last.project_id = alerts.project_id and last.alert_id = alerts.alert_id
        and last.window_end = alerts.last_window_end
    where alerts.project_id = ${projectId}
      ${id === undefined ? sql`` : sql`and alerts.alert_id = ${id}`}
    order by created_at, alerts.alert_id
    limit ${limit}`;
  return rows.map(toAlertRow);
}

export type NewAlert = AlertKey &
  AlertDefinition & {
    readonly revision: number;
    readonly condition: Condition;
    readonly dueAt: Date;
    readonly createdBy: string;
  };

/** Inserts an alert, or replaces its definition and condition. */
export async function putAlert(sql: Sql, alert: NewAlert): Promise<void> {
  const json = (value: unknown) =>
    value === null ? null : sql`${JSON.stringify(value)}::text::json`;
  await sql`
    insert into alerts (
      alert_id, project_id, name, description, kind, aggregation, filters, projections, critical,
      resolved, frequency, sample_size_min, is_active, is_muted, revision, condition, due_at,
      created_by
    )
    values (
      ${alert.id}, ${alert.projectId}, ${alert.name}, ${alert.description}, ${alert.kind},
      ${alert.aggregation}, ${json(alert.filters)}, ${json(alert.projections)},
      ${json(alert.critical)}, ${json(alert.resolved)}, ${alert.frequency},
      ${alert.sampleSizeMin}, ${alert.isActive}, ${alert.isMuted}, ${alert.revision},
      ${alert.condition}, ${alert.dueAt}, ${alert.createdBy}
    )
    on conflict (alert_id) do update set
      name = excluded.name,
      description = excluded.description,
      kind = excluded.kind,
      aggregation = excluded.aggregation,
      filters = excluded.filters,
      projections = excluded.projections,
      critical = excluded.critical,
      resolved = excluded.resolved,
      frequency = excluded.frequency,
      sample_size_min = excluded.sample_size_min,
      is_active = excluded.is_active,
      is_muted = excluded.is_muted,
      revision = excluded.revision,
      condition = excluded.condition,
      due_at = excluded.due_at,
      updated_at = clock_timestamp()
    where alerts.project_id = excluded.project_id`;
}

/** An alert whose period has ended. */
export type DueAlert = AlertKey & {
  readonly name: string;
  readonly frequency: Frequency;
  readonly dueAt: Date;
  readonly createdBy: string;
};

/** Locks alerts whose period ended before a time, the longest due first; skips locked ones. */
export async function lockDue(
  sql: Sql,
  { before, limit }: { readonly before: Date; readonly limit: number },
): Promise<readonly DueAlert[]> {
  return sql<DueAlert[]>`
    -- of all projects
    select
      project_id as "projectId", alert_id as id, name, frequency, due_at as "dueAt",
      created_by as "createdBy"
    from alerts
    where is_active and due_at <= ${before}
    order by due_at, alert_id
    limit ${limit}
    for update skip locked`;
}

export async function setDue(sql: Sql, { projectId, id }: AlertKey, dueAt: Date): Promise<void> {
  await sql`
    update alerts set due_at = ${dueAt} where project_id = ${projectId} and alert_id = ${id}`;
}

/** Adds a check; returns false if the period has one. */
export async function insertEvaluation(
  sql: Sql,
  { projectId, id }: AlertKey,
  {
    period,
    condition,
    ...evaluation
  }: NewEvaluation & { readonly period: Period; readonly condition: Condition },
): Promise<boolean> {
  const rows = await sql`
    insert into alert_evaluations (
      project_id, alert_id, window_start, window_end, outcome, sample_size, values, error, condition
    )
    values (
      ${projectId}, ${id}, ${new Date(period.startMs)}, ${new Date(period.endMs)},
      ${evaluation.outcome}, ${evaluation.sampleSize},
      ${JSON.stringify(evaluation.values)}::text::json, ${evaluation.error}, ${condition}
    )
    on conflict do nothing
    returning 1`;
  return rows.length > 0;
}

/** Notes that the newest period of an alert was checked. */
export async function setCondition(
  sql: Sql,
  { projectId, id }: AlertKey,
  {
    condition,
    windowEnd,
    hasTriggered,
  }: {
    readonly condition: Condition;
    readonly windowEnd: Date;
    readonly hasTriggered: boolean;
  },
): Promise<void> {
  await sql`
    update alerts
    set condition = ${condition},
      last_window_end = ${windowEnd},
      last_triggered_at = case when ${hasTriggered} then clock_timestamp()
        else last_triggered_at end
    where project_id = ${projectId} and alert_id = ${id}`;
}

/** Deletes all but the newest checks of an alert. */
export async function deleteOldEvaluations(
  sql: Sql,
  { projectId, id }: AlertKey,
  kept: number,
): Promise<void> {
  await sql`
    delete from alert_evaluations
    where project_id = ${projectId} and alert_id = ${id}
      and window_end < (
        select window_end from alert_evaluations
        where project_id = ${projectId} and alert_id = ${id}
        order by window_end desc
        offset ${kept} limit 1
      )`;
}

/** Returns the checks of an alert whose periods ended before a time, newest first. */
export async function listEvaluations(
  sql: Sql,
  { projectId, id }: AlertKey,
  { limit, beforeMs }: { readonly limit: number; readonly beforeMs: number | undefined },
): Promise<readonly Evaluation[]> {
  // A cursor's time may be past the range of Date.
  const isBefore =
    beforeMs === undefined
      ? sql`true`
      : sql`window_end < to_timestamp(${beforeMs}::double precision / 1000)`;
  return sql<Evaluation[]>`
    select
      window_start as "windowStart", window_end as "windowEnd", evaluated_at as "evaluatedAt",
      outcome, sample_size as "sampleSize", values, error, condition
    from alert_evaluations
    where project_id = ${projectId} and alert_id = ${id} and ${isBefore}
    order by window_end desc
    limit ${limit}`;
}
