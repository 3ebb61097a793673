// SQL of experiment runs. Every statement names its project.

import type { JsonObject, JsonValue } from "../../base/json.ts";
import type { Fragment, Sql } from "../../postgres/database.ts";
import {
  escapeOrNull,
  escapeText,
  unescapeOrNull,
  unescapeText,
} from "../../tracing/events/postgres-text.ts";
import type { PassingRange } from "./passing.ts";

export const runStatuses = ["pending", "running", "completed", "failed", "cancelled"] as const;
export type RunStatus = (typeof runStatuses)[number];

/** Statuses of runs that go on no longer. */
export const endedStatuses: readonly RunStatus[] = ["completed", "failed", "cancelled"];

/** A reviewer's comment, on one result or on all. */
export type ReviewComment = {
  readonly text: string;
  readonly author: string;
  /** ISO 8601. */
  readonly created_at: string;
  readonly result?: number;
};

/** Parts of a run's report that a client gave, and what reviewers say of the results. */
export type StoredReport = {
  readonly given?: JsonObject;
  /** Whether a result is accepted, by its session; by its index for given results. */
  readonly accepted?: Readonly<Record<string, boolean>>;
  readonly comments?: readonly (ReviewComment | JsonObject)[];
};

/** Parts of a run that a client may give. */
export type RunFields = {
  readonly name: string | null;
  readonly description: string | null;
  readonly status: RunStatus;
  readonly metadata: JsonObject;
  /** Results that the client computed. */
  readonly results: JsonObject;
  readonly configuration: JsonObject;
  /** Evaluators that the client names. */
  readonly evaluators: readonly JsonValue[];
  /** Bounds of passing scores, by metric. */
  readonly passingRanges: Readonly<Record<string, PassingRange>>;
  /** Ids of its sessions. */
  readonly eventIds: readonly string[];
  readonly sessionIds: readonly string[];
  readonly datapointIds: readonly string[];
  readonly datasetId: string | null;
};

export type RunRow = RunFields & {
  readonly runId: string;
  readonly datasetVersion: number | null;
  /** Parts of the report that are stored rather than computed. */
  readonly report: StoredReport;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
};

/** Columns with JSON. */
const jsonColumns = [
  "metadata",
  "results",
  "configuration",
  "evaluators",
  "passingRanges",
  "eventIds",
  "sessionIds",
  "datapointIds",
  "report",
] as const;

type TextColumns = { readonly [K in (typeof jsonColumns)[number]]: string };

type StoredRow = Omit<RunRow, keyof TextColumns> & TextColumns;

function toRow(row: StoredRow): RunRow {
  const parsed = Object.fromEntries(
    jsonColumns.map((name) => [name, JSON.parse(row[name]) as unknown]),
  ) as Pick<RunRow, keyof TextColumns>;
  return {
    ...row,
    ...parsed,
    runId: unescapeText(row.runId),
    createdBy: unescapeText(row.createdBy),
    name: unescapeOrNull(row.name),
    description: unescapeOrNull(row.description),
    datasetId: unescapeOrNull(row.datasetId),
  };
}

function selectRuns(sql: Sql, projectId: string, sortKey: Fragment = sql`null`): Fragment {
  return sql`
    select
      ${sortKey} as "sortKey",
      run_id as "runId", name, description, status, metadata, results, configuration, evaluators,
      passing_ranges as "passingRanges",
      event_ids as "eventIds",
      session_ids as "sessionIds",
      datapoint_ids as "datapointIds",
      dataset_id as "datasetId",
      dataset_version as "datasetVersion",
      report,
      created_by as "createdBy",
      created_at as "createdAt",
      updated_at as "updatedAt"
    from runs
    where project_id = ${projectId}`;
}

