// Progress of archivals, from the databases: Temporal, which does the work, may be away.
// Source: docs/decisions.md, 58.2.

import { assertCount } from "../../base/assert-count.ts";
import type { ArchiveLog, ArchiveRow } from "../../access/audit/archive-log.ts";
import { isAllowed } from "../../access/authorize.ts";
import type { Principal } from "../../access/principal.ts";
import type { Scope } from "../../access/scope.ts";
import { ServiceError } from "../../base/errors.ts";
import {
  archivalEventsMax,
  archivalProjectsMax,
  archivalsPageMax,
  ingestionTimeoutMs,
  listedArchivalProjectsMax,
} from "../../base/limits.ts";
import type { Page, PageRequest } from "../../base/pages.ts";
import { archiveWorkflowId } from "../../outbox/entry.ts";
import type { Outbox } from "../../outbox/outbox.ts";
import type { Database } from "../../postgres/database.ts";
import type { ArchiveReads } from "../../tracing/archive/archive-reads.ts";
import type { TemporalPage } from "../deployment/temporal-page.ts";
import type { Scopes } from "../scopes/scopes.ts";
import * as store from "./store.ts";

export type Archival = {
  readonly level: ArchiveRow["level"];
  readonly scopeId: string;
  readonly name: string;
  readonly isDone: boolean;
  readonly projects: { readonly done: number; readonly total: number; readonly isExact: boolean };
  /** Undefined in a list. */
  readonly events:
    | { readonly moved: number; readonly left: number; readonly isExact: boolean }
    | undefined;
  readonly startedAt: Date;
  readonly archivedBy: string;
  readonly workflowId: string;
  readonly temporalUrl: string | undefined;
};

export type Archivals = {
  /**
   * Returns the progress of an archival that the caller asked for, or of any one if the caller may
   * read the audit log. Fails with NOT_FOUND.
   */
  get(principal: Principal, level: string, scopeId: string): Promise<Archival>;
  /**
   * Returns a page of the archivals that `get` would return, newest first, without events. Fails
   * with NOT_FOUND if the caller may read no audit log and asked for none.
   */
  list(principal: Principal, orgId: string, page: PageRequest): Promise<Page<Archival>>;
};

export type ArchivalsOptions = {
  readonly database: Database;
  readonly scopes: Pick<Scopes, "find" | "findAny">;
  readonly outbox: Pick<Outbox, "isWaiting">;
  readonly archiveLog: ArchiveLog;
  readonly archiveReads: ArchiveReads;
  readonly temporalPage: Pick<TemporalPage, "urlOf">;
};

const pageDefault = 20;

const readsAll = {
  permission: "org.audit_log.list",
  keyKinds: new Set(["control_plane"] as const),
};

export function createArchivals(options: ArchivalsOptions): Archivals {
  const { scopes, archiveLog } = options;

  async function orgOf(orgId: string | undefined): Promise<Scope> {
    const org = orgId === undefined ? undefined : await scopes.find("org", orgId);
    return org ?? notFound("no active organization");
  }

  return {
    async get(principal, levelAsked, scopeId) {
      const level = levelsArchived.find((one) => one === levelAsked) ?? notFound("no such level");
      const scope = await scopes.findAny(level, scopeId);
      const org = await orgOf(scope?.orgId);
      const row = scope && (await archiveLog.find(org.id, scope.id));
      if (!row) return notFound(`no archival of a ${level}`);
      if (!isAllowed(principal, readsAll, org) && !isBy(row, principal)) return notFound("denied");
      return readProgress(options, { row, orgId: org.id, isListed: false });
    },

    async list(principal, orgAsked, { limit = pageDefault, cursor }) {
      const org = await orgOf(orgAsked);
      const actor = isAllowed(principal, readsAll, org) ? undefined : principal.actor;
      // First, so that a wrong limit or cursor does not tell that there is such an organization.
      if (actor && (await archiveLog.list(org.id, { actor, limit: 1 })).items.length === 0) {
        return notFound("denied");
      }
      assertCount("limit", limit, archivalsPageMax);
      const page = { actor, limit, cursor };
      const { items: rows, nextCursor } = await archiveLog.list(org.id, page);
      const items: Archival[] = [];
      for (const row of rows) {
        items.push(await readProgress(options, { row, orgId: org.id, isListed: true }));
      }
      return { items, nextCursor };
    },
  };
}

const levelsArchived = ["dataplane", "workspace", "project"] as const;

function isBy({ actorType, actorId }: ArchiveRow, { actor }: Principal): boolean {
  return actorType === actor.type && actorId === actor.id;
}

function notFound(message: string): never {
  throw new ServiceError("NOT_FOUND", message);
}

type Reading = { readonly row: ArchiveRow; readonly orgId: string; readonly isListed: boolean };

async function readProgress(options: ArchivalsOptions, reading: Reading): Promise<Archival> {
  const { row, orgId, isListed } = reading;
  const { database, scopes, outbox, archiveReads } = options;
  const { level, scopeId, at } = row;
  const workflowId = archiveWorkflowId(level, scopeId);
  const projectsMax = isListed ? listedArchivalProjectsMax : archivalProjectsMax;
  const found = await database.readInTurn(orgId, (sql) =>
    store.listInside(sql, row, projectsMax + 1),
  );
  const inside = found.slice(0, projectsMax);
  const archived = inside.filter(({ isArchived }) => isArchived);
  const done = archived.length - (await archiveReads.countUnfinished(archived, orgId));
  // Writes that were let in before are waited for, so an event may still come until then.
  const isQuiet = Date.now() - at.getTime() >= ingestionTimeoutMs;
  const isDone = isQuiet && done === inside.length && !(await outbox.isWaiting(workflowId));
  const scope = await scopes.findAny(level, scopeId);
  return {
    level,
    scopeId,
    name: scope?.name ?? "",
    isDone,
    projects: { done, total: inside.length, isExact: inside.length === found.length },
    events: isListed ? undefined : await countEvents(archiveReads, inside, orgId),
    startedAt: at,
    archivedBy: row.actorName,
    workflowId,
    temporalUrl: options.temporalPage.urlOf(workflowId),
  };
}

async function countEvents(
  archiveReads: ArchiveReads,
  inside: readonly store.InsideProject[],
  owner: string,
): Promise<Archival["events"]> {
  const max = archivalEventsMax;
  const { done, left } = await archiveReads.countSome(inside, { max, owner });
  return {
    moved: Math.min(done, max),
    left: Math.min(left, max),
    isExact: done <= max && left <= max,
  };
}
