// Experiment runs: created and changed by clients, listed in pages. Source: docs/experiments.md;
// docs/decisions.md, 39.3.

import { isDeepStrictEqual } from "node:util";
import { assertCount } from "../../base/assert-count.ts";
import { type Actor, describeActor } from "../../base/actor.ts";
import { assertLength, assertName } from "../../base/assert-text.ts";
import { parseChoice, refuseChoice } from "../../base/choices.ts";
import { runDescriptionLengthMax, runNameLengthMax } from "../../base/field-limits.ts";
import {
  runBytesMax,
  runIdsMax,
  runsOfPageMax,
  runsOfProjectMax,
} from "../../base/tenant-limits.ts";
import type { ProjectScope } from "../../access/scope.ts";
import { refuse, ServiceError } from "../../base/errors.ts";
import { createUuid, isRecordId } from "../../base/ids.ts";
import { toPageBy } from "../../base/pages.ts";
import type { Clusters } from "../../postgres/clusters.ts";
import type { Sql } from "../../postgres/database.ts";
import { assertSound } from "../../tracing/events/parse-event.ts";
import { type Bounds, parseBounds } from "../../tracing/export/instant.ts";
import type { RunSessions } from "../../tracing/run-events/run-events.ts";
import type { DatasetRow } from "../datasets/dataset-store.ts";
import type { Datasets } from "../datasets/datasets.ts";
import type { PassingRange } from "./passing.ts";
import { formatRunCursor, parseRunCursor } from "./run-cursor.ts";
import * as store from "./store.ts";
import { type RunFields, type RunRow, type RunStatus, runStatuses, sortColumns } from "./store.ts";
import type { StoredReport } from "./store.ts";

/** A run with the name of its dataset; null if the project has no such dataset. */
export type Run = RunRow & { readonly datasetName: string | null };

/** Fields that a client gives; absent ones stay as they are. */
export type RunChange = Partial<Omit<RunFields, "status">> & {
  readonly status?: string | undefined;
};

export type RunsRequest = Bounds & {
  /** Empty for every dataset. */
  readonly datasetId: string;
  /** Empty for every run. */
  readonly runIds: readonly string[];
  /** Part of the name; empty for every name. */
  readonly name: string;
  /** Empty for every status. */
  readonly status: string;
  readonly page?: number | undefined;
  /** `nextCursor` of the page before, instead of `page`. */
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  readonly sortBy: string;
  readonly sortOrder: string;
};

export type RunsPage = {
  readonly runs: readonly Run[];
  readonly page: number;
  readonly limit: number;
  readonly found: number;
  /** Runs of the project. */
  readonly all: number;
  /** Undefined at the end. */
  readonly nextCursor: string | undefined;
};

export type CreateRunOptions = {
  /** Empty for a new id. */
  readonly runId: string;
  readonly change: RunChange;
  readonly actor: Actor;
  /** Report that the client has already; default: the computed one. */
  readonly report?: StoredReport;
};

/** Every method acts on the caller's project only. */
export type Runs = {
  /** Creates a run, or changes the run of the id. Throws INVALID_ARGUMENT naming the field. */
  create(project: ProjectScope, options: CreateRunOptions): Promise<Run>;
  /** Returns undefined if the project has no such run. */
  find(project: ProjectScope, runId: string): Promise<RunRow | undefined>;
  /**
   * Returns the runs of ids that have ended. A run that is ending counts: in a transaction, the
   * answer holds until its commit.
   */
  findEnded(project: ProjectScope, runIds: readonly string[]): Promise<readonly string[]>;
  /** Throws NOT_FOUND. */
  get(project: ProjectScope, runId: string): Promise<Run>;
  /** Changes the given fields. Throws NOT_FOUND, and INVALID_ARGUMENT naming the field. */
  update(project: ProjectScope, runId: string, change: RunChange): Promise<Run>;
  /** Changes the stored parts of the report, and returns them. Throws NOT_FOUND. */
  updateReport(
    project: ProjectScope,
    runId: string,
    change: (before: StoredReport) => StoredReport,
  ): Promise<StoredReport>;
  /** Throws NOT_FOUND. */
  delete(project: ProjectScope, runId: string): Promise<void>;
  /** Returns a page of runs. Throws INVALID_ARGUMENT naming a wrong option. */
  list(project: ProjectScope, request: RunsRequest): Promise<RunsPage>;
  /** Returns all runs, newest first. Throws ANSWER_TOO_LARGE if they are too many. */
  listAll(project: ProjectScope): Promise<readonly Run[]>;
  /** Returns the ids of the datasets of all runs. */
  listDatasetIds(project: ProjectScope): Promise<readonly string[]>;
};

export type RunsOptions = {
  readonly clusters: Pick<Clusters, "database">;
  readonly datasets: Pick<Datasets, "find">;
  /** Called in the transaction that ends a run, before its commit. */
  readonly onEnded?: (sql: Sql, project: ProjectScope, run: RunRow) => Promise<void>;
  /** Called with each run that is deleted. */
  readonly forgetExecution?: (project: ProjectScope, runId: string) => Promise<void>;
};

