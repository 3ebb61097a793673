// Model aliases of an organization, workspace or project: names for a list of models, which are
// tried in order. Source: docs/decisions.md, 21.3, 34.2; docs/generations.md.

import { type Actor, describeActor } from "../../../base/actor.ts";
import { savedModelLengthMax } from "../../../base/field-limits.ts";
import { change, changeInside, type ChangeParts, isChange } from "../../../access/change.ts";
import type { ProjectScope, Scope } from "../../../access/scope.ts";
import { refuse, ServiceError } from "../../../base/errors.ts";
import { createUuid } from "../../../base/ids.ts";
import { formatKeyCursor, parseKeyCursor, parsePageLimit, toPageBy } from "../../../base/pages.ts";
import type { Page, PageRequest } from "../../../base/pages.ts";
import { aliasTargetsMax, modelAliasesMax } from "../../../base/tenant-limits.ts";
import type { Sql } from "../../../postgres/database.ts";
import { isCredentialName } from "../credentials/fields.ts";
import { changeOf, nearest, type Owner, toOwner } from "../owner/owner.ts";
import { lockCount } from "../owner/store.ts";
import { isModelName } from "../routing/resolve.ts";
import * as store from "./store.ts";
import type { AliasRow } from "./store.ts";

export type Alias = Omit<AliasRow, "id">;

/** Alias in the form that routing needs. */
export type UsableAlias = Pick<Alias, "name" | "targets">;

export type PutAliasOptions = {
  readonly scope: Scope;
  readonly name: string;
  /** Models as `provider/name`, in the order in which they are tried. */
  readonly targets: readonly string[];
  readonly actor: Actor;
};

/** Each change is audited and announced to every server when it commits. */
export type Aliases = {
  /**
   * Creates or replaces an alias of a scope.
   *
   * Fails with INVALID_ARGUMENT naming the field, and with NOT_FOUND if the scope was archived.
   */
  put(options: PutAliasOptions): Promise<Alias>;
  /** Returns the aliases of this scope only, by name; INVALID_ARGUMENT names a wrong option. */
  list(scope: Scope, page: PageRequest): Promise<Page<Alias>>;
  /** Fails with NOT_FOUND if this scope itself has no alias of the name. */
  get(scope: Scope, name: string): Promise<Alias>;
  /** Deletes an alias and returns its last state. Fails like `get`. */
  delete(scope: Scope, name: string, actor: Actor): Promise<Alias>;
  /**
   * Returns the aliases of a project; of equal names, the project's before its workspace's before
   * its organization's.
   */
  aliasesFor(project: ProjectScope): Promise<readonly UsableAlias[]>;
};

const namePattern = /^[A-Za-z0-9._-]{1,64}$/;

export function createAliases(options: ChangeParts): Aliases {
  const { database } = options;
  return {
    put: (alias) => put(options, alias),

    async list(scope, { limit: limitAsked, cursor }) {
      const limit = parsePageLimit(limitAsked);
      const afterName =
        cursor === undefined ? "" : parseKeyCursor("model-aliases", cursor, parseName);
      const page = { limit: limit + 1, afterName };
      const rows = await store.listAliases(database.sql(), toOwner(scope), page);
      return toPageBy(rows, limit, ({ name }) => formatKeyCursor("model-aliases", name));
    },

    get: (scope, name) => get(database.sql(), toOwner(scope), name),

    delete: (scope, name, actor) =>
      change(options, { scope, actor }, async (sql) => {
        const owner = toOwner(scope);
        await lockCount(sql, "model_aliases", owner);
        const result = await get(sql, owner, name);
        await store.deleteAlias(sql, result.id);
        const before = stateOf(result);
        const audit = { action: "model_alias.delete", targetId: result.id, before };
        return { result, audit, forget: changeOf(owner) };
      }),

    async aliasesFor(project) {
      const rows = await store.listUsable(database.sql(), project);
      return nearest(rows).map(({ name, targets }) => ({ name, targets }));
    },
  };
}

async function put(
  options: ChangeParts,
  { scope, name, targets, actor }: PutAliasOptions,
): Promise<Alias> {
  assertAlias(name, targets);
  return changeInside(options, { scope, actor }, async (sql, held) => {
    const owner = toOwner(held);
    const count = await lockCount(sql, "model_aliases", owner);
    const before = await store.findAlias(sql, owner, name);
    const row = { id: before?.id ?? createUuid(), targets, updatedBy: describeActor(actor) };
    const audit = {
      action: "model_alias.put",
      targetId: row.id,
      before: before && stateOf(before),
      after: stateOf({ name, targets }),
    };
    if (before && !isChange(audit)) return { result: before };
    if (before) await store.updateAlias(sql, row);
    else if (count < modelAliasesMax) await store.insertAlias(sql, { ...row, owner, name });
    else refuse("name", `a scope has at most ${modelAliasesMax} aliases`);
    return { result: await get(sql, owner, name), audit, forget: changeOf(owner) };
  });
}

async function get(sql: Sql, owner: Owner, name: string): Promise<AliasRow> {
  // Other text is not sent to Postgres, which refuses NUL.
  const row = namePattern.test(name) && (await store.findAlias(sql, owner, name));
  if (!row) throw new ServiceError("NOT_FOUND", "no such alias");
  return row;
}

function assertAlias(name: string, targets: readonly string[]): void {
  if (!namePattern.test(name)) refuse("name", "must be 1 to 64 letters, digits, ., - and _");
  if (targets.length === 0 || targets.length > aliasTargetsMax) {
    refuse("targets", `must be 1 to ${aliasTargetsMax}`);
  }
  targets.forEach((target, index) => {
    if (isTarget(target)) return;
    refuse(`targets[${index}]`, "must be provider/model, such as openai/gpt-4o-mini");
  });
}

/** Returns whether a target is a model; an alias cannot contain another alias. */
function isTarget(target: string): boolean {
  const slash = target.indexOf("/");
  const model = target.slice(slash + 1);
  const isModel = model.length <= savedModelLengthMax && isModelName(model);
  return isCredentialName(target.slice(0, Math.max(slash, 0))) && isModel;
}

function parseName(text: string): string | undefined {
  return namePattern.test(text) ? text : undefined;
}

function stateOf({ name, targets }: Pick<Alias, "name" | "targets">) {
  return { name, targets };
}
