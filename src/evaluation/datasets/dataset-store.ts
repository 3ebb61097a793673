// SQL of datasets, their versions and the datapoints in them. Every statement names its project.

import type { JsonObject } from "../../base/json.ts";
import type { PageOptions, Position } from "../../base/pages.ts";
import type { Fragment, Sql } from "../../postgres/database.ts";
import { projectRows } from "../../postgres/project-rows.ts";
import { isBefore, selectCreatedAtUs } from "../../postgres/keyset.ts";
import {
  escapeJson,
  escapeOrNull,
  escapeText,
  unescapeJson,
  unescapeOrNull,
  unescapeText,
} from "../../tracing/events/postgres-text.ts";

/** A dataset and its place in the list. */
export type DatasetRow = Position & {
  readonly name: string;
  readonly description: string | null;
  /** Fields that only older clients read. */
  readonly properties: JsonObject;
  readonly version: number;
  /** Number of datapoints in the version. */
  readonly datapoints: number;
  readonly updatedAt: Date | null;
};

type StoredRow = Omit<DatasetRow, "properties"> & { readonly properties: string };

function toRow({ name, description, properties, ...row }: StoredRow): DatasetRow {
  return {
    ...row,
    name: unescapeText(name),
    description: unescapeOrNull(description),
    properties: JSON.parse(unescapeJson(properties)) as JsonObject,
  };
}

function selectDatasets(sql: Sql, projectId: string): Fragment {
  return sql`
    select
      dataset_id as id,
      ${selectCreatedAtUs(sql, "created_at")},
      name,
      description,
      properties::text as properties,
      version,
      datapoints,
      updated_at as "updatedAt"
    from datasets
    where project_id = ${projectId}`;
}

/** Lock and number of a project's datasets. */
export const datasetRows = projectRows("datasets");

export type NewDataset = Pick<DatasetRow, "name" | "description" | "properties"> & {
  readonly datasetId: string;
};

/** Inserts a dataset without datapoints, and its first version. */
export async function insertDataset(sql: Sql, projectId: string, row: NewDataset): Promise<void> {
  const { datasetId, name, description } = row;
  await sql`
    with made as (
      insert into datasets (project_id, dataset_id, name, description, properties)
      values (
        ${projectId}, ${datasetId}, ${escapeText(name)},
        ${escapeOrNull(description)},
        ${escapeJson(JSON.stringify(row.properties))}::text::jsonb
      )
    )
    insert into dataset_versions (project_id, dataset_id, version, datapoints)
    values (${projectId}, ${datasetId}, 1, 0)`;
}

/** Replaces the fields of a dataset. */
export async function updateDataset(sql: Sql, projectId: string, row: NewDataset): Promise<void> {
  await sql`
    update datasets
    set
      name = ${escapeText(row.name)},
      description = ${escapeOrNull(row.description)},
      properties = ${escapeJson(JSON.stringify(row.properties))}::text::jsonb,
      updated_at = statement_timestamp()
    where project_id = ${projectId} and dataset_id = ${row.datasetId}`;
}

/** Deletes a dataset with its versions, and the older revisions that only it had. */
export async function deleteDataset(sql: Sql, projectId: string, datasetId: string): Promise<void> {
  const held = await sql<{ datapoint_id: string }[]>`
    with gone as (
      delete from dataset_datapoints
      where project_id = ${projectId} and dataset_id = ${datasetId}
      returning datapoint_id
    ),
    versions as (
      delete from dataset_versions where project_id = ${projectId} and dataset_id = ${datasetId}
    ),
    deleted as (
      delete from datasets where project_id = ${projectId} and dataset_id = ${datasetId}
    )
    select distinct datapoint_id from gone`;
  const ids = held.map(({ datapoint_id: id }) => id);
  await deleteUnheldRevisions(sql, projectId, ids);
}

/** Deletes the older revisions of datapoints that no version of a dataset has. */
export async function deleteUnheldRevisions(
  sql: Sql,
  projectId: string,
  datapointIds: readonly string[],
): Promise<void> {
  await sql`
    delete from datapoints
    where project_id = ${projectId} and datapoint_id = any(${[...datapointIds]}::uuid[])
      and not is_current
      and not exists (
        select 1
        from dataset_datapoints as held
        where held.project_id = ${projectId} and held.datapoint_id = datapoints.datapoint_id
          and held.revision = datapoints.revision
      )`;
}

/** Returns the datasets of these ids, in no order. */
export async function findDatasets(
  sql: Sql,
  projectId: string,
  ids: readonly string[],
): Promise<readonly DatasetRow[]> {
  const rows = await sql<StoredRow[]>`
    ${selectDatasets(sql, projectId)} and dataset_id = any(${[...ids]}::uuid[])`;
  return rows.map(toRow);
}

export type ListOptions = PageOptions & {
  /** Exact name; undefined for every name. */
  readonly name: string | undefined;
};

/** A dataset of a list, with the number of datapoints of the datasets before it. */
export type ListedRow = DatasetRow & { readonly datapointsBefore: number };

/** Returns the newest datasets, one more than `limit`. */
export async function listDatasets(
  sql: Sql,
  projectId: string,
  { limit, after, name }: ListOptions,
): Promise<readonly ListedRow[]> {
  const rows = await sql<(StoredRow & { readonly datapointsBefore: number })[]>`
    select
      *,
      (sum(datapoints) over (rows unbounded preceding) - datapoints)::float8 as "datapointsBefore"
    from (
      ${selectDatasets(sql, projectId)}
        and ${isBefore(sql, ["created_at", "dataset_id"], after)}
        and ${name === undefined ? sql`true` : sql`name = ${escapeText(name)}`}
      order by created_at desc, dataset_id desc
      limit ${limit + 1}) as found`;
  return rows.map((row) => ({ ...toRow(row), datapointsBefore: row.datapointsBefore }));
}