const emptyRun: RunFields = {
  name: null,
  description: null,
  status: "pending",
  metadata: {},
  results: {},
  configuration: {},
  evaluators: [],
  passingRanges: {},
  eventIds: [],
  sessionIds: [],
  datapointIds: [],
  datasetId: null,
};

const limitDefault = 20;

/** Maximum runs of a list without pages. */
const runsOfListMax = 1_000;

export function createRuns(options: RunsOptions): Runs {
  const { clusters, datasets } = options;
  const sqlOf = ({ clusterId }: ProjectScope): Sql => clusters.database(clusterId).sql();
  const changing = <T>(project: ProjectScope, work: (sql: Sql) => Promise<T>): Promise<T> =>
    clusters.database(project.clusterId).transaction(work, { owner: project.projectId });

  const findDataset = async (
    project: ProjectScope,
    datasetId: string | null,
  ): Promise<DatasetRow | undefined> =>
    datasetId === null ? undefined : datasets.find(project, datasetId);

  async function withDataset(project: ProjectScope, row: RunRow): Promise<Run> {
    const dataset = await findDataset(project, row.datasetId);
    return { ...row, datasetName: dataset?.name ?? null };
  }

  async function find(sql: Sql, project: ProjectScope, runId: string, lock = false) {
    const row = isRecordId(runId)
      ? await store.findRun(sql, project.projectId, runId, { lock })
      : undefined;
    if (!row) throw notFound();
    return row;
  }

  async function applyChange(sql: Sql, project: ProjectScope, before: RunRow, change: RunChange) {
    const fields = merge(before, change);
    if (isDeepStrictEqual(fields, before)) return before;
    const isOther = fields.datasetId !== before.datasetId;
    const version = isOther
      ? ((await findDataset(project, fields.datasetId))?.version ?? null)
      : before.datasetVersion;
    const row = { ...fields, runId: before.runId, datasetVersion: version };
    await store.updateRun(sql, project.projectId, row);
    const after = await find(sql, project, before.runId);
    if (!isEnded(before) && isEnded(after)) await options.onEnded?.(sql, project, after);
    return after;
  }

  return {
    async create(project, { runId: given, change, actor, report = {} }) {
      const { projectId } = project;
      const createdBy = describeActor(actor);
      if (given !== "" && !isRecordId(given)) {
        refuse("run_id", "must be 1 to 128 printable characters");
      }
      const runId = given || createUuid();
      const fields = merge(emptyRun, change);
      const dataset = await findDataset(project, fields.datasetId);
      const datasetVersion = dataset?.version ?? null;
      const row = await changing(project, async (sql) => {
        const { all } = await store.countRuns(sql, projectId, everyRun);
        if (all >= runsOfProjectMax) {
          refuse("run_id", `the project has ${runsOfProjectMax} runs already; delete some`);
        }
        const made = { ...fields, runId, datasetVersion, report, createdBy };
        const isNew = await store.insertRun(sql, projectId, made);
        const found = await find(sql, project, runId, true);
        if (!isNew) return applyChange(sql, project, found, change);
        if (isEnded(found)) await options.onEnded?.(sql, project, found);
        return found;
      });
      return withDataset(project, row);
    },

    find: async (project, runId) =>
      isRecordId(runId) ? store.findRun(sqlOf(project), project.projectId, runId) : undefined,

    findEnded: (project, runIds) => store.listEnded(sqlOf(project), project.projectId, runIds),

    get: async (project, runId) => withDataset(project, await find(sqlOf(project), project, runId)),

    async update(project, runId, change) {
      const row = await changing(project, async (sql) =>
        applyChange(sql, project, await find(sql, project, runId, true), change),
      );
      return withDataset(project, row);
    },

    updateReport: (project, runId, change) =>
      changing(project, async (sql) => {
        const report = change((await find(sql, project, runId, true)).report);
        await store.updateReport(sql, project.projectId, runId, report);
        return report;
      }),

    async delete(project, runId) {
      const sql = sqlOf(project);
      const isDeleted = isRecordId(runId) && (await store.deleteRun(sql, project.projectId, runId));
      if (!isDeleted) throw notFound();
      await options.forgetExecution?.(project, runId);
    },

    async list(project, request) {
      const { limit = limitDefault } = request;
      assertCount("limit", limit, runsOfPageMax);
      const search = toSearch(request);
      const order = parseOrder(request);
      const { page, from } = parsePage(request, order, limit);
      const sql = sqlOf(project);
      const { found, all } = await store.countRuns(sql, project.projectId, search);
      const rows = await store.listRuns(sql, project.projectId, search, {
        ...order,
        limit: limit + 1,
        from,
      });
      const { items, nextCursor } = toPageBy(rows, limit, (row) =>
        formatRunCursor({ ...order, ...row, page: page + 1 }),
      );
      const runs: Run[] = [];
      for (const row of items) runs.push(await withDataset(project, row));
      return { runs, page, limit, found, all, nextCursor };
    },

    async listAll(project) {
      const rows = await store.listRuns(sqlOf(project), project.projectId, everyRun, {
        sortBy: "created_at",
        isAscending: false,
        limit: runsOfListMax + 1,
        from: 0,
      });
      if (rows.length > runsOfListMax) {
        const message = `the project has more than ${runsOfListMax} runs; use GET /v1/runs`;
        throw new ServiceError("ANSWER_TOO_LARGE", message);
      }
      return rows.map((row) => ({ ...row, datasetName: null }));
    },

    listDatasetIds: (project) => store.listDatasetIds(sqlOf(project), project.projectId),
  };
}

