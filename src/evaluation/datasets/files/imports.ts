// Imports of files into datasets: every row is checked first, then all are stored in one
// transaction, as one version. The file is read twice, so that no more than a batch of rows is in
// memory. Source: docs/datasets.md, "Files"; docs/decisions.md, 39.7.

import { setTimeout as delay } from "node:timers/promises";
import type { ProjectScope } from "../../../access/scope.ts";
import { refuse } from "../../../base/errors.ts";
import { quoteText } from "../../../base/quote-text.ts";
import { createUuid } from "../../../base/ids.ts";
import { datapointsOfDatasetMax } from "../../../base/tenant-limits.ts";
import type { Sql } from "../../../postgres/database.ts";
import { type CheckedTexts, toAllTexts } from "../datapoint.ts";
import * as store from "../datapoint-store.ts";
import { laneOf } from "../datapoints.ts";
import * as datasetStore from "../dataset-store.ts";
import { changing, type DatasetsOptions, find } from "../datasets.ts";
import { assertKeys, type Mapping } from "../mapping.ts";
import type { FileReader, GivenFile } from "./read-file.ts";
import { type RowContent, toRowContent } from "./row-content.ts";

export type ImportProgress = {
  /** Whether the import is committed. */
  readonly done: boolean;
  readonly rows: number;
  readonly stored: number;
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly version: number;
};

export type ImportRequest = {
  readonly datasetId: string;
  readonly file: GivenFile;
  /** Undefined for the columns of an export. */
  readonly mapping: Mapping | undefined;
  readonly signal: AbortSignal;
};

export type DatasetImports = {
  /**
   * Yields how far the import is, until it is done. Throws NOT_FOUND, and before the first value
   * INVALID_ARGUMENT naming the row. A caller that leaves does not end the import.
   */
  run(project: ProjectScope, request: ImportRequest): AsyncGenerator<ImportProgress, void>;
};

export type DatasetImportsOptions = DatasetsOptions & { readonly reader: FileReader };

/** Time between two values. */
const progressMs = 500;

export function createDatasetImports(options: DatasetImportsOptions): DatasetImports {
  /** Yields the rows of a file, checked. Deletes the names of their columns from `unseen`. */
  async function* rowsOf(
    project: ProjectScope,
    { file, mapping, signal }: ImportRequest,
    unseen = new Set<string>(),
  ) {
    let first = 1;
    for await (const batch of options.reader.read(project, file, signal)) {
      for (const name of unseen) {
        if (batch.some((row) => Object.hasOwn(row, name))) unseen.delete(name);
      }
      const contents: RowContent[] = batch.map((row, index) =>
        toRowContent(row, mapping, `row ${first + index}: `),
      );
      const texts = await toAllTexts(contents, {
        contentOf: ({ content }) => content,
        pathOf: (_, index) => `row ${first + index}: `,
        lane: laneOf(project),
      });
      yield texts.map((one, index) => ({ ...one, id: contents[index]?.id }));
      first += batch.length;
    }
  }

  return {
    async *run(project, request) {
      const { clusters } = options;
      const { datasetId, mapping } = request;
      if (mapping) assertKeys(mapping);
      await find(clusters.database(project.clusterId).sql(), project, datasetId);
      let rows = 0;
      const unseen = new Set(Object.values(mapping ?? {}).flat());
      for await (const batch of rowsOf(project, request, unseen)) rows += batch.length;
      const [absent] = unseen;
      if (absent !== undefined) refuse("file", `no row has ${quoteText(absent)}`);
      const counts = { stored: 0, added: 0, changed: 0, unchanged: 0, version: 0 };
      const whole = { ...request, signal: new AbortController().signal };
      const storing = changing(options, project, (sql) =>
        storeRows(sql, project, datasetId, rowsOf(project, whole), counts),
      ).then(() => true);
      // A caller that leaves does not read the failure.
      storing.catch(() => undefined);
      for (let done = false; !done;) {
        done = await Promise.race([storing, delay(progressMs, false)]);
        yield { ...counts, rows, done };
      }
    },
  };
}

type Counts = { -readonly [K in Exclude<keyof ImportProgress, "done" | "rows">]: number };
type Row = CheckedTexts & { readonly id: string | undefined };
type Held = { readonly datapointId: string; readonly revision: number };

