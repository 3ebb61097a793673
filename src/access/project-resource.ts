// Resources of a project that a change replaces as a whole, such as charts: how they are read,
// created, changed and deleted. Source: docs/decisions.md, 28, 34.2.

import type { Actor } from "../base/actor.ts";
import { ServiceError } from "../base/errors.ts";
import { createUuid } from "../base/ids.ts";
import type { Sql } from "../postgres/database.ts";
import type { DeletableRows } from "../postgres/project-rows.ts";
import { type Changed, changeInside, type ChangeParts, isChange, type Whose } from "./change.ts";
import type { ProjectScope } from "./scope.ts";

/** Each change is audited. `Fields` are those of a request; an undefined one means omitted. */
export type ProjectResource<Row, Fields> = {
  /** Throws INVALID_ARGUMENT naming the field. */
  create(project: ProjectScope, fields: Fields, actor: Actor): Promise<Row>;
  /** Throws NOT_FOUND. */
  get(whose: Whose): Promise<Row>;
  /** Changes the given fields. Throws like `create` and `get`. */
  update(whose: Whose, fields: Fields): Promise<Row>;
  /** Throws like `get`. */
  delete(whose: Whose): Promise<void>;
};

/** What differs between resources. `New` is a row to store. */
export type ResourceRules<Row, New, Fields> = {
  /** Type of the target in the audit log, and noun in messages. */
  readonly type: string;
  readonly rows: Pick<DeletableRows, "lock" | "delete">;
  /** Returns the row of an id, which may be any text; undefined if the actor sees none. */
  readonly find: (sql: Sql, whose: Whose) => Promise<Row | undefined>;
  /** Returns the row that a request asks for, on top of the row before. */
  readonly toRow: (fields: Fields, whose: Whose, before: Row | undefined) => New;
  /** Stores a row within the limits of its project. */
  readonly put: (sql: Sql, whose: Whose, change: Put<New>) => Promise<void>;
  /** Returns a row's state for the audit log. */
  readonly stateOf: (row: New) => Readonly<Record<string, unknown>>;
};

/** A row to store, and whether it is in place of none. */
export type Put<New> = { readonly row: New; readonly isNew: boolean };

export function createProjectResource<Row extends New, New, Fields>(
  parts: ChangeParts,
  { type, rows, find, toRow, put, stateOf }: ResourceRules<Row, New, Fields>,
): ProjectResource<Row, Fields> {
  async function get(sql: Sql, whose: Whose): Promise<Row> {
    const row = await find(sql, whose);
    if (!row) throw new ServiceError("NOT_FOUND", `no such ${type}`);
    return row;
  }

  /** Runs a change while no other one changes the project's rows. */
  function inTurn<T>({ project, actor }: Whose, work: (sql: Sql) => Promise<Changed<T>>) {
    return changeInside(parts, { scope: project, actor }, async (sql) => {
      await rows.lock(sql, project.projectId);
      return work(sql);
    });
  }

  return {
    create(project, fields, actor) {
      const whose = { project, id: createUuid(), actor };
      return inTurn(whose, async (sql) => {
        const row = toRow(fields, whose, undefined);
        await put(sql, whose, { row, isNew: true });
        const audit = { action: `${type}.create`, targetId: whose.id, after: stateOf(row) };
        return { result: await get(sql, whose), audit };
      });
    },

    get: (whose) => parts.database.readInTurn(whose.project.projectId, (sql) => get(sql, whose)),

    update: (whose, fields) =>
      inTurn(whose, async (sql) => {
        const before = await get(sql, whose);
        const row = toRow(fields, whose, before);
        const states = { before: stateOf(before), after: stateOf(row) };
        const audit = { action: `${type}.update`, targetId: whose.id, ...states };
        if (!isChange(audit)) return { result: before };
        await put(sql, whose, { row, isNew: false });
        return { result: await get(sql, whose), audit };
      }),

    delete: (whose) =>
      inTurn(whose, async (sql) => {
        const before = stateOf(await get(sql, whose));
        await rows.delete(sql, whose.project.projectId, whose.id);
        return {
          result: undefined,
          audit: { action: `${type}.delete`, targetId: whose.id, before },
        };
      }),
  };
}