/** Returns a run; `lock` keeps others from changing it until the transaction ends. */
export async function findRun(
  sql: Sql,
  projectId: string,
  runId: string,
  { lock = false }: { readonly lock?: boolean } = {},
): Promise<RunRow | undefined> {
  const [row] = await sql<StoredRow[]>`
    ${selectRuns(sql, projectId)} and run_id = ${escapeText(runId)}
    ${lock ? sql`for update` : sql``}`;
  return row && toRow(row);
}

/**
 * Returns the runs of ids that have ended. Waits for changes of these runs that are being
 * committed.
 */
export async function listEnded(
  sql: Sql,
  projectId: string,
  runIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql<{ run_id: string; status: RunStatus }[]>`
    select run_id, status
    from runs
    where project_id = ${projectId} and run_id = any(${runIds.map(escapeText)}::text[])
    for share`;
  return rows
    .filter(({ status }) => endedStatuses.includes(status))
    .map(({ run_id: id }) => unescapeText(id));
}

/** Returns the columns that a client's fields fill, and the version of the dataset. */
function toColumns(row: RunFields & Pick<RunRow, "datasetVersion">) {
  return {
    name: escapeOrNull(row.name),
    description: escapeOrNull(row.description),
    status: row.status,
    metadata: JSON.stringify(row.metadata),
    results: JSON.stringify(row.results),
    configuration: JSON.stringify(row.configuration),
    evaluators: JSON.stringify(row.evaluators),
    passing_ranges: JSON.stringify(row.passingRanges),
    event_ids: JSON.stringify(row.eventIds),
    session_ids: JSON.stringify(row.sessionIds),
    datapoint_ids: JSON.stringify(row.datapointIds),
    dataset_id: escapeOrNull(row.datasetId),
    dataset_version: row.datasetVersion,
  };
}

/** Inserts a run; returns false if the project has one of the id. */
export async function insertRun(
  sql: Sql,
  projectId: string,
  row: RunFields & Pick<RunRow, "runId" | "datasetVersion" | "report" | "createdBy">,
): Promise<boolean> {
  const columns = {
    run_id: escapeText(row.runId),
    ...toColumns(row),
    report: JSON.stringify(row.report),
    created_by: escapeText(row.createdBy),
  };
  const { count } = await sql`
    insert into runs ${sql({ project_id: projectId, ...columns })}
    on conflict do nothing`;
  return count > 0;
}

/** Replaces the fields of a run. */
export async function updateRun(
  sql: Sql,
  projectId: string,
  row: RunFields & Pick<RunRow, "runId" | "datasetVersion">,
): Promise<void> {
  await sql`
    update runs
    set ${sql(toColumns(row))}, updated_at = statement_timestamp()
    where project_id = ${projectId} and run_id = ${escapeText(row.runId)}`;
}

/** Replaces the stored parts of a run's report. */
export async function updateReport(
  sql: Sql,
  projectId: string,
  runId: string,
  report: StoredReport,
): Promise<void> {
  await sql`
    update runs
    set report = ${JSON.stringify(report)}, updated_at = statement_timestamp()
    where project_id = ${projectId} and run_id = ${escapeText(runId)}`;
}

/** Deletes a run; returns false if there was none. */
export async function deleteRun(sql: Sql, projectId: string, runId: string): Promise<boolean> {
  const { count } = await sql`
    delete from runs where project_id = ${projectId} and run_id = ${escapeText(runId)}`;
  return count > 0;
}

type SortColumn = {
  readonly column: string;
  /** Whether the column is a time, else it is a text. */
  readonly isTime: boolean;
};

/** Columns by which a list may be ordered. */
export const sortColumns = {
  created_at: { column: "created_at", isTime: true },
  updated_at: { column: "coalesce(updated_at, created_at)", isTime: true },
  name: { column: "coalesce(name, '') collate \"C\"", isTime: false },
  status: { column: "status", isTime: false },
} as const satisfies Readonly<Record<string, SortColumn>>;