async function storeRows(
  sql: Sql,
  project: ProjectScope,
  datasetId: string,
  batches: AsyncIterable<readonly Row[]>,
  counts: Counts,
): Promise<void> {
  const { projectId } = project;
  const before = await find(sql, project, datasetId);
  const members = new Set(await datasetStore.listIds(sql, projectId, { datasetId, ...before }));
  const added: string[] = [];
  const changed: Held[] = [];
  for await (const batch of batches) {
    const stored = await storeBatch(sql, projectId, batch);
    const isNew = new Set(stored.ids.filter((id) => !members.has(id)));
    for (const id of isNew) members.add(id);
    added.push(...isNew);
    changed.push(...stored.changed);
    const changedIds = new Set(stored.changed.map(({ datapointId }) => datapointId));
    const same = stored.ids.filter((id) => !isNew.has(id) && !changedIds.has(id));
    counts.stored += batch.length;
    counts.added += isNew.size;
    counts.changed += [...changedIds].filter((id) => !isNew.has(id)).length;
    counts.unchanged += same.length;
  }
  if (members.size > datapointsOfDatasetMax) {
    refuse("file", `a dataset has at most ${datapointsOfDatasetMax} datapoints`);
  }
  counts.version = await addVersions(sql, projectId, { datasetId, added, changed });
  if (counts.version === 0) counts.version = before.version;
}

/** Stores the datapoints of a batch; returns all ids in their order, and the changed ones. */
async function storeBatch(
  sql: Sql,
  projectId: string,
  batch: readonly Row[],
): Promise<{ readonly ids: readonly string[]; readonly changed: readonly Held[] }> {
  // The last of rows with the same id counts.
  const byId = new Map(batch.map((row) => [row.id ?? createUuid(), row]));
  const known = await store.compareDatapoints(
    sql,
    projectId,
    [...byId].map(([id, row]) => ({ ...row, id })),
  );
  const ids: string[] = [];
  const created: store.NewDatapoint[] = [];
  const changed: Held[] = [];
  for (const [id, row] of byId) {
    const held = known.get(id);
    ids.push(id);
    if (!held) created.push({ ...row, id });
    if (!held || held.isSame) continue;
    // A deleted datapoint is there again: its older revisions are still in older versions.
    const revision = held.revision + 1;
    await store.insertRevision(sql, projectId, { ...row, id, revision });
    if (held.isCurrent) changed.push({ datapointId: id, revision });
  }
  if (created.length > 0) await store.insertDatapoints(sql, projectId, created);
  return { ids, changed };
}

type Changes = {
  readonly datasetId: string;
  readonly added: readonly string[];
  readonly changed: readonly Held[];
};

/**
 * Creates one version of each dataset that has changes. Returns the version number of the import's
 * dataset; 0 if it has no changes.
 */
async function addVersions(
  sql: Sql,
  projectId: string,
  { datasetId, added, changed }: Changes,
): Promise<number> {
  const links = await datasetStore.listLinks(
    sql,
    projectId,
    changed.map((held) => held.datapointId),
  );
  const byDataset = new Map<string, Held[]>([[datasetId, []]]);
  for (const held of changed) {
    for (const linked of links.get(held.datapointId) ?? []) {
      const list = byDataset.get(linked);
      if (list) list.push(held);
      else byDataset.set(linked, [held]);
    }
  }
  let version = 0;
  for (const [dataset, held] of byDataset) {
    const isOwn = dataset === datasetId;
    const counts = { added: isOwn ? added.length : 0, changed: held.length, removed: 0 };
    if (counts.added + counts.changed === 0) continue;
    const made = await datasetStore.addVersion(sql, projectId, dataset, counts);
    const key = { datasetId: dataset, version: made.version };
    for (const one of held) await datasetStore.replaceInVersion(sql, projectId, key, one);
    if (!isOwn) continue;
    if (added.length > 0) {
      await datasetStore.addToVersion(sql, projectId, { ...key, position: made.position }, added);
    }
    ({ version } = made);
  }
  const ids = changed.map(({ datapointId }) => datapointId);
  if (ids.length > 0) await datasetStore.deleteUnheldRevisions(sql, projectId, ids);
  return version;
}
