// SQL of evaluators and their versions, in the control database.

import type { ProjectId } from "../../base/ids.ts";
import type { Fragment, Sql } from "../../postgres/database.ts";
import { namedRows } from "../../postgres/project-rows.ts";
import { readSizedPage, type RowsPage } from "../../postgres/sized-page.ts";
import type { Definition, MetricType, RoutedEvaluator } from "./definition.ts";

/** An evaluator with its deployed version. */
export type MetricRow = {
  readonly id: string;
  readonly projectId: ProjectId;
  readonly definition: Definition;
  readonly readsGroundTruth: boolean;
  /** Number of the deployed version. */
  readonly version: number;
  readonly lastVersion: number;
  /** Number that grows whenever the count of failures starts again. */
  readonly enablement: number;
  /** Reason why the service disabled it. */
  readonly disabledReason: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
  /** Time when it was last enabled. */
  readonly enabledAt: Date | null;
};

function selectMetrics(sql: Sql): Fragment {
  return sql`
    select
      evaluators.evaluator_id as id,
      evaluators.project_id as "projectId",
      evaluator_versions.content as definition,
      evaluator_versions.reads_ground_truth as "readsGroundTruth",
      evaluators.deployed_version as version,
      evaluators.last_version as "lastVersion",
      evaluators.enablement,
      evaluators.disabled_reason as "disabledReason",
      evaluators.created_at as "createdAt",
      evaluators.updated_at as "updatedAt",
      evaluators.enabled_at as "enabledAt"
    from evaluators
    join evaluator_versions on evaluator_versions.evaluator_id = evaluators.evaluator_id
      and evaluator_versions.version = evaluators.deployed_version`;
}

/** Evaluators of projects and their names. */
export const metricRows = namedRows({
  table: "evaluators",
  idColumn: "evaluator_id",
  noun: "metric",
});

export async function findMetric(
  sql: Sql,
  projectId: string,
  id: string,
): Promise<MetricRow | undefined> {
  const [row] = await sql<MetricRow[]>`
    ${selectMetrics(sql)}
    where evaluators.project_id = ${projectId} and evaluators.evaluator_id = ${id}
      and evaluators.deleted_at is null`;
  return row;
}

export type MetricsPage = {
  readonly limit: number;
  readonly afterName: string;
  readonly type: MetricType | undefined;
  readonly id: string | undefined;
};

/** Returns evaluators by name in byte order; fewer than `limit` if they are large. */
export async function listMetrics(
  sql: Sql,
  projectId: string,
  { limit, afterName, type, id }: MetricsPage,
): Promise<RowsPage<MetricRow>> {
  const ofType = type === undefined ? sql`true` : sql`content ->> 'type' = ${type}`;
  const ofId = id === undefined ? sql`true` : sql`evaluators.evaluator_id = ${id}`;
  const rows = sql`
    ${selectMetrics(sql)}
    where evaluators.project_id = ${projectId} and evaluators.deleted_at is null
      and evaluators.name collate "C" > ${afterName} and ${ofType} and ${ofId}
    order by evaluators.name collate "C"
    limit ${limit + 1}`;
  return readSizedPage<MetricRow>(sql, {
    rows,
    content: "definition",
    order: sql`definition ->> 'name' collate "C"`,
    limit,
  });
}

/** Returns the online evaluators of a project. */
export async function listEnabled(
  sql: Sql,
  projectId: string,
): Promise<readonly RoutedEvaluator[]> {
  // The code is left out, because it may be a hundred megabytes per project.
  return sql<RoutedEvaluator[]>`
    select
      evaluators.evaluator_id as "evaluatorId",
      evaluators.project_id as "projectId",
      evaluators.deployed_version as version,
      evaluators.enablement,
      evaluator_versions.reads_ground_truth as "readsGroundTruth",
      jsonb_build_object(
        'filters', content -> 'filters', 'sampling_percentage', content -> 'sampling_percentage'
      ) as definition
    from evaluators
    join evaluator_versions on evaluator_versions.evaluator_id = evaluators.evaluator_id
      and evaluator_versions.version = evaluators.deployed_version
    where evaluators.project_id = ${projectId} and evaluators.is_enabled
      and evaluators.deleted_at is null and content ->> 'type' <> 'HUMAN'
    order by evaluators.evaluator_id`;
}

