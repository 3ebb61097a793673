// SQL for the runs of a version that wait longest. Called by the stores that take them: into a new
// chunk, into one that runs, and off the queue.

import type { PendingQuery, Row } from "postgres";
import type { Sql } from "../../postgres/database.ts";

type Fragment = PendingQuery<Row[]>;

/** Ids of at most `limit` events, locked; those that others have locked are theirs. */
export function longestWaiting(
  sql: Sql,
  version: {
    readonly projectId: string;
    readonly evaluatorId: string;
    readonly version: number;
  },
  limit: number | Fragment,
): Fragment {
  return sql`
    select event_id
    from scores
    where project_id = ${version.projectId} and evaluator_id = ${version.evaluatorId}
      and version = ${version.version} and state = 'queued'
    order by queued_at
    limit ${limit}
    for update skip locked`;
}
