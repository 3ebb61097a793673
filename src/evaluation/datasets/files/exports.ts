// Exports of datasets: all datapoints of a version, page by page.
// Source: docs/datasets.md, "Files".

import type { ProjectScope } from "../../../access/scope.ts";
import { ServiceError } from "../../../base/errors.ts";
import { createPacer } from "../../../base/pacer.ts";
import { datapointBytesMax } from "../../../base/tenant-limits.ts";
import { createReadContext, type Reading, readWithin } from "../../../tracing/events/sized-read.ts";
import type { DatapointContent } from "../datapoint.ts";
import * as store from "../datapoint-store.ts";
import { findDatasets } from "../dataset-store.ts";
import { assertVersion, laneOf, toContent } from "../datapoints.ts";
import { type DatasetsOptions, find } from "../datasets.ts";

type DatapointOfVersion = DatapointContent & { readonly id: string };

export type DatapointsOfVersion = {
  readonly version: number;
  readonly items: readonly DatapointOfVersion[];
};

/** A version of a dataset, and the position after which a page begins; 0 for the first page. */
export type PlaceInVersion = {
  readonly datasetId: string;
  readonly version: number;
  readonly afterPosition: number;
};

export type PageOfVersion = {
  readonly items: readonly DatapointOfVersion[];
  /** Position after which the next page begins; undefined at the end. */
  readonly next: number | undefined;
};

export type DatasetExports = {
  /**
   * Yields all datapoints of a version of a dataset in pages, with its number; default: the current
   * version. Throws NOT_FOUND, and INVALID_ARGUMENT naming `version`.
   */
  pages(
    project: ProjectScope,
    dataset: { readonly datasetId: string; readonly version?: number | undefined },
    reading?: Reading,
  ): AsyncGenerator<DatapointsOfVersion, void>;
  /**
   * Returns the next datapoints of a version: at most `limit`, and few megabytes. Returns undefined
   * if the dataset was deleted.
   */
  page(
    project: ProjectScope,
    place: PlaceInVersion,
    limit: number,
  ): Promise<PageOfVersion | undefined>;
};

/** Bytes of a page; one datapoint of the maximum size fits. */
const bytesMax = datapointBytesMax;
const rowsOfPage = 500;

export function createDatasetExports({ clusters }: DatasetsOptions): DatasetExports {
  async function readPage(
    project: ProjectScope,
    place: PlaceInVersion,
    limit: number,
    reading?: Reading,
  ): Promise<PageOfVersion | undefined> {
    const { projectId } = project;
    const database = clusters.database(project.clusterId);
    const context = createReadContext(database, projectId, reading);
    const rows = await readWithin(context, bytesMax, (read) =>
      store.datapointRows(read, projectId, place, { limit, bytesMax }),
    );
    const sent = rows.filter((row) => row.is_sent);
    const pacer = createPacer(laneOf(project));
    const items: DatapointOfVersion[] = [];
    for (const row of sent) {
      items.push({ ...toContent(row), id: row.id });
      if (pacer.due()) await pacer.rest();
    }
    const hasMore = rows.length === limit || sent.length < rows.length;
    if (hasMore) return { items, next: sent.at(-1)?.position };
    // The rows of a dataset that was deleted meanwhile look like the end.
    const [dataset] = await findDatasets(database.sql(), projectId, [place.datasetId]);
    return dataset && { items, next: undefined };
  }

  return {
    page: readPage,

    async *pages(project, { datasetId, version: asked }, reading) {
      const sql = clusters.database(project.clusterId).sql();
      const { id, version: current } = await find(sql, project, datasetId);
      const version = asked ?? current;
      assertVersion(version, current);
      for (let next: number | undefined = 0; next !== undefined;) {
        const place = { datasetId: id, version, afterPosition: next };
        const page = await readPage(project, place, rowsOfPage, reading);
        if (!page) throw new ServiceError("NOT_FOUND", "the dataset was deleted meanwhile");
        yield { version, items: page.items };
        ({ next } = page);
      }
    },
  };
}
