// Archivals of data planes, workspaces and projects, as the audit log tells who asked for them.
// Source: docs/decisions.md, 58.2.

import type { Actor } from "../../base/actor.ts";
import {
  formatKeyCursor,
  type Page,
  parseKeyCursor,
  parseSequence,
  toPageBy,
} from "../../base/pages.ts";
import type { Database } from "../../postgres/database.ts";
import * as store from "./archive-log-store.ts";

export type { ArchiveRow } from "./archive-log-store.ts";

export type ArchiveLog = {
  /**
   * Returns who archived a scope, and when; undefined if it is active or was archived with a scope
   * above it.
   */
  find(orgId: string, scopeId: string): Promise<store.ArchiveRow | undefined>;
  /**
   * Returns a page of an organization's archivals, newest first; only those by `actor` if there is
   * one. Fails with INVALID_ARGUMENT naming `cursor`.
   */
  list(orgId: string, options: ListArchivesOptions): Promise<Page<store.ArchiveRow>>;
};

export type ListArchivesOptions = {
  readonly actor: Actor | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
};

export function createArchiveLog(database: Database): ArchiveLog {
  return {
    find: (orgId, scopeId) =>
      database.readInTurn(orgId, (sql) => store.findArchive(sql, orgId, scopeId)),
    async list(orgId, { actor, limit, cursor }) {
      const below =
        cursor === undefined
          ? Number.MAX_SAFE_INTEGER
          : parseKeyCursor("archivals", cursor, parseSequence);
      const page = { below, actor, limit: limit + 1 };
      const rows = await database.readInTurn(orgId, (sql) => store.listArchives(sql, orgId, page));
      return toPageBy(rows, limit, ({ sequence }) => formatKeyCursor("archivals", sequence));
    },
  };
}