/** Returns the bytes of the filters of a project's enabled evaluators, except one. */
export async function sumFilterBytes(sql: Sql, projectId: string, id: string): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select coalesce(sum(octet_length((content -> 'filters')::text)), 0)::integer as bytes
    from evaluators
    join evaluator_versions on evaluator_versions.evaluator_id = evaluators.evaluator_id
      and evaluator_versions.version = evaluators.deployed_version
    where evaluators.project_id = ${projectId} and evaluators.is_enabled
      and evaluators.deleted_at is null and evaluators.evaluator_id <> ${id}`;
  return row?.bytes ?? 0;
}

export type NewVersionRow = {
  readonly id: string;
  readonly version: number;
  readonly definition: Definition;
  readonly fullSha: string;
  readonly message: string;
  readonly readsGroundTruth: boolean;
  readonly createdBy: string;
};

export async function insertVersion(sql: Sql, row: NewVersionRow): Promise<void> {
  await sql`
    insert into evaluator_versions (
      evaluator_id, version, content, full_sha, message, reads_ground_truth, created_by
    )
    values (
      ${row.id}, ${row.version}, ${JSON.stringify(row.definition)}::text::jsonb, ${row.fullSha},
      ${row.message}, ${row.readsGroundTruth}, ${row.createdBy}
    )`;
}

/**
 * Inserts an evaluator whose first version is deployed; the caller inserts the version after it.
 */
export async function insertMetric(
  sql: Sql,
  row: Pick<NewVersionRow, "id" | "definition" | "createdBy"> & { readonly projectId: string },
): Promise<void> {
  const { name, enabled_in_prod: isEnabled } = row.definition;
  await sql`
    insert into evaluators (
      evaluator_id, project_id, name, deployed_version, last_version, is_enabled, created_by,
      enabled_at
    )
    values (
      ${row.id}, ${row.projectId}, ${name}, 1, 1, ${isEnabled}, ${row.createdBy},
      ${isEnabled ? sql`now()` : null}
    )`;
}

export type Deployment = {
  readonly id: string;
  readonly version: number;
  readonly definition: Definition;
  /** Whether to reset the count of failures. */
  readonly isFresh: boolean;
  readonly disabledReason: string | null;
};

/** Deploys a version. */
export async function deployVersion(sql: Sql, row: Deployment): Promise<void> {
  const { name, enabled_in_prod: isEnabled } = row.definition;
  await sql`
    update evaluators set
      name = ${name},
      deployed_version = ${row.version},
      enablement = enablement + ${row.isFresh ? 1 : 0},
      disabled_reason = ${row.disabledReason},
      enabled_at = case when ${isEnabled} and not is_enabled then now() else enabled_at end,
      is_enabled = ${isEnabled},
      updated_at = clock_timestamp()
    where evaluator_id = ${row.id}`;
}

/** Begins another enablement unless the evaluator is enabled; returns the current enablement. */
export async function countAfresh(
  sql: Sql,
  projectId: string,
  id: string,
): Promise<number | undefined> {
  const [row] = await sql<{ enablement: number }[]>`
    update evaluators set enablement = enablement + case when is_enabled then 0 else 1 end
    where project_id = ${projectId} and evaluator_id = ${id} and deleted_at is null
    returning enablement`;
  return row?.enablement;
}

export async function updateLastVersion(sql: Sql, id: string, version: number): Promise<void> {
  await sql`update evaluators set last_version = ${version} where evaluator_id = ${id}`;
}

/** Marks an evaluator as deleted. Its versions stay, because scores refer to them. */
export async function markDeleted(sql: Sql, id: string): Promise<void> {
  await sql`
    update evaluators set deleted_at = now(), is_enabled = false where evaluator_id = ${id}`;
}

export type VersionRow = {
  readonly version: number;
  readonly definition: Definition;
  readonly fullSha: string;
  readonly message: string;
  readonly readsGroundTruth: boolean;
  readonly createdAt: Date;
  readonly createdBy: string;
  /** Whether the version is deployed. */
  readonly isDeployed: boolean;
};

function versionColumnsOf(sql: Sql): Fragment {
  return sql`
    version,
    content as definition,
    full_sha as "fullSha",
    message,
    reads_ground_truth as "readsGroundTruth",
    evaluator_versions.created_at as "createdAt",
    evaluator_versions.created_by as "createdBy",
    version = deployed_version as "isDeployed"`;
}

export async function findVersion(
  sql: Sql,
  id: string,
  version: number,
): Promise<VersionRow | undefined> {
  const [row] = await sql<VersionRow[]>`
    select ${versionColumnsOf(sql)}
    from evaluator_versions
    join evaluators using (evaluator_id)
    where evaluator_id = ${id} and version = ${version}`;
  return row;
}

/** Returns versions ordered by number; fewer than `limit` if they are large. */
export async function listVersions(
  sql: Sql,
  id: string,
  { limit, afterVersion }: { readonly limit: number; readonly afterVersion: number },
): Promise<RowsPage<VersionRow>> {
  const rows = sql`
    select ${versionColumnsOf(sql)}
    from evaluator_versions
    join evaluators using (evaluator_id)
    where evaluator_id = ${id} and version > ${afterVersion}
    order by version
    limit ${limit + 1}`;
  return readSizedPage<VersionRow>(sql, {
    rows,
    content: "definition",
    order: sql`version`,
    limit,
  });
}
