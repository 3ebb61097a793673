// Datasets: named lists of datapoints, in the cluster of the project's events. Every change of the
// datapoints makes a version. Source: docs/datasets.md; docs/decisions.md, 39.1.

import { isDeepStrictEqual } from "node:util";
import { assertLength, assertName } from "../../base/assert-text.ts";
import { datasetDescriptionLengthMax, datasetNameLengthMax } from "../../base/field-limits.ts";
import { datapointsOfDatasetMax, datasetsOfProjectMax } from "../../base/tenant-limits.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { createUuid, isUuid } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import {
  formatKeyCursor,
  type Page,
  type PageRequest,
  parseKeyCursor,
  parsePageLimit,
  parsePageOptions,
  parseSequence,
  toPage,
  toPageBy,
} from "../../base/pages.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Sql } from "../../postgres/database.ts";
import { assertSound } from "../../tracing/events/parse-event.ts";
import { findIds } from "./datapoint-store.ts";
import * as store from "./dataset-store.ts";
import type { DatasetRow, VersionRow } from "./dataset-store.ts";

/** A dataset with the ids of its datapoints. */
export type Dataset = DatasetRow & { readonly datapointIds: readonly string[] };

export type DatasetFields = {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** Ids of datapoints; replaces the list. */
  readonly datapoints?: readonly string[] | undefined;
  /** Fields that only older clients send; those given replace the stored ones. */
  readonly properties?: JsonObject | undefined;
};

/** Which datasets a list has; an empty id or name stands for every one. */
export type DatasetsRequest = PageRequest & {
  readonly datasetId: string;
  readonly name: string;
};

/** Every method acts on the caller's project only. */
export type Datasets = {
  /** Creates a dataset and returns its id. Throws INVALID_ARGUMENT naming the field. */
  create(project: ProjectScope, fields: DatasetFields): Promise<string>;
  /** Returns datasets, newest first: that of an id, those of an exact name, or all. */
  list(project: ProjectScope, request: DatasetsRequest): Promise<Page<Dataset>>;
  /** Returns a dataset in a version; default: the current one. Throws NOT_FOUND. */
  get(project: ProjectScope, id: string, version?: number): Promise<Dataset>;
  /** Returns a dataset without its datapoints; undefined if the project has none of the id. */
  find(project: ProjectScope, id: string): Promise<DatasetRow | undefined>;
  /** Changes the given fields. Throws NOT_FOUND, and INVALID_ARGUMENT naming the field. */
  update(project: ProjectScope, id: string, fields: DatasetFields): Promise<Dataset>;
  /** Deletes a dataset with its versions. Throws NOT_FOUND. */
  delete(project: ProjectScope, id: string): Promise<void>;
  /** Takes a datapoint out of a dataset. Throws NOT_FOUND if the dataset does not have it. */
  removeDatapoint(project: ProjectScope, id: string, datapointId: string): Promise<void>;
  /** Returns the versions of a dataset, newest first. Throws NOT_FOUND. */
  listVersions(project: ProjectScope, id: string, page: PageRequest): Promise<Page<VersionRow>>;
};

export type DatasetsOptions = { readonly clusters: Pick<Clusters, "database"> };

const nameDefault = "Untitled Dataset";

