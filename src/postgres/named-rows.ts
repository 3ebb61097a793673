// Resources of a project that have a name each, in tables of the control database whose rows are
// marked as deleted: their number, and names that are taken. Source: docs/decisions.md, 28.

import { ServiceError } from "../base/errors.ts";
import type { Sql } from "./database.ts";
import { type LockedTable, lockRows } from "./row-locks.ts";

export type NamedRowsOptions = {
  readonly table: LockedTable;
  /** Column of the id. */
  readonly idColumn: string;
  /** Name of one of them in messages. */
  readonly noun: string;
};

export type NamedRows = {
  /** Waits until no other transaction changes a project's rows, and returns their number. */
  lockCount(sql: Sql, projectId: string): Promise<number>;
  /** Throws NAME_TAKEN if another row of the project has the name. */
  assertNameFree(
    sql: Sql,
    projectId: string,
    named: { readonly id: string; readonly name: string },
  ): Promise<void>;
};

export function namedRows({ table, idColumn, noun }: NamedRowsOptions): NamedRows {
  return {
    async lockCount(sql, projectId) {
      await lockRows(sql, table, projectId);
      const [row] = await sql<{ count: number }[]>`
        select count(*)::integer as count from ${sql(table)}
        where project_id = ${projectId} and deleted_at is null`;
      return row?.count ?? 0;
    },
    async assertNameFree(sql, projectId, { id, name }) {
      const others = await sql`
        select 1 from ${sql(table)}
        where project_id = ${projectId} and name = ${name} and ${sql(idColumn)} <> ${id}
          and deleted_at is null`;
      if (others.length === 0) return;
      throw new ServiceError("NAME_TAKEN", `name: another ${noun} of the project has it`);
    },
  };
}
