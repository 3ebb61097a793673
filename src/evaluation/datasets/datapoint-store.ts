// SQL of datapoints. Every statement names its project.

import type { PendingQuery } from "postgres";
import type { Position } from "../../base/pages.ts";
import type { Fragment, Sql } from "../../postgres/database.ts";
import { isAfter, selectCreatedAtUs } from "../../postgres/keyset.ts";
import { escapeOrNull, unescapeText } from "../../tracing/events/postgres-text.ts";
import { type DatasetVersionKey, isIn } from "./dataset-store.ts";

/** Content of a datapoint: JSON texts. Their characters that Postgres refuses are JSON escapes. */
export type DatapointTexts = {
  readonly inputs: string;
  readonly history: string;
  readonly groundTruth: string | null;
  readonly metadata: string | null;
  readonly linkedEvent: string | null;
};

export type NewDatapoint = DatapointTexts & { readonly id: string; readonly bytes: number };

/** A datapoint that may be sent; its texts are null unless `is_sent`. */
export type DatapointRow = Position & {
  readonly revision: number;
  readonly position: number;
  readonly bytes: number;
  readonly is_sent: boolean;
  readonly inputs: string | null;
  readonly history: string | null;
  readonly groundTruth: string | null;
  readonly metadata: string | null;
  readonly linkedEvent: string | null;
  readonly updatedAt: Date | null;
};

/** Inserts the first revisions of datapoints, which get times of creation in their order. */
export async function insertDatapoints(
  sql: Sql,
  projectId: string,
  rows: readonly NewDatapoint[],
): Promise<void> {
  const list = <K extends keyof NewDatapoint>(key: K) => rows.map((row) => row[key]);
  await sql`
    insert into datapoints (
      project_id, datapoint_id, revision, is_current,
      inputs, history, ground_truth, metadata, linked_event, bytes, created_at
    )
    select
      ${projectId}::uuid, id, 1, true, inputs, history, ground_truth, metadata, linked_event, bytes,
      statement_timestamp()
    from unnest(
      ${list("id")}::uuid[], ${list("inputs")}::text[], ${list("history")}::text[],
      ${list("groundTruth")}::text[], ${list("metadata")}::text[],
      ${list("linkedEvent").map(escapeOrNull)}::text[], ${list("bytes")}::integer[]
    ) as given (id, inputs, history, ground_truth, metadata, linked_event, bytes)`;
}

/** Adds the next revision of a datapoint, which becomes the current one. */
export async function insertRevision(
  sql: Sql,
  projectId: string,
  row: NewDatapoint & { readonly revision: number },
): Promise<void> {
  const { id, inputs, history, groundTruth, metadata, linkedEvent, bytes, revision } = row;
  await retireDatapoint(sql, projectId, id);
  const { count } = await sql`
    insert into datapoints (
      project_id, datapoint_id, revision, is_current,
      inputs, history, ground_truth, metadata, linked_event, bytes, created_at, updated_at
    )
    select
      project_id, datapoint_id, ${revision}, true,
      ${inputs}, ${history}, ${groundTruth}, ${metadata}, ${escapeOrNull(linkedEvent)}, ${bytes},
      created_at, statement_timestamp()
    from datapoints
    where project_id = ${projectId} and datapoint_id = ${id} and revision = ${revision - 1}`;
  if (count === 0) throw new Error("a locked datapoint does not exist");
}

/** Ends the current revisions of datapoints; versions of datasets may still have them. */
export async function retireDatapoint(sql: Sql, projectId: string, id: string): Promise<void> {
  await sql`
    update datapoints
    set is_current = false
    where project_id = ${projectId} and datapoint_id = ${id} and is_current`;
}

/** The newest revision of a datapoint; not current if the datapoint was deleted. */
export type NewestRevision = {
  readonly revision: number;
  readonly isCurrent: boolean;
  /** True if the revision is current and has the content of the given datapoint. */
  readonly isSame: boolean;
};

