// Archiving a scope: access ends in the request's own transaction, which also requests the workflow
// that archives the contents. Source: docs/spec.md, "States and transitions"; docs/decisions.md,
// 29.

import type { Actor } from "../../base/actor.ts";
import { everything } from "../../access/caller-memory.ts";
import type { Audit } from "../../access/audit/audit.ts";
import type { AccessChanges } from "../../access/changes/changes.ts";
import { type LevelInOrg, type Scope, systemScopeId } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import { archiveEntry } from "../../outbox/entry.ts";
import type { Outbox } from "../../outbox/outbox.ts";
import type { Database } from "../../postgres/database.ts";
import { levelBelow, levels } from "./levels.ts";
import * as store from "./store.ts";
import type { Child } from "./store.ts";

export type ArchiveOptions = {
  /** Whether to archive the contents too; if false, active children make the call fail. */
  readonly withChildren: boolean;
  readonly actor: Actor;
};

export type Archived = {
  readonly level: LevelInOrg;
  readonly id: string;
  readonly name: string;
  readonly archivedAt: Date;
  /** Id of the workflow that archives the contents. */
  readonly workflowId: string;
};

export type Archives = {
  /**
   * Ends all access to a scope and everything inside it, and frees its name.
   *
   * Fails with SCOPE_NOT_EMPTY if it has active children and `withChildren` is false, and with
   * NOT_FOUND if the scope or one above it is archived.
   */
  archive(scope: Scope, options: ArchiveOptions): Promise<Archived>;
  /** Returns at most `limit` direct children, archived ones included, ordered by id. */
  listChildren(
    level: LevelInOrg,
    id: string,
    afterId?: string,
    limit?: number,
  ): Promise<readonly Child[]>;
  /**
   * Archives one scope whose parent is archived. Idempotent: only the first call writes to the
   * audit log, as done by `actor`.
   */
  markArchived(level: LevelInOrg, id: string, actor?: Actor): Promise<void>;
};

export type ArchivesOptions = {
  readonly database: Database;
  readonly audit: Pick<Audit, "append">;
  readonly changes: Pick<AccessChanges, "append">;
  readonly outbox: Outbox;
};

/** Children per activity: each child becomes a workflow. */
const childrenLimitDefault = 1_000;

/** Actor of archived contents: the workflow, on behalf of the service. */
const cascade: Actor = { type: "system", id: "archive", name: "archive workflow" };

export function createArchives({ database, audit, changes, outbox }: ArchivesOptions): Archives {
  return {
    archive: (scope, { withChildren, actor }) =>
      database.transaction(async (sql) => {
        const level = levelOf(scope);
        const found = await store.findScope(sql, level, scope.id, "ending");
        if (!found) throw new ServiceError("NOT_FOUND", `no active ${level}`);
        const { id, name, orgId = systemScopeId } = found;
        const children = await store.countActiveChildren(sql, level, id);
        if (children > 0 && !withChildren) throw notEmpty(level, children);
        const archivedAt = await store.markArchived(sql, level, id);
        if (!archivedAt) throw new Error("a locked row is gone");
        const before = { name, active_children: children };
        await audit.append(toAuditRow(level, { scope: found, actor, before, archivedAt }));
        const changeId = await changes.append(everything);
        const entry = archiveEntry({ level, id, name, orgId, actor, changeId });
        await outbox.append(entry);
        return { level, id, name, archivedAt, workflowId: entry.workflowId };
      }),

    listChildren: (level, id, afterId = systemScopeId, limit = childrenLimitDefault) =>
      store.listChildren(database.sql(), { level, id, afterId, limit }),

    markArchived: (level, id, actor = cascade) =>
      database.transaction(async (sql) => {
        const scope = await store.findScope(sql, level, id, "any");
        const archivedAt = scope && (await store.markArchived(sql, level, id));
        if (!archivedAt) return;
        const before = { name: scope.name };
        await audit.append(toAuditRow(level, { scope, actor, before, archivedAt }));
      }),
  };
}

type ArchivedScope = {
  readonly scope: Scope;
  readonly actor: Actor;
  readonly before: Readonly<Record<string, unknown>>;
  readonly archivedAt: Date;
};

function toAuditRow(level: LevelInOrg, { scope, actor, before, archivedAt }: ArchivedScope) {
  return {
    actor,
    scope,
    action: `${level}.archive`,
    target: { type: level, id: scope.id },
    before,
    after: { archived_at: archivedAt.toISOString() },
  };
}

function levelOf({ level }: Scope): LevelInOrg {
  if (level === "system") throw new Error("the system is not archived");
  return level;
}

function notEmpty(level: LevelInOrg, children: number): ServiceError {
  const below = levelBelow(level);
  const title = below ? levels[below].title : "scope";
  const what = children === 1 ? `is 1 active ${title}` : `are ${children} active ${title}s`;
  return new ServiceError(
    "SCOPE_NOT_EMPTY",
    `there ${what} inside; archive the contents first, ` +
      "or send dangerously_delete_child_scopes=true to archive everything",
  );
}