const everyRun: store.RunSearch = {
  datasetId: undefined,
  runIds: undefined,
  name: "",
  status: undefined,
  fromUs: undefined,
  toUs: undefined,
};

function toSearch(request: RunsRequest): store.RunSearch {
  const { datasetId, runIds, name, status } = request;
  return {
    datasetId: datasetId || undefined,
    runIds: runIds.length > 0 ? runIds : undefined,
    name,
    status: status === "" ? undefined : parseStatus(status),
    ...parseBounds(request),
  };
}

function parseOrder({ sortBy, sortOrder }: RunsRequest) {
  const column = sortBy || "created_at";
  const isColumn = (text: string): text is keyof typeof sortColumns =>
    Object.hasOwn(sortColumns, text);
  if (!isColumn(column)) return refuseChoice("sort_by", Object.keys(sortColumns), column);
  const order = parseChoice("sort_order", ["asc", "desc"], sortOrder || "desc");
  return { sortBy: column, isAscending: order === "asc" };
}

/** Returns the number of a page, and where it begins. */
function parsePage({ page, cursor }: RunsRequest, order: store.RunOrder, limit: number) {
  if (cursor !== undefined) {
    if (page !== undefined) refuse("page", "must be absent where cursor is given");
    const place = parseRunCursor(cursor, order);
    return { page: place.page, from: place };
  }
  const number = page ?? 1;
  assertCount("page", number, 1_000_000);
  return { page: number, from: (number - 1) * limit };
}

/** Returns a run's fields after a change. Throws INVALID_ARGUMENT naming the field. */
function merge(before: RunFields, change: RunChange): RunFields {
  const { status, metadata, ...rest } = change;
  const fields = {
    ...before,
    ...rest,
    status: status === undefined ? before.status : parseStatus(status),
    metadata: { ...before.metadata, ...metadata },
  };
  if (change.name) assertName("name", change.name, runNameLengthMax);
  assertLength("description", fields.description ?? "", runDescriptionLengthMax);
  if (fields.datasetId !== null && !isRecordId(fields.datasetId)) {
    refuse("dataset_id", "must be 1 to 128 printable characters");
  }
  assertSound(fields.metadata, "metadata");
  assertSound(fields.results, "results");
  assertSound(fields.configuration, "configuration");
  assertSound({ evaluators: fields.evaluators }, "evaluators");
  assertIds("event_ids", fields.eventIds);
  assertIds("session_ids", fields.sessionIds);
  assertIds("datapoint_ids", fields.datapointIds);
  assertRanges(fields.passingRanges);
  if (Buffer.byteLength(JSON.stringify(fields)) > runBytesMax) {
    refuse("metadata", `the run has more than ${runBytesMax} bytes as JSON`);
  }
  return fields;
}

function isEnded({ status }: Pick<RunRow, "status">): boolean {
  return store.endedStatuses.includes(status);
}

function parseStatus(text: string): RunStatus {
  const status = runStatuses.find((one) => one === text.toLowerCase());
  return status ?? refuseChoice("status", runStatuses, text);
}

function assertIds(field: string, ids: readonly string[]): void {
  if (ids.length > runIdsMax) refuse(field, `must be at most ${runIdsMax} ids`);
  ids.forEach((id, index) => {
    if (!isRecordId(id)) refuse(`${field}[${index}]`, "must be 1 to 128 printable characters");
  });
}

function assertRanges(ranges: Readonly<Record<string, PassingRange>>): void {
  for (const [name, { min = -Infinity, max = Infinity }] of Object.entries(ranges)) {
    const field = `passing_ranges.${name}`;
    if (Number.isNaN(min) || Number.isNaN(max)) refuse(field, "must hold finite numbers");
    if (min > max) refuse(field, "min must not be above max");
  }
}

type RunIds = Pick<RunRow, "runId" | "eventIds" | "sessionIds">;

/** Returns what names the sessions of a run: its id, and the ids that the run itself lists. */
export function sessionsOf({ runId, eventIds, sessionIds }: RunIds): RunSessions {
  return { runId, sessionIds: [...new Set([...eventIds, ...sessionIds])] };
}

function notFound(): ServiceError {
  return new ServiceError("NOT_FOUND", "no such run");
}