/** Returns the ids of the datapoints of a version of a dataset, in their order. */
export async function listIds(
  sql: Sql,
  projectId: string,
  { datasetId, version }: DatasetVersionKey,
): Promise<readonly string[]> {
  const rows = await sql<{ datapoint_id: string }[]>`
    select datapoint_id
    from dataset_datapoints
    where project_id = ${projectId} and dataset_id = ${datasetId}
      and ${isIn(sql, version)}
    order by position`;
  return rows.map(({ datapoint_id: id }) => id);
}

/** A version of a dataset. */
export type DatasetVersionKey = { readonly datasetId: string; readonly version: number };

/** Returns the condition that a row of dataset_datapoints is in a version. */
export function isIn(sql: Sql, version: number): Fragment {
  return sql`added_in <= ${version} and (removed_in is null or removed_in > ${version})`;
}

export type VersionRow = {
  readonly version: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly datapoints: number;
  readonly createdAt: Date;
};

/** Returns the newest versions before a number, at most `limit`. */
export async function listVersions(
  sql: Sql,
  projectId: string,
  datasetId: string,
  { limit, before }: { readonly limit: number; readonly before: number },
): Promise<readonly VersionRow[]> {
  return sql<VersionRow[]>`
    select version, added, changed, removed, datapoints, created_at as "createdAt"
    from dataset_versions
    where project_id = ${projectId} and dataset_id = ${datasetId} and version < ${before}
    order by version desc
    limit ${limit}`;
}

/** Numbers of datapoints that a new version adds, changes and removes. */
export type VersionChange = Pick<VersionRow, "added" | "changed" | "removed">;

/**
 * Makes a version of a dataset; returns its number and the first of the positions that it takes:
 * one for each added datapoint, unless `places` says how many.
 */
export async function addVersion(
  sql: Sql,
  projectId: string,
  datasetId: string,
  { added, changed, removed, places = added }: VersionChange & { readonly places?: number },
): Promise<{ readonly version: number; readonly position: number }> {
  const [row] = await sql<{ version: number; position: number }[]>`
    with made as (
      update datasets
      set
        version = version + 1,
        datapoints = datapoints + ${added} - ${removed},
        next_position = next_position + ${places},
        updated_at = statement_timestamp()
      where project_id = ${projectId} and dataset_id = ${datasetId}
      returning version, datapoints, next_position - ${places} as position
    ),
    noted as (
      insert into dataset_versions (
        project_id, dataset_id, version, added, changed, removed, datapoints
      )
      select
        ${projectId}::uuid, ${datasetId}::uuid, version, ${added}::integer, ${changed}::integer,
        ${removed}::integer, datapoints
      from made
    )
    select version, position from made`;
  if (row === undefined) throw new Error("a locked dataset does not exist");
  return row;
}

/** Adds the current revisions of datapoints to a version, in the order of the ids. */
export async function addToVersion(
  sql: Sql,
  projectId: string,
  { datasetId, version, position }: DatasetVersionKey & { readonly position: number },
  datapointIds: readonly string[],
): Promise<void> {
  await sql`
    insert into dataset_datapoints (
      project_id, dataset_id, position, added_in, datapoint_id, revision
    )
    select
      ${projectId}::uuid, ${datasetId}::uuid, ${position}::bigint + place - 1, ${version}::integer,
      datapoint_id, revision
    from unnest(${[...datapointIds]}::uuid[]) with ordinality as asked (datapoint_id, place)
    join datapoints using (datapoint_id)
    where datapoints.project_id = ${projectId} and is_current`;
}

/** Takes datapoints out of a version and those after it. */
export async function removeFromVersion(
  sql: Sql,
  projectId: string,
  { datasetId, version }: DatasetVersionKey,
  datapointIds: readonly string[],
): Promise<void> {
  await sql`
    update dataset_datapoints
    set removed_in = ${version}
    where project_id = ${projectId} and dataset_id = ${datasetId} and removed_in is null
      and datapoint_id = any(${[...datapointIds]}::uuid[])`;
}

/** Replaces a revision of a datapoint by its current one, from a version on. */
export async function replaceInVersion(
  sql: Sql,
  projectId: string,
  { datasetId, version }: DatasetVersionKey,
  { datapointId, revision }: { readonly datapointId: string; readonly revision: number },
): Promise<void> {
  await sql`
    with closed as (
      update dataset_datapoints
      set removed_in = ${version}
      where project_id = ${projectId} and dataset_id = ${datasetId} and removed_in is null
        and datapoint_id = ${datapointId}
      returning position
    )
    insert into dataset_datapoints (
      project_id, dataset_id, position, added_in, datapoint_id, revision
    )
    select
      ${projectId}::uuid, ${datasetId}::uuid, position, ${version}::integer, ${datapointId}::uuid,
      ${revision}::integer
    from closed`;
}

/** Returns the datasets that have datapoints now, by datapoint. */
export async function listLinks(
  sql: Sql,
  projectId: string,
  datapointIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await sql<{ datapoint_id: string; datasets: string[] }[]>`
    select datapoint_id, array_agg(dataset_id order by dataset_id) as datasets
    from dataset_datapoints
    where project_id = ${projectId} and datapoint_id = any(${[...datapointIds]}::uuid[])
      and removed_in is null
    group by datapoint_id`;
  return new Map(rows.map(({ datapoint_id: id, datasets }) => [id, datasets]));
}
