// Advisory locks for changes of the rows that a project or another owner has in a table.

import type { Sql } from "./database.ts";

/**
 * Arbitrary numbers, one a table; with the owner's id, the key of a lock. A number stays as it is,
 * because servers of two releases run side by side.
 */
export const rowLockKeys = {
  api_key_policies: 615_204,
  provider_credentials: 730_511,
  model_aliases: 730_512,
  evaluators: 730_513,
  evaluator_backfills: 730_514,
  annotation_queues: 730_517,
  datasets: 730_520,
  configurations: 730_522,
  tools: 730_523,
  charts: 730_526,
  alerts: 730_527,
  budgets: 730_528,
  views: 730_529,
  dashboards: 730_530,
  run_executions: 730_531,
  model_prices: 730_532,
} as const;

export type LockedTable = keyof typeof rowLockKeys;

/** Waits until no other transaction changes the rows of an owner. */
export async function lockRows(sql: Sql, table: LockedTable, ownerId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${rowLockKeys[table]}, hashtext(${ownerId}))`;
}