/** Compares datapoints with the newest revisions of their ids; returns those that exist. */
export async function compareDatapoints(
  sql: Sql,
  projectId: string,
  rows: readonly NewDatapoint[],
): Promise<ReadonlyMap<string, NewestRevision>> {
  const list = <K extends keyof NewDatapoint>(key: K) => rows.map((row) => row[key]);
  const found = await sql<(NewestRevision & { readonly id: string })[]>`
    select
      given.id,
      held.revision,
      held.is_current as "isCurrent",
      held.is_current
        and (held.inputs, held.history, held.ground_truth, held.metadata, held.linked_event)
        is not distinct from
        (given.inputs, given.history, given.ground_truth, given.metadata, given.linked_event)
        as "isSame"
    from unnest(
      ${list("id")}::uuid[], ${list("inputs")}::text[], ${list("history")}::text[],
      ${list("groundTruth")}::text[], ${list("metadata")}::text[],
      ${list("linkedEvent").map(escapeOrNull)}::text[]
    ) as given (id, inputs, history, ground_truth, metadata, linked_event)
    cross join lateral (
      select * from datapoints
      where project_id = ${projectId} and datapoint_id = given.id
      order by revision desc
      limit 1
    ) as held`;
  return new Map(found.map(({ id, ...revision }) => [id, revision]));
}

/** Returns which of the ids are datapoints of the project. */
export async function findIds(
  sql: Sql,
  projectId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ datapoint_id: string }[]>`
    select datapoint_id
    from datapoints
    where project_id = ${projectId} and datapoint_id = any(${[...ids]}::uuid[]) and is_current`;
  return new Set(rows.map(({ datapoint_id: id }) => id));
}

/** Datapoints to read: of ids, of a version of a dataset, or all by creation. */
export type DatapointSource =
  | { readonly ids: readonly string[]; readonly afterPosition?: number }
  | (DatasetVersionKey & { readonly afterPosition: number })
  | { readonly after: Position | undefined };

/**
 * Returns the first `limit` datapoints of a source. Texts are sent, in the order of the source,
 * until their total exceeds `bytesMax`; those of the first row only if they fit.
 */
export function datapointRows(
  sql: Sql,
  projectId: string,
  source: DatapointSource,
  { limit, bytesMax }: { readonly limit: number; readonly bytesMax: number },
): PendingQuery<DatapointRow[]> {
  return sql<DatapointRow[]>`
    select
      datapoint_id as id, "createdAtUs", revision, position, bytes, is_sent,
      case when is_sent then inputs end as inputs,
      case when is_sent then history end as history,
      case when is_sent then ground_truth end as "groundTruth",
      case when is_sent then metadata end as metadata,
      case when is_sent then linked_event end as "linkedEvent",
      updated_at as "updatedAt"
    from (
      select
        *, ${selectCreatedAtUs(sql, "created_at")},
        sum(bytes) over (rows unbounded preceding) <= ${bytesMax} as is_sent
      from (${selectSource(sql, projectId, source)} limit ${limit}) as found
    ) as measured`;
}

function selectSource(sql: Sql, projectId: string, source: DatapointSource): Fragment {
  if ("ids" in source) {
    const { ids, afterPosition = 0 } = source;
    return sql`
      select datapoints.*, place as position
      from unnest(${[...ids]}::uuid[]) with ordinality as asked (id, place)
      join datapoints on datapoints.project_id = ${projectId}
        and datapoints.datapoint_id = asked.id and is_current
      where place > ${afterPosition}
      order by place`;
  }
  if ("datasetId" in source) {
    const { datasetId, version, afterPosition } = source;
    return sql`
      select datapoints.*, held.position
      from dataset_datapoints as held
      join datapoints on datapoints.project_id = ${projectId}
        and datapoints.datapoint_id = held.datapoint_id and datapoints.revision = held.revision
      where held.project_id = ${projectId} and held.dataset_id = ${datasetId}
        and ${isIn(sql, version)} and held.position > ${afterPosition}
      order by held.position`;
  }
  return sql`
    select datapoints.*, 0 as position
    from datapoints
    where project_id = ${projectId} and is_current
      and ${isAfter(sql, ["created_at", "datapoint_id"], source.after)}
    order by created_at, datapoint_id`;
}

/** Returns the id of the event that a datapoint came from. */
export function linkedEventOf({ linkedEvent }: DatapointRow): string | undefined {
  return linkedEvent === null ? undefined : unescapeText(linkedEvent);
}