export function createDatasets(options: DatasetsOptions): Datasets {
  const sqlOf = ({ clusterId }: ProjectScope): Sql => options.clusters.database(clusterId).sql();
  return {
    create: (project, fields) =>
      changing(options, project, async (sql) => {
        const { projectId } = project;
        const datasetId = createUuid();
        const count = await store.datasetRows.count(sql, projectId);
        if (count >= datasetsOfProjectMax) {
          refuse("name", `the project has ${datasetsOfProjectMax} datasets already; delete some`);
        }
        await store.insertDataset(sql, projectId, { datasetId, ...parseFields(fields) });
        await replaceDatapoints(sql, project, datasetId, fields.datapoints ?? []);
        return datasetId;
      }),

    async list(project, { datasetId, name, ...request }) {
      if (datasetId !== "") {
        const row = await findRow(sqlOf(project), project, datasetId);
        const items = row ? [await withIds(sqlOf(project), project, row)] : [];
        return { items, nextCursor: undefined };
      }
      const page = { ...parsePageOptions("datasets", request), name: name || undefined };
      const rows = await store.listDatasets(sqlOf(project), project.projectId, page);
      // A page ends early where its lists of ids would be too long.
      const end = rows.findIndex((row) => row.datapointsBefore >= datapointsOfDatasetMax);
      const limit = end === -1 ? page.limit : Math.min(end, page.limit);
      const { items, nextCursor } = toPage("datasets", rows, limit);
      const datasets: Dataset[] = [];
      for (const row of items) datasets.push(await withIds(sqlOf(project), project, row));
      return { items: datasets, nextCursor };
    },

    async get(project, id, version) {
      const row = await find(sqlOf(project), project, id);
      if (version === undefined) return withIds(sqlOf(project), project, row);
      if (version < 1 || version > row.version) throw notFound();
      return withIds(sqlOf(project), project, { ...row, version });
    },

    find: (project, id) => findRow(sqlOf(project), project, id),

    update: (project, id, fields) =>
      changing(options, project, async (sql) => {
        const before = await find(sql, project, id);
        const changed = parseFields(fields, before);
        const { name, description, properties } = before;
        if (!isDeepStrictEqual(changed, { name, description, properties })) {
          await store.updateDataset(sql, project.projectId, { datasetId: before.id, ...changed });
        }
        if (fields.datapoints) await replaceDatapoints(sql, project, id, fields.datapoints);
        return withIds(sql, project, await find(sql, project, id));
      }),

    delete: (project, id) =>
      changing(options, project, async (sql) => {
        await find(sql, project, id);
        await store.deleteDataset(sql, project.projectId, id);
      }),

    removeDatapoint: (project, id, datapointId) =>
      changing(options, project, async (sql) => {
        const { datapointIds } = await withIds(sql, project, await find(sql, project, id));
        if (!datapointIds.includes(datapointId.toLowerCase())) throw notFound();
        await removeFrom(sql, project, id, [datapointId]);
      }),

    async listVersions(project, id, { limit: limitAsked, cursor }) {
      const limit = parsePageLimit(limitAsked);
      const before =
        cursor === undefined ? Infinity : parseKeyCursor("dataset-versions", cursor, parseSequence);
      await find(sqlOf(project), project, id);
      const rows = await store.listVersions(sqlOf(project), project.projectId, id, {
        limit: limit + 1,
        before: Math.min(before, versionsMax),
      });
      return toPageBy(rows, limit, ({ version }) => formatKeyCursor("dataset-versions", version));
    },
  };
}

/** Greatest integer of Postgres. */
const versionsMax = 2_147_483_647;

/** Runs a change of a project's datasets, one at a time. */
export function changing<T>(
  { clusters }: DatasetsOptions,
  { clusterId, projectId }: ProjectScope,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  return clusters.database(clusterId).transaction(
    async (sql) => {
      await store.datasetRows.lock(sql, projectId);
      return work(sql);
    },
    { owner: projectId },
  );
}

/** Adds the current revisions of datapoints to the end of a dataset, as a version. */
export async function addTo(
  sql: Sql,
  { projectId }: ProjectScope,
  dataset: Pick<DatasetRow, "id" | "datapoints">,
  datapointIds: readonly string[],
): Promise<void> {
  if (datapointIds.length === 0) return;
  if (dataset.datapoints + datapointIds.length > datapointsOfDatasetMax) {
    refuse("dataset_id", `a dataset has at most ${datapointsOfDatasetMax} datapoints`);
  }
  const change = { added: datapointIds.length, changed: 0, removed: 0 };
  const made = await store.addVersion(sql, projectId, dataset.id, change);
  await store.addToVersion(sql, projectId, { datasetId: dataset.id, ...made }, datapointIds);
}

