// Rows with a name that an organization, workspace or project owns, such as aliases: how they are
// set, listed and deleted. Source: docs/decisions.md, 28, 34.2.

import { change, changeInside, type ChangeParts, isChange } from "../../../access/change.ts";
import type { Scope } from "../../../access/scope.ts";
import { type Actor, describeActor } from "../../../base/actor.ts";
import { refuse, ServiceError } from "../../../base/errors.ts";
import { createUuid } from "../../../base/ids.ts";
import { formatKeyCursor, parseKeyCursor, parsePageLimit, toPageBy } from "../../../base/pages.ts";
import type { Page, PageRequest } from "../../../base/pages.ts";
import type { Sql } from "../../../postgres/database.ts";
import * as rowStore from "./named-row-store.ts";
import type { NamedRow, NamedTable } from "./named-row-store.ts";
import { type Owner, toOwner } from "./owner.ts";
import { lockCount } from "./store.ts";

export type { NamedRow };

/** Each change is audited and announced to every server when it commits. */
export type NamedRows<Value> = {
  /**
   * Creates a row or replaces its value. The caller has checked both. Fails with INVALID_ARGUMENT
   * if the scope has too many rows, and with NOT_FOUND if the scope was archived.
   */
  put(scope: Scope, row: Value & { readonly name: string }, actor: Actor): Promise<NamedRow<Value>>;
  /** Returns the rows of this scope only, by name; INVALID_ARGUMENT names a wrong option. */
  list(scope: Scope, page: PageRequest): Promise<Page<NamedRow<Value>>>;
  /** Fails with NOT_FOUND if this scope itself has no row of the name. */
  get(scope: Scope, name: string): Promise<NamedRow<Value>>;
  /** Deletes a row and returns its last state. Fails like `get`. */
  delete(scope: Scope, name: string, actor: Actor): Promise<NamedRow<Value>>;
};

/** What differs between kinds of rows. */
export type NamedRowsRules<Value> = NamedTable<Value> & {
  /** Type of the target in the audit log. */
  readonly type: string;
  /** Noun in messages, for one row and for several. */
  readonly nouns: readonly [one: string, several: string];
  readonly rowsMax: number;
  /** Other text is not sent to Postgres, which refuses NUL. */
  readonly isName: (text: string) => boolean;
  /** Returns a row's state for the audit log. */
  readonly stateOf: (row: Value & { readonly name: string }) => Readonly<Record<string, unknown>>;
  /** Returns the subject that every server forgets after a change. */
  readonly newsOf: (owner: Owner) => string;
};

export function createNamedRows<Value>(
  parts: ChangeParts,
  rules: NamedRowsRules<Value>,
): NamedRows<Value> {
  const { table, type, nouns, rowsMax, isName, stateOf, newsOf } = rules;
  const { database } = parts;

  async function find(sql: Sql, owner: Owner, name: string): Promise<NamedRow<Value> | undefined> {
    return isName(name) ? rowStore.findRow(sql, rules, { owner, name }) : undefined;
  }

  async function get(sql: Sql, owner: Owner, name: string): Promise<NamedRow<Value>> {
    const row = await find(sql, owner, name);
    if (!row) throw new ServiceError("NOT_FOUND", `no such ${nouns[0]}`);
    return row;
  }

  return {
    put: (scope, given, actor) =>
      changeInside(parts, { scope, actor }, async (sql, held) => {
        const owner = toOwner(held);
        const { name } = given;
        const count = await lockCount(sql, table, owner);
        const before = await find(sql, owner, name);
        const row = {
          id: before?.id ?? createUuid(),
          value: given,
          updatedBy: describeActor(actor),
        };
        const audit = {
          action: `${type}.put`,
          targetId: row.id,
          before: before && stateOf(before),
          after: stateOf(given),
        };
        if (before && !isChange(audit)) return { result: before };
        if (before) await rowStore.updateRow(sql, rules, row);
        else if (count < rowsMax) await rowStore.insertRow(sql, rules, { ...row, owner, name });
        else refuse("name", `a scope has at most ${rowsMax} ${nouns[1]}`);
        return { result: await get(sql, owner, name), audit, forget: newsOf(owner) };
      }),

    async list(scope, { limit: limitAsked, cursor }) {
      const limit = parsePageLimit(limitAsked);
      const parse = (text: string) => (isName(text) ? text : undefined);
      const afterName = cursor === undefined ? "" : parseKeyCursor(table, cursor, parse);
      const page = { owner: toOwner(scope), limit: limit + 1, afterName };
      const rows = await rowStore.listRows(database.sql(), rules, page);
      return toPageBy(rows, limit, ({ name }) => formatKeyCursor(table, name));
    },

    get: (scope, name) => get(database.sql(), toOwner(scope), name),

    delete: (scope, name, actor) =>
      change(parts, { scope, actor }, async (sql) => {
        const owner = toOwner(scope);
        await lockCount(sql, table, owner);
        const result = await get(sql, owner, name);
        await rowStore.deleteRow(sql, rules, result.id);
        const audit = { action: `${type}.delete`, targetId: result.id, before: stateOf(result) };
        return { result, audit, forget: newsOf(owner) };
      }),
  };
}
