// Rows that a project has in a table of the control database: their lock, their number, their
// deletion, and names that are taken. Source: docs/decisions.md, 28.

import { ServiceError } from "../base/errors.ts";
import type { Sql } from "./database.ts";
import { type LockedTable, lockRows } from "./row-locks.ts";

export type ProjectRows = {
  /** Waits until no other transaction changes a project's rows. */
  lock(sql: Sql, projectId: string): Promise<void>;
  /** Returns the number of a project's rows. */
  count(sql: Sql, projectId: string): Promise<number>;
};

/** `isMarked`: rows are marked as deleted, not deleted for good. */
export function projectRows(
  table: LockedTable,
  { isMarked = false }: { readonly isMarked?: boolean } = {},
): ProjectRows {
  return {
    lock: (sql, projectId) => lockRows(sql, table, projectId),
    async count(sql, projectId) {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::integer as count from ${sql(table)}
        where project_id = ${projectId} ${isMarked ? sql`and deleted_at is null` : sql``}`;
      return row?.count ?? 0;
    },
  };
}

export type DeletableRows = ProjectRows & {
  delete(sql: Sql, projectId: string, id: string): Promise<void>;
};

/** Returns the rows of a table whose rows are deleted for good, by the column of their id. */
export function deletableRows(table: LockedTable, idColumn: string): DeletableRows {
  return {
    ...projectRows(table),
    async delete(sql, projectId, id) {
      await sql`
        delete from ${sql(table)} where project_id = ${projectId} and ${sql(idColumn)} = ${id}`;
    },
  };
}

export type NamedRows = ProjectRows & {
  /** Throws NAME_TAKEN if another row of the project has the name. */
  assertNameFree(
    sql: Sql,
    projectId: string,
    named: { readonly id: string; readonly name: string },
  ): Promise<void>;
};

export type NamedRowsOptions = {
  readonly table: LockedTable;
  /** Column of the id. */
  readonly idColumn: string;
  /** Name of one of them in messages. */
  readonly noun: string;
};

/** Returns the rows of a table whose rows have a name each and are marked as deleted. */
export function namedRows({ table, idColumn, noun }: NamedRowsOptions): NamedRows {
  return {
    ...projectRows(table, { isMarked: true }),
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
