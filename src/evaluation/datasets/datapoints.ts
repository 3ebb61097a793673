// Datapoints: inputs with their expected outputs, alone or in datasets. Each change of a datapoint
// makes a revision of it, and a version of every dataset that has it.
// Source: docs/datasets.md; docs/decisions.md, 39.1, 39.2.

import { answerBytesMax } from "../../base/limits.ts";
import {
  datapointBytesMax,
  datapointsOfCallMax,
  linkedDatasetsMax,
} from "../../base/tenant-limits.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { createUuid, isUuid } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import { createPacer } from "../../base/pacer.ts";
import {
  formatCursor,
  formatKeyCursor,
  type Page,
  parseCursor,
  parseKeyCursor,
  parseSequence,
} from "../../base/pages.ts";
import type { Sql } from "../../postgres/database.ts";
import { createReadContext, type Reading, readWithin } from "../../tracing/events/sized-read.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import {
  type CheckedTexts,
  type DatapointContent,
  emptyContent,
  toAllTexts,
  toTexts,
} from "./datapoint.ts";
import * as store from "./datapoint-store.ts";
import type { DatapointRow, DatapointSource } from "./datapoint-store.ts";
import * as datasetStore from "./dataset-store.ts";
import {
  addTo,
  changing,
  find,
  type DatasetsOptions,
  findNamed,
  notFound,
  removeFrom,
} from "./datasets.ts";
import { type EventChoice, eventsToContents } from "./from-events.ts";
import { assertKeys, assertPaths, type Mapping, mapObject } from "./mapping.ts";

export type Datapoint = DatapointContent & {
  readonly id: string;
  readonly createdAtUs: number;
  readonly updatedAt: Date | null;
  /** Ids of the datasets that have it. */
  readonly linkedDatasets: readonly string[];
};

