// Resources of a project whose number is limited, in tables whose rows are deleted for good.

import type { Sql } from "./database.ts";
import { type LockedTable, lockRows } from "./row-locks.ts";

export type ProjectRows = {
  /** Waits until no other transaction changes a project's rows. */
  lock(sql: Sql, projectId: string): Promise<void>;
  /** Returns the number of a project's rows. */
  count(sql: Sql, projectId: string): Promise<number>;
};

export function projectRows(table: LockedTable): ProjectRows {
  return {
    lock: (sql, projectId) => lockRows(sql, table, projectId),
    async count(sql, projectId) {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::integer as count from ${sql(table)} where project_id = ${projectId}`;
      return row?.count ?? 0;
    },
  };
}
