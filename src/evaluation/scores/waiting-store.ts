// SQL for the longest waiting runs of a version.

import type { PendingQuery, Row } from "postgres";
import type { Sql } from "../../postgres/database.ts";

type Fragment = PendingQuery<Row[]>;

/** Selects and locks the events of at most `limit` runs; skips runs that others have locked. */
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
