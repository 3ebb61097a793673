// SQL of evaluators and their versions, in the control database.

import type { PendingQuery, Row } from "postgres";
import type { ProjectId } from "../../base/ids.ts";
import type { Sql } from "../../postgres/database.ts";
import type { Definition, EvaluatorType, RoutedEvaluator } from "./definition.ts";

type Fragment = PendingQuery<Row[]>;

/** An evaluator with the version that runs. */
export type EvaluatorRow = {
  readonly id: string;
  readonly projectId: ProjectId;
  readonly definition: Definition;
  readonly readsGroundTruth: boolean;
  readonly fullSha: string;
  /** The one that runs. */
  readonly version: number;
  readonly lastVersion: number;
  /** Counts the times that a version of it was deployed. */
  readonly enablement: number;
  /** Why the service disabled it. */
  readonly disabledReason: string | null;
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly updatedAt: Date | null;
  /** When it was last enabled. */
  readonly enabledAt: Date | null;
};

function selectEvaluators(sql: Sql): Fragment {
  return sql`
    select
      evaluators.evaluator_id as id,
    evaluators.project_id as "projectId",
    evaluator_versions.content as definition,
    evaluator_versions.reads_ground_truth as "readsGroundTruth",
    evaluator_versions.full_sha as "fullSha",
    evaluators.deployed_version as version,
    evaluators.last_version as "lastVersion",
    evaluators.enablement,
    evaluators.disabled_reason as "disabledReason",
    evaluators.created_at as "createdAt",
    evaluators.created_by as "createdBy",
    evaluators.updated_at as "updatedAt",
    evaluators.enabled_at as "enabledAt"
    from evaluators
    join evaluator_versions on evaluator_versions.evaluator_id = evaluators.evaluator_id
      and evaluator_versions.version = evaluators.deployed_version`;
}

/** Any constant of our own; with a project, held by whoever changes its evaluators. */
const changeLockKey = 730_513;

/** Waits until nobody else changes a project's evaluators, and returns how many there are. */
export async function lockCount(sql: Sql, projectId: string): Promise<number> {
  await sql`select pg_advisory_xact_lock(${changeLockKey}, hashtext(${projectId}))`;
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from evaluators
    where project_id = ${projectId} and deleted_at is null`;
  return row?.count ?? 0;
}

/** Tells whether an evaluator other than one has a name. */
export async function isNameTaken(
  sql: Sql,
  projectId: string,
  { id, name }: { readonly id: string; readonly name: string },
): Promise<boolean> {
  const rows = await sql`
    select 1 from evaluators
    where project_id = ${projectId} and name = ${name} and evaluator_id <> ${id}
      and deleted_at is null`;
  return rows.length > 0;
}

export async function findEvaluator(
  sql: Sql,
  projectId: string,
  id: string,
): Promise<EvaluatorRow | undefined> {
  const [row] = await sql<EvaluatorRow[]>`
    ${selectEvaluators(sql)}
    where evaluators.project_id = ${projectId} and evaluators.evaluator_id = ${id}
      and evaluators.deleted_at is null`;
  return row;
}

/** A page is cut where it would hold more text than this, after its first row. */
const pageBytesMax = 16_000_000;

export type EvaluatorsPage = {
  readonly limit: number;
  readonly afterName: string;
  readonly type: EvaluatorType | undefined;
  readonly id: string | undefined;
};

export type RowsPage<T> = { readonly rows: readonly T[]; readonly hasMore: boolean };

/** Returns evaluators by name in order of bytes; fewer than `limit` where they are large. */
export async function listEvaluators(
  sql: Sql,
  projectId: string,
  { limit, afterName, type, id }: EvaluatorsPage,
): Promise<RowsPage<EvaluatorRow>> {
  const ofType = type === undefined ? sql`true` : sql`content ->> 'type' = ${type}`;
  const ofId = id === undefined ? sql`true` : sql`evaluators.evaluator_id = ${id}`;
  const page = sql`
    ${selectEvaluators(sql)}
    where evaluators.project_id = ${projectId} and evaluators.deleted_at is null
      and evaluators.name collate "C" > ${afterName} and ${ofType} and ${ofId}
    order by evaluators.name collate "C"
    limit ${limit + 1}`;
  return cut<EvaluatorRow>(sql, page, { order: sql`definition ->> 'name' collate "C"`, limit });
}

/** Of the rows of a page and one more, returns those that belong on it. */
async function cut<T>(
  sql: Sql,
  page: Fragment,
  { order, limit }: { readonly order: Fragment; readonly limit: number },
): Promise<RowsPage<T>> {
  const rows = await sql<(T & { found: number })[]>`
    select *
    from (
      select *,
        coalesce(sum(octet_length(definition::text)) over (
          order by ${order} rows between unbounded preceding and 1 preceding
        ), 0) as bytes,
        (count(*) over ())::integer as found
      from (${page}) as page
    ) as page
    where bytes < ${pageBytesMax}
    order by ${order}
    limit ${limit}`;
  return { rows, hasMore: (rows[0]?.found ?? 0) > rows.length };
}

/** Returns the evaluators of a project that run by themselves on events as they come. */
export async function listEnabled(
  sql: Sql,
  projectId: string,
): Promise<readonly RoutedEvaluator[]> {
  // Without the code, which may be a hundred megabytes of a project.
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

/** Returns the bytes of the filters of a project's enabled evaluators, those of one aside. */
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

/** Inserts an evaluator whose first version runs; the version itself comes after it. */
export async function insertEvaluator(
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
  /** Whether failures are counted afresh. */
  readonly isFresh: boolean;
  readonly disabledReason: string | null;
};

/** Makes a version the one that runs. */
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

/** Begins another enablement unless the evaluator is enabled; returns the one there is then. */
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

/** The versions stay, for the scores that say which of them made them. */
export async function markDeleted(sql: Sql, id: string): Promise<void> {
  await sql`
    update evaluators set deleted_at = now(), is_enabled = false where evaluator_id = ${id}`;
}

export type VersionRow = {
  readonly evaluatorId: string;
  readonly version: number;
  readonly definition: Definition;
  readonly fullSha: string;
  readonly message: string;
  readonly readsGroundTruth: boolean;
  readonly createdAt: Date;
  readonly createdBy: string;
  /** Whether it is the one that runs. */
  readonly isDeployed: boolean;
};

function versionColumnsOf(sql: Sql): Fragment {
  return sql`
    evaluator_id as "evaluatorId",
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

/** Returns versions in order of their numbers; fewer than `limit` where they are large. */
export async function listVersions(
  sql: Sql,
  id: string,
  { limit, afterVersion }: { readonly limit: number; readonly afterVersion: number },
): Promise<RowsPage<VersionRow>> {
  const page = sql`
    select ${versionColumnsOf(sql)}
    from evaluator_versions
    join evaluators using (evaluator_id)
    where evaluator_id = ${id} and version > ${afterVersion}
    order by version
    limit ${limit + 1}`;
  return cut<VersionRow>(sql, page, { order: sql`version`, limit });
}
