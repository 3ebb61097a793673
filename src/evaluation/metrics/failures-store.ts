// SQL of failures in a row: those of a metric in one enablement, without a score between them.
// Every statement names its project.

import type { Sql } from "../../postgres/database.ts";
import { escapeText, unescapeText } from "../../tracing/events/postgres-text.ts";

/** Key of a count: one enablement of a metric. */
export type FailuresKey = {
  readonly projectId: string;
  readonly evaluatorId: string;
  readonly enablement: number;
};

export type FailureCount = { readonly failuresInRow: number; readonly lastFailure?: string };

const noFailures: FailureCount = { failuresInRow: 0 };

/** Returns a count, locked until the transaction ends if `isLocked`. */
export async function findFailures(
  sql: Sql,
  { projectId, evaluatorId, enablement }: FailuresKey,
  { isLocked }: { readonly isLocked: boolean },
): Promise<FailureCount> {
  const [row] = await sql<{ failures_in_row: number; last_failure: string | null }[]>`
    select failures_in_row, last_failure
    from evaluator_streaks
    where project_id = ${projectId} and evaluator_id = ${evaluatorId}
      and enablement = ${enablement}
    ${isLocked ? sql`for update` : sql``}`;
  if (row === undefined) return noFailures;
  const { failures_in_row: failuresInRow, last_failure: text } = row;
  return { failuresInRow, ...(text !== null && { lastFailure: unescapeText(text) }) };
}

/** Creates a count of 0, unless there is one. */
export async function ensureFailures(sql: Sql, key: FailuresKey): Promise<void> {
  await sql`
    insert into evaluator_streaks (project_id, evaluator_id, enablement, failures_in_row)
    values (${key.projectId}, ${key.evaluatorId}, ${key.enablement}, 0)
    on conflict (project_id, evaluator_id, enablement) do nothing`;
}

export async function setFailures(sql: Sql, key: FailuresKey, count: FailureCount): Promise<void> {
  const { failuresInRow, lastFailure } = count;
  await sql`
    update evaluator_streaks
    set failures_in_row = ${failuresInRow},
      last_failure = ${lastFailure === undefined ? null : escapeText(lastFailure)}
    where project_id = ${key.projectId} and evaluator_id = ${key.evaluatorId}
      and enablement = ${key.enablement}`;
}
