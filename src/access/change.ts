// One change of a resource: a transaction that keeps its scope active, the audit row, and the news
// for every server. Source: docs/decisions.md, 28, 34.2.

import { isDeepStrictEqual } from "node:util";
import type { Actor } from "../base/actor.ts";
import type { Scopes } from "../controlplane/scopes/scopes.ts";
import type { Database, Sql } from "../postgres/database.ts";
import type { Audit, Change as AuditRow } from "./audit/audit.ts";
import type { AccessChanges } from "./changes/changes.ts";
import type { ProjectScope, Scope } from "./scope.ts";

/** Services that a change needs. */
export type ChangeParts = {
  readonly database: Database;
  readonly audit: Pick<Audit, "append">;
  readonly scopes: Pick<Scopes, "hold">;
  readonly changes: Pick<AccessChanges, "append">;
};

/** Content of the audit row of a change. */
export type AuditedChange = {
  /** Type of the target and verb, for example `workspace.archive`. */
  readonly action: string;
  readonly targetId: string;
  /** Scope that was created; default: the scope of the change. */
  readonly scope?: Scope;
  /** State of the target before, without secrets; absent if it did not exist. */
  readonly before?: Readonly<Record<string, unknown>> | undefined;
  /** State of the target after, without secrets; absent if it no longer exists. */
  readonly after?: Readonly<Record<string, unknown>> | undefined;
  /** Whether a secret changed, which no state shows. */
  readonly hasNewSecret?: boolean;
};

/** A resource of a project, and the actor who changes it. */
export type Whose = { readonly project: ProjectScope; readonly id: string; readonly actor: Actor };

/** Outcome of the work of a change. */
export type Changed<T> = {
  readonly result: T;
  /** Absent if nothing changed; equal states write no row either. */
  readonly audit?: AuditedChange | undefined;
  /** Subject that every server forgets after the commit. */
  readonly forget?: string | undefined;
};

export type ChangedBy = { readonly scope: Scope; readonly actor: Actor };

/**
 * Runs `work` in a transaction, joining an outer one, and returns its result. The audit row and the
 * news of the change commit with it or not at all.
 */
export function change<T>(
  { database, audit, changes }: Pick<ChangeParts, "database" | "audit" | "changes">,
  { scope, actor }: ChangedBy,
  work: (sql: Sql) => Promise<Changed<T>>,
): Promise<T> {
  return database.transaction(async (sql) => {
    const changed = await work(sql);
    // Last, because all changes of one organization wait for each other from here on.
    if (changed.audit && isChange(changed.audit)) {
      await audit.append(toRow(changed.audit, { scope, actor }));
    }
    if (changed.forget !== undefined) await changes.append(changed.forget);
    return changed.result;
  });
}

/**
 * Runs `work` like `change`, and keeps the scope active until the transaction ends, so that a later
 * archiving sees the change. Fails with NOT_FOUND if the scope or one above it is archived.
 */
export function changeInside<T>(
  parts: ChangeParts,
  {
    scope: { level, id },
    actor,
  }: Pick<ChangedBy, "actor"> & { scope: Pick<Scope, "level" | "id"> },
  work: (sql: Sql, scope: Scope) => Promise<Changed<T>>,
): Promise<T> {
  return parts.database.transaction(async () => {
    const scope = await parts.scopes.hold(level, id);
    return change(parts, { scope, actor }, (sql) => work(sql, scope));
  });
}

/**
 * Returns whether something changes: a write without a change would move the time of the last one,
 * which the log does not have.
 */
export function isChange({ before, after, hasNewSecret = false }: AuditedChange): boolean {
  return hasNewSecret || !before || !after || !isDeepStrictEqual(asKept(before), asKept(after));
}

/** Returns a state as the log keeps it, without undefined members. */
function asKept(state: Readonly<Record<string, unknown>>): unknown {
  return JSON.parse(JSON.stringify(state));
}

function toRow(audited: AuditedChange, { scope, actor }: ChangedBy): AuditRow {
  const { action, targetId, before, after } = audited;
  const [type = action] = action.split(".");
  return {
    actor,
    scope: audited.scope ?? scope,
    action,
    target: { type, id: targetId },
    ...(before && { before }),
    ...(after && { after }),
  };
}