/** Takes datapoints out of a dataset, as a version. */
export async function removeFrom(
  sql: Sql,
  { projectId }: ProjectScope,
  datasetId: string,
  datapointIds: readonly string[],
): Promise<void> {
  const change = { added: 0, changed: 0, removed: datapointIds.length };
  const { version } = await store.addVersion(sql, projectId, datasetId, change);
  await store.removeFromVersion(sql, projectId, { datasetId, version }, datapointIds);
}

/** Makes a list the datapoints of a dataset, in its order. */
async function replaceDatapoints(
  sql: Sql,
  project: ProjectScope,
  datasetId: string,
  given: readonly string[],
): Promise<void> {
  const { projectId } = project;
  const datapointIds = given.map((id) => id.toLowerCase());
  const wanted = [...new Set(datapointIds)];
  if (wanted.length > datapointsOfDatasetMax) {
    refuse("datapoints", `a dataset has at most ${datapointsOfDatasetMax} datapoints`);
  }
  const known = await findIds(sql, projectId, wanted.filter(isUuid));
  datapointIds.forEach((id, index) => {
    if (!known.has(id)) refuse(`datapoints[${index}]`, "the project has no such datapoint");
  });
  const before = await find(sql, project, datasetId);
  const { datapointIds: held } = await withIds(sql, project, before);
  if (held.length === wanted.length && held.every((id, index) => id === wanted[index])) return;
  const isHeld = new Set(held);
  const both = wanted.filter((id) => isHeld.has(id)).length;
  const made = await store.addVersion(sql, projectId, datasetId, {
    added: wanted.length - both,
    changed: 0,
    removed: held.length - both,
    places: wanted.length,
  });
  const key = { datasetId, version: made.version };
  await store.removeFromVersion(sql, projectId, key, held);
  await store.addToVersion(sql, projectId, { ...key, position: made.position }, wanted);
}

async function findRow(
  sql: Sql,
  { projectId }: ProjectScope,
  id: string,
): Promise<DatasetRow | undefined> {
  const [row] = isUuid(id) ? await store.findDatasets(sql, projectId, [id]) : [];
  return row;
}

/** Returns a dataset without its datapoints. Throws NOT_FOUND. */
export async function find(sql: Sql, project: ProjectScope, id: string): Promise<DatasetRow> {
  const row = await findRow(sql, project, id);
  if (!row) throw notFound();
  return row;
}

async function withIds(sql: Sql, { projectId }: ProjectScope, row: DatasetRow): Promise<Dataset> {
  const key = { datasetId: row.id, version: row.version };
  const datapointIds = await store.listIds(sql, projectId, key);
  return { ...row, datapoints: datapointIds.length, datapointIds };
}

/**
 * Returns the datasets of ids. Throws INVALID_ARGUMENT naming the field if one is absent; `fieldOf`
 * returns the field for the index of an id.
 */
export async function findNamed(
  sql: Sql,
  { projectId }: ProjectScope,
  given: readonly string[],
  fieldOf: (index: number) => string,
): Promise<readonly DatasetRow[]> {
  const ids = given.map((id) => id.toLowerCase());
  const rows = await store.findDatasets(sql, projectId, ids.filter(isUuid));
  const byId = new Map(rows.map((row) => [row.id, row]));
  const found = ids.map((id, index) => {
    return byId.get(id) ?? refuse(fieldOf(index), "the project has no such dataset");
  });
  return [...new Set(found)];
}

function parseFields(fields: DatasetFields, before?: DatasetRow) {
  const { name = before?.name ?? nameDefault } = fields;
  const { description = before?.description ?? null } = fields;
  const properties = { ...before?.properties, ...fields.properties };
  if (name !== before?.name) assertName("name", name, datasetNameLengthMax);
  assertLength("description", description ?? "", datasetDescriptionLengthMax);
  assertSound(properties, "metadata");
  return { name, description, properties };
}

export function notFound(): ServiceError {
  return new ServiceError("NOT_FOUND", "no such dataset or datapoint");
}
