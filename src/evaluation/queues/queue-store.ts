// SQL of annotation queues, in the control database. Every statement names its project.

import type { ProjectId } from "../../base/ids.ts";
import type { Fragment, Sql } from "../../postgres/database.ts";
import { projectRows } from "../../postgres/project-rows.ts";
import type { Filters } from "../metrics/definition.ts";

/** Parts of a queue that people set. */
export type QueueSettings = {
  readonly name: string;
  readonly description: string;
  readonly filters: Filters;
  readonly isEnabled: boolean;
  /** Number of people who review each event. */
  readonly reviewers: number;
  readonly claimSeconds: number;
};

export type QueueRow = QueueSettings & {
  readonly id: string;
  readonly projectId: ProjectId;
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
};

/** The part of an enabled queue that routes events. */
export type RoutedQueue = Pick<QueueRow, "id" | "filters">;

function selectQueues(sql: Sql, projectId: string): Fragment {
  return sql`
    select
      queue_id as id,
      project_id as "projectId",
      name, description, filters,
      is_enabled as "isEnabled",
      reviewers,
      claim_seconds as "claimSeconds",
      created_at as "createdAt",
      updated_at as "updatedAt"
    from annotation_queues
    where project_id = ${projectId} and deleted_at is null`;
}

/** Returns the queues of a project, oldest first. */
export async function listQueues(
  sql: Sql,
  projectId: string,
  isEnabled: boolean | undefined,
): Promise<readonly QueueRow[]> {
  const wanted = isEnabled === undefined ? sql`true` : sql`is_enabled = ${isEnabled}`;
  return sql<QueueRow[]>`
    ${selectQueues(sql, projectId)} and ${wanted}
    order by created_at, queue_id`;
}

export async function findQueue(
  sql: Sql,
  projectId: string,
  id: string,
): Promise<QueueRow | undefined> {
  const [row] = await sql<QueueRow[]>`${selectQueues(sql, projectId)} and queue_id = ${id}`;
  return row;
}

/** Returns the enabled queues with filters: matching events are added to them automatically. */
export async function listRouted(sql: Sql, projectId: string): Promise<readonly RoutedQueue[]> {
  return sql<RoutedQueue[]>`
    select queue_id as id, filters
    from annotation_queues
    where project_id = ${projectId} and deleted_at is null and is_enabled
      and jsonb_array_length(filters -> 'filterArray') > 0
    order by queue_id`;
}

/** Lock and number of a project's queues. */
export const queueRows = projectRows("annotation_queues", { isMarked: true });

export async function insertQueue(
  sql: Sql,
  projectId: string,
  row: QueueSettings & { readonly id: string; readonly createdBy: string },
): Promise<void> {
  await sql`
    insert into annotation_queues (
      queue_id, project_id, name, description, filters, is_enabled, reviewers, claim_seconds,
      created_by
    )
    values (
      ${row.id}, ${projectId}, ${row.name}, ${row.description},
      ${JSON.stringify(row.filters)}::text::jsonb, ${row.isEnabled}, ${row.reviewers},
      ${row.claimSeconds}, ${row.createdBy}
    )`;
}

export async function updateQueue(
  sql: Sql,
  projectId: string,
  row: QueueSettings & { readonly id: string },
): Promise<void> {
  await sql`
    update annotation_queues set
      name = ${row.name},
      description = ${row.description},
      filters = ${JSON.stringify(row.filters)}::text::jsonb,
      is_enabled = ${row.isEnabled},
      reviewers = ${row.reviewers},
      claim_seconds = ${row.claimSeconds},
      updated_at = clock_timestamp()
    where project_id = ${projectId} and queue_id = ${row.id}`;
}

/** Marks a queue as deleted; records of people's scores refer to it. */
export async function markDeleted(sql: Sql, projectId: string, id: string): Promise<void> {
  await sql`
    update annotation_queues set deleted_at = clock_timestamp(), is_enabled = false
    where project_id = ${projectId} and queue_id = ${id}`;
}
