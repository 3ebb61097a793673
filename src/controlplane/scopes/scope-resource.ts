// Operations that scopes of every level have in common: creation inside a parent, reads, pages and
// new names. Source: docs/spec.md, "Control plane", "Control-plane resources"; docs/decisions.md,
// 12, 28.

import type { Actor } from "../../base/actor.ts";
import { type Changed, changeInside, type ChangeParts } from "../../access/change.ts";
import type { Members } from "../../access/members/members.ts";
import type { Principal } from "../../access/principal.ts";
import { type LevelInOrg, type Scope, scopeInside } from "../../access/scope.ts";
import { assertChange, assertDescription, assertScopeName } from "../../access/scope-names.ts";
import type { DescribedChange } from "../../access/scope-names.ts";
import { ServiceError } from "../../base/errors.ts";
import { createUuid } from "../../base/ids.ts";
import { type Page, type PageOptions, toPage } from "../../base/pages.ts";
import type { Sql } from "../../postgres/database.ts";
import { isUniqueViolation } from "../../postgres/faults.ts";
import { levelAbove, levels } from "./levels.ts";
import * as store from "./store.ts";
import type { NewScopeColumns, ScopeRow } from "./store.ts";

export type { ScopeRow } from "./store.ts";

export type ScopeResourceOptions = ChangeParts & {
  readonly members: Pick<Members, "appointCreator">;
};

/** Reads of one level. */
export type ScopeReads = {
  /** Returns an active scope. Fails with NOT_FOUND. */
  get(id: string): Promise<ScopeRow>;
  /** Returns a page of a parent's active scopes, oldest first. */
  list(parentId: string, page: PageOptions): Promise<Page<ScopeRow>>;
};

export type CreateDescribedOptions = {
  readonly name: string;
  readonly description: string | undefined;
  /** E-mail of a member of the parent who becomes administrator; undefined appoints none. */
  readonly creator: string | undefined;
};

/** Workspaces or projects. */
export type DescribedScopes = ScopeReads & {
  /**
   * Creates an empty scope in a parent.
   *
   * Fails with NAME_TAKEN, with INVALID_ARGUMENT naming the field, and with NOT_FOUND if the parent
   * was archived meanwhile.
   */
  create(parent: Scope, options: CreateDescribedOptions, principal: Principal): Promise<ScopeRow>;
  /** Fails with NAME_TAKEN, NOT_FOUND, and INVALID_ARGUMENT if both fields are undefined. */
  update(id: string, change: DescribedChange, actor: Actor): Promise<ScopeRow>;
};

export function createScopeReads(
  { database }: Pick<ScopeResourceOptions, "database">,
  level: LevelInOrg,
): ScopeReads {
  return {
    async get(id) {
      const row = await store.findRow(database.sql(), level, id, { lock: false });
      return row ?? notFound(level);
    },
    async list(parentId, page) {
      const rows = await store.listRows(database.sql(), level, { parentId }, page);
      return toPage(level, rows, page.limit);
    },
  };
}

/** Creates the service of workspaces or of projects. */
export function createDescribedScopes(
  options: ScopeResourceOptions,
  level: "workspace" | "project",
): DescribedScopes {
  const parentLevel = level === "project" ? "workspace" : "dataplane";
  return {
    ...createScopeReads(options, level),

    async create(parent, { name, description, creator }, principal) {
      assertScopeName(name);
      if (description !== undefined) assertDescription(description);
      const columns = { name, description: description || null };
      const { actor } = principal;
      return changeInside(
        options,
        { scope: { level: parentLevel, id: parent.id }, actor },
        (sql, held) => addScope(options, sql, { level, parent: held, columns, creator, principal }),
      );
    },

    async update(id, asked, actor) {
      assertChange(asked);
      return updateScope(options, level, { id, ...asked, actor });
    },
  };
}

type AddScopeOptions = {
  readonly level: LevelInOrg;
  /** Kept active by the transaction. */
  readonly parent: Scope;
  readonly columns: NewScopeColumns;
  readonly creator: string | undefined;
  readonly principal: Principal;
};

/** Adds a scope and its first administrator in the ambient transaction. Fails with NAME_TAKEN. */
export async function addScope(
  { members }: Pick<ScopeResourceOptions, "members">,
  sql: Sql,
  { level, parent, columns, creator: email, principal }: AddScopeOptions,
): Promise<Changed<ScopeRow>> {
  const id = createUuid();
  await refuseTakenName(level, store.insertScope(sql, level, { id, parentId: parent.id }, columns));
  const { created_by_key: _, ...after } = columns;
  const { name, cluster_id: clusterId } = columns;
  const inside = scopeInside(parent, { level, id, name });
  const created: Scope = clusterId === undefined ? inside : { ...inside, clusterId };
  // Locks the person before the audit log, as all code does, which prevents deadlocks.
  if (email !== undefined) {
    const field = levels[level].creatorField;
    await members.appointCreator({ parent, created, email, field, principal });
  }
  const result = (await store.findRow(sql, level, id, { lock: false })) ?? notFound(level);
  return { result, audit: { action: `${level}.create`, targetId: id, scope: created, after } };
}

type UpdateScopeOptions = Partial<DescribedChange> & { readonly id: string; readonly actor: Actor };

/** Replaces the name, the description or both. Fails with NAME_TAKEN and NOT_FOUND. */
export function updateScope(
  options: ChangeParts,
  level: LevelInOrg,
  { id, name, description, actor }: UpdateScopeOptions,
): Promise<ScopeRow> {
  const { hasDescription } = levels[level];
  const stateOf = (row: Pick<ScopeRow, "name" | "description">) =>
    hasDescription ? { name: row.name, description: row.description } : { name: row.name };
  return changeInside(options, { scope: { level, id }, actor }, async (sql, scope) => {
    const before = await store.findRow(sql, level, scope.id, { lock: true });
    if (!before) return notFound(level);
    const after = {
      name: name ?? before.name,
      description: description === undefined ? before.description : description || null,
    };
    if (after.name === before.name && after.description === before.description) {
      return { result: before };
    }
    await refuseTakenName(level, store.updateScope(sql, level, scope.id, stateOf(after)));
    const result = (await store.findRow(sql, level, scope.id, { lock: false })) ?? notFound(level);
    const states = { before: stateOf(before), after: stateOf(after) };
    return { result, audit: { action: `${level}.update`, targetId: scope.id, ...states } };
  });
}

function notFound(level: LevelInOrg): never {
  throw new ServiceError("NOT_FOUND", `no active ${levels[level].title}`);
}

/** Fails with NAME_TAKEN if an active sibling has the name. */
async function refuseTakenName(level: LevelInOrg, write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (error) {
    const { table, title } = levels[level];
    if (!isUniqueViolation(error, `${table}_name_idx`)) throw error;
    const above = levelAbove(level);
    const sibling = `another active ${title}${above ? ` of the ${levels[above].title}` : ""}`;
    throw new ServiceError("NAME_TAKEN", `name: ${sibling} has it`, { cause: error });
  }
}