/** Which datapoints a list has; at most one of the first three is given. */
export type DatapointsRequest = {
  readonly ids: readonly string[];
  /** Name of a dataset; of equal names the newest. */
  readonly datasetName: string;
  readonly datasetId: string;
  /** Version of the dataset; default: the current one. */
  readonly version?: number | undefined;
  /** Without a limit, a list has all datapoints or fails. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
};

export type DatapointsOptions = DatasetsOptions & { readonly tracingOf: TracingOf };

/** Every method acts on the caller's project only. */
export type Datapoints = {
  /** Creates a datapoint in datasets; returns its id. Throws INVALID_ARGUMENT naming the field. */
  create(
    project: ProjectScope,
    content: Partial<DatapointContent>,
    datasetIds: readonly string[],
  ): Promise<string>;
  /**
   * Creates datapoints from objects at the end of a dataset, all or none; returns their ids. Throws
   * NOT_FOUND, and INVALID_ARGUMENT naming the object and its field.
   */
  createFrom(
    project: ProjectScope,
    datasetId: string,
    data: readonly JsonObject[],
    mapping: Mapping,
  ): Promise<readonly string[]>;
  /** Creates datapoints from events; returns their ids. Throws INVALID_ARGUMENT. */
  createFromEvents(
    project: ProjectScope,
    choice: EventChoice,
    datasetId: string,
  ): Promise<readonly string[]>;
  /** Returns datapoints. Throws ANSWER_TOO_LARGE if all of them were asked for and do not fit. */
  list(
    project: ProjectScope,
    request: DatapointsRequest,
    reading?: Reading,
  ): Promise<Page<Datapoint>>;
  /** Throws NOT_FOUND. */
  get(project: ProjectScope, id: string, reading?: Reading): Promise<Datapoint>;
  /**
   * Changes the given fields; returns whether any value changed. Throws NOT_FOUND, and
   * INVALID_ARGUMENT naming the field.
   */
  update(
    project: ProjectScope,
    id: string,
    content: Partial<DatapointContent>,
    datasetIds: readonly string[] | undefined,
  ): Promise<boolean>;
  /** Deletes a datapoint and takes it out of its datasets. Throws NOT_FOUND. */
  delete(project: ProjectScope, id: string): Promise<void>;
};

/** Maximum bytes of the datapoints of an answer; their JSON has some bytes more. */
const pageBytesMax = (3 * answerBytesMax) / 4;

export function createDatapoints(options: DatapointsOptions): Datapoints {
  const readContext = ({ clusterId, projectId }: ProjectScope, reading?: Reading) =>
    createReadContext(options.clusters.database(clusterId), projectId, reading);

  async function readOne(
    project: ProjectScope,
    id: string,
    reading?: Reading,
  ): Promise<DatapointRow> {
    const context = readContext(project, reading);
    const page = { limit: 1, bytesMax: datapointBytesMax };
    const rows = isUuid(id)
      ? await readWithin(context, page.bytesMax, (sql) =>
          store.datapointRows(sql, project.projectId, { ids: [id] }, page),
        )
      : [];
    const [row] = rows;
    if (!row) throw notFound();
    return row;
  }

  return {
    create: (project, content, datasetIds) => {
      const texts = toTexts({ ...emptyContent, ...content });
      return changing(options, project, async (sql) => {
        const datasets = await findLinked(sql, project, datasetIds);
        const [id = ""] = await insert(sql, project, [texts]);
        for (const dataset of datasets) await addTo(sql, project, dataset, [id]);
        return id;
      });
    },

    async createFrom(project, datasetId, data, mapping) {
      assertCount("data", data.length);
      assertKeys(mapping);
      const rows = await toAllTexts(data, {
        contentOf: (object, path) => mapObject(object, mapping, path),
        pathOf: (_, index) => `data[${index}].`,
        lane: laneOf(project),
      });
      return changing(options, project, async (sql) => {
        const dataset = await find(sql, project, datasetId);
        const ids = await insert(sql, project, rows);
        await addTo(sql, project, dataset, ids);
        return ids;
      });
    },

    async createFromEvents(project, choice, datasetId) {
      if (choice.mapping) assertPaths(choice.mapping);
      const contents = await eventsToContents(options.tracingOf(project), project, choice);
      const rows = await toAllTexts(contents, {
        contentOf: (content) => content,
        pathOf: ({ linkedEvent }) => `event ${linkedEvent}: `,
        lane: laneOf(project),
      });
      return changing(options, project, async (sql) => {
        const named = datasetId === "" ? [] : [datasetId];
        const [dataset] = await findNamed(sql, project, named, () => "dataset_id");
        const ids = await insert(sql, project, rows);
        if (dataset) await addTo(sql, project, dataset, ids);
        return ids;
      });
    },

    async list(project, request, reading) {
      const sql = options.clusters.database(project.clusterId).sql();
      const { limit } = request;
      if (limit !== undefined) assertCount("limit", limit);
      const source = await toSource(sql, project, request);
      if (source === undefined) return { items: [], nextCursor: undefined };
      const asked = limit ?? datapointsOfCallMax;
      const page = { limit: asked + 1, bytesMax: pageBytesMax };
      const context = readContext(project, reading);
      const rows = await readWithin(context, page.bytesMax, (read) =>
        store.datapointRows(read, project.projectId, source, page),
      );
      const sent = rows.filter((row) => row.is_sent).slice(0, asked);
      if (limit === undefined && sent.length < rows.length) throw tooMany();
      const last = sent.length < rows.length ? sent.at(-1) : undefined;
      return {
        items: await toDatapoints(sql, project, sent),
        nextCursor: last && cursorOf(source, last),
      };
    },

    async get(project, id, reading) {
      const row = await readOne(project, id, reading);
      const sql = options.clusters.database(project.clusterId).sql();
      const [datapoint] = await toDatapoints(sql, project, [row]);
      if (!datapoint) throw notFound();
      return datapoint;
    },

    // Ids in the case in which they are stored: links are found by them.
    update: (project, id, content, datasetIds) =>
      changing(options, project, (sql) =>
        update(sql, project, id.toLowerCase(), { content, datasetIds }),
      ),

    delete: (project, given) =>
      changing(options, project, async (sql) => {
        const { projectId } = project;
        const id = given.toLowerCase();
        const known = isUuid(id) ? await store.findIds(sql, projectId, [id]) : new Set();
        if (!known.has(id)) throw notFound();
        const links = await datasetStore.listLinks(sql, projectId, [id]);
        for (const datasetId of links.get(id) ?? [])
          await removeFrom(sql, project, datasetId, [id]);
        await store.retireDatapoint(sql, projectId, id);
        await datasetStore.deleteUnheldRevisions(sql, projectId, [id]);
      }),
  };
}

type Update = {
  readonly content: Partial<DatapointContent>;
  readonly datasetIds: readonly string[] | undefined;
};

async function update(
  sql: Sql,
  project: ProjectScope,
  id: string,
  { content, datasetIds }: Update,
): Promise<boolean> {
  const { projectId } = project;
  const page = { limit: 1, bytesMax: datapointBytesMax };
  const [row] = isUuid(id) ? await store.datapointRows(sql, projectId, { ids: [id] }, page) : [];
  if (!row) throw notFound();
  const before = toContent(row);
  const texts = toTexts({ ...before, ...content });
  const links = (await datasetStore.listLinks(sql, projectId, [id])).get(id) ?? [];
  const isChanged = !isSame(texts, toTexts(before));
  if (isChanged) {
    const revision = row.revision + 1;
    await store.insertRevision(sql, projectId, { id, ...texts, revision });
    for (const datasetId of links) {
      const change = { added: 0, changed: 1, removed: 0 };
      const { version } = await datasetStore.addVersion(sql, projectId, datasetId, change);
      const held = { datapointId: id, revision };
      await datasetStore.replaceInVersion(sql, projectId, { datasetId, version }, held);
    }
    await datasetStore.deleteUnheldRevisions(sql, projectId, [id]);
  }
  if (datasetIds === undefined) return isChanged;
  const wanted = await findLinked(sql, project, datasetIds);
  const added = wanted.filter((dataset) => !links.includes(dataset.id));
  const removed = links.filter((linked) => wanted.every((dataset) => dataset.id !== linked));
  for (const dataset of added) await addTo(sql, project, dataset, [id]);
  for (const datasetId of removed) await removeFrom(sql, project, datasetId, [id]);
  return isChanged || added.length > 0 || removed.length > 0;
}

function isSame(left: CheckedTexts, right: CheckedTexts): boolean {
  return (
    left.inputs === right.inputs &&
    left.history === right.history &&
    left.groundTruth === right.groundTruth &&
    left.metadata === right.metadata &&
    left.linkedEvent === right.linkedEvent
  );
}

async function insert(
  sql: Sql,
  { projectId }: ProjectScope,
  rows: readonly CheckedTexts[],
): Promise<readonly string[]> {
  const made = rows.map((texts) => ({ id: createUuid(), ...texts }));
  await store.insertDatapoints(sql, projectId, made);
  return made.map(({ id }) => id);
}

function findLinked(sql: Sql, project: ProjectScope, ids: readonly string[]) {
  if (ids.length > linkedDatasetsMax) {
    refuse("linked_datasets", `must be at most ${linkedDatasetsMax}`);
  }
  return findNamed(sql, project, ids, (index) => `linked_datasets[${index}]`);
}

/** Returns the source of a list; undefined if no dataset has the name. */
async function toSource(
  sql: Sql,
  project: ProjectScope,
  { ids, datasetName, datasetId, version, cursor }: DatapointsRequest,
): Promise<DatapointSource | undefined> {
  const given = [ids.length > 0, datasetName !== "", datasetId !== ""].filter(Boolean);
  if (given.length > 1) {
    refuse("datapoint_ids", "give one of datapoint_ids, dataset_name and dataset_id");
  }
  if (version !== undefined && datasetId === "") refuse("version", "needs dataset_id");
  if (given.length === 0) {
    return { after: cursor === undefined ? undefined : parseCursor("datapoints", cursor) };
  }
  const list = listOf(ids.length > 0);
  const afterPosition = cursor === undefined ? 0 : parseKeyCursor(list, cursor, parseSequence);
  if (ids.length > 0) {
    assertCount("datapoint_ids", ids.length);
    return { ids: [...new Set(ids.filter(isUuid))], afterPosition };
  }
  const { projectId } = project;
  const page = { limit: 1, after: undefined, name: datasetName };
  const [dataset] =
    datasetName !== ""
      ? await datasetStore.listDatasets(sql, projectId, page)
      : await findNamed(sql, project, [datasetId], () => "dataset_id");
  if (!dataset) return undefined;
  if (version !== undefined) assertVersion(version, dataset.version);
  return { datasetId: dataset.id, version: version ?? dataset.version, afterPosition };
}

/** Throws INVALID_ARGUMENT unless a dataset has the version. */
export function assertVersion(version: number, current: number): void {
  if (version >= 1 && version <= current) return;
  refuse("version", `must be 1 to ${current}, the current version`);
}

function cursorOf(source: DatapointSource, row: DatapointRow): string {
  if ("after" in source) return formatCursor("datapoints", row);
  return formatKeyCursor(listOf("ids" in source), row.position);
}

/** Returns the list of a cursor that is a place: among given ids, or in a dataset. */
function listOf(isOfIds: boolean): string {
  return isOfIds ? "datapoint-ids" : "dataset";
}

async function toDatapoints(
  sql: Sql,
  project: ProjectScope,
  rows: readonly DatapointRow[],
): Promise<readonly Datapoint[]> {
  const { projectId } = project;
  const ids = rows.map(({ id }) => id);
  const links = await datasetStore.listLinks(sql, projectId, ids);
  const pacer = createPacer(laneOf(project));
  const datapoints: Datapoint[] = [];
  for (const row of rows) {
    const { id, createdAtUs, updatedAt } = row;
    const linkedDatasets = links.get(id) ?? [];
    datapoints.push({ ...toContent(row), id, createdAtUs, updatedAt, linkedDatasets });
    if (pacer.due()) await pacer.rest();
  }
  return datapoints;
}

/** Returns the content of a row that was sent. */
export function toContent(row: DatapointRow): DatapointContent {
  const { inputs, history, groundTruth, metadata } = row;
  return {
    inputs: JSON.parse(inputs ?? "{}") as JsonObject,
    history: JSON.parse(history ?? "[]") as JsonObject[],
    groundTruth: groundTruth === null ? null : (JSON.parse(groundTruth) as JsonObject),
    metadata: metadata === null ? null : (JSON.parse(metadata) as JsonObject),
    linkedEvent: store.linkedEventOf(row) ?? null,
  };
}

/** Returns the lane in which a project's work pauses. */
export function laneOf({ projectId }: ProjectScope): string {
  return `project ${projectId}`;
}

function assertCount(field: string, count: number): void {
  if (Number.isInteger(count) && count >= 1 && count <= datapointsOfCallMax) return;
  refuse(field, `must be 1 to ${datapointsOfCallMax}`);
}

function tooMany(): ServiceError {
  const message =
    `the datapoints are more than ${datapointsOfCallMax}, or too large for one answer; ` +
    "read them in pages, with limit and cursor";
  return new ServiceError("ANSWER_TOO_LARGE", message);
}