export type RunSearch = {
  /** Undefined for every dataset. */
  readonly datasetId: string | undefined;
  /** Undefined for every run. */
  readonly runIds: readonly string[] | undefined;
  /** Part of the name, in either case; empty for every name. */
  readonly name: string;
  readonly status: RunStatus | undefined;
  /** Microseconds: `fromUs` inclusive, `toUs` exclusive. */
  readonly fromUs: number | undefined;
  readonly toUs: number | undefined;
};

/** Returns the conditions of a search, each after `and`. */
function isFound(sql: Sql, search: RunSearch): Fragment {
  const { datasetId, runIds, name, status, fromUs, toUs } = search;
  return sql`
    ${datasetId === undefined ? sql`` : sql`and dataset_id = ${escapeText(datasetId)}`}
    ${runIds === undefined ? sql`` : sql`and run_id = any(${runIds.map(escapeText)}::text[])`}
    ${name === "" ? sql`` : sql`and strpos(lower(name), lower(${escapeText(name)})) > 0`}
    ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${fromUs === undefined ? sql`` : sql`and created_at >= ${timeOf(sql, fromUs)}`}
    ${toUs === undefined ? sql`` : sql`and created_at < ${timeOf(sql, toUs)}`}`;
}

function timeOf(sql: Sql, us: number | string): Fragment {
  return sql`timestamptz 'epoch' + ${us}::bigint * interval '1 microsecond'`;
}

export type RunOrder = {
  readonly sortBy: keyof typeof sortColumns;
  readonly isAscending: boolean;
};

/** Place of a run in an ordered list. */
export type RunPlace = {
  /** Unix microseconds, or the stored text. */
  readonly sortKey: string;
  readonly runId: string;
};

export type RunPage = RunOrder & {
  readonly limit: number;
  /** Runs to leave out, or the place after which the page begins. */
  readonly from: number | RunPlace;
};

/** Returns a page of the runs that a search finds. */
export async function listRuns(
  sql: Sql,
  projectId: string,
  search: RunSearch,
  { sortBy, isAscending, limit, from }: RunPage,
): Promise<readonly (RunRow & RunPlace)[]> {
  const { column: name, isTime } = sortColumns[sortBy];
  const column: Fragment = sql.unsafe(name);
  const direction = isAscending ? sql`asc` : sql`desc`;
  const key: Fragment = isTime
    ? sql`(extract(epoch from ${column}) * 1000000)::bigint::text`
    : column;
  const rows = await sql<(StoredRow & { readonly sortKey: string })[]>`
    ${selectRuns(sql, projectId, key)} ${isFound(sql, search)}
    ${typeof from === "number" ? sql`` : isAfter(from)}
    order by ${column} ${direction}, run_id ${direction}
    limit ${limit} offset ${typeof from === "number" ? from : 0}`;
  return rows.map((row) => ({ ...toRow(row), sortKey: row.sortKey }));

  function isAfter({ sortKey, runId }: RunPlace): Fragment {
    const value = isTime ? timeOf(sql, sortKey) : sql`${sortKey}::text`;
    const sign = isAscending ? sql`>` : sql`<`;
    return sql`and (${column}, run_id) ${sign} (${value}, ${escapeText(runId)}::text)`;
  }
}

/** Counts the runs that a search finds, and all runs of the project. */
export async function countRuns(
  sql: Sql,
  projectId: string,
  search: RunSearch,
): Promise<{ readonly found: number; readonly all: number }> {
  const [row] = await sql<{ found: number; all: number }[]>`
    select
      count(*) filter (where true ${isFound(sql, search)})::integer as found,
      count(*)::integer as all
    from runs
    where project_id = ${projectId}`;
  return row ?? { found: 0, all: 0 };
}

/** Returns the ids of the datasets of a project's runs. */
export async function listDatasetIds(sql: Sql, projectId: string): Promise<readonly string[]> {
  const rows = await sql<{ dataset_id: string }[]>`
    select distinct dataset_id
    from runs
    where project_id = ${projectId} and dataset_id is not null
    order by dataset_id`;
  return rows.map(({ dataset_id: id }) => unescapeText(id));
}
