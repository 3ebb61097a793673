// The audit log: one row for every change, each with the hash of the previous row. Source:
// docs/decisions.md, 34.2; docs/audit.md.

import type { Actor } from "../../base/actor.ts";
import { isUuid } from "../../base/ids.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { auditRowsMax } from "../../base/limits.ts";
import {
  formatKeyCursor,
  type Page,
  type PageRequest,
  parseKeyCursor,
  parsePageLimit,
  parseSequence,
} from "../../base/pages.ts";
import { toStorableText } from "../../base/storable-text.ts";
import type { Database } from "../../postgres/database.ts";
import { chainOf, type Scope, systemScope } from "../scope.ts";
import { firstPreviousHash, hashOf } from "./chain.ts";
import * as store from "./store.ts";
import type { AuditFilter } from "./store.ts";
import { type ChainReport, verifyChains } from "./verify.ts";
import { refuse } from "../../base/errors.ts";

/** A change: its action, actor and target. */
export type Change = {
  readonly actor: Actor;
  /** Scope of the change; its organization determines the chain of the row. */
  readonly scope: Scope;
  /** Target and verb, for example `workspace.archive`. */
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string };
  /** State of the target before, without secrets; absent if it did not exist. */
  readonly before?: Readonly<Record<string, unknown>>;
  /** State of the target after, without secrets; absent if it no longer exists. */
  readonly after?: Readonly<Record<string, unknown>>;
};

/** A row of the log. */
export type AuditEntry = Omit<store.AuditRow, "at" | "before" | "after"> & {
  /** Time to the microsecond, as hashed; undefined if tampering made it an invalid time. */
  readonly at: string | undefined;
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
};

export type Audit = {
  /**
   * Records a change in the ambient transaction of the control database, so that both are committed
   * or neither is. Changes of one organization wait here for one another until they commit: call it
   * last. Throws outside a transaction, which is a bug of the caller.
   */
  append(change: Change): Promise<void>;
  /** Records changes of one organization in their order, like `append`, in few statements. */
  appendAll(changes: readonly Change[]): Promise<void>;
  /**
   * Returns an organization's changes that match the filter, newest first. A page of large rows,
   * or of rows that are rarely matched, may have fewer than the limit. Fails with INVALID_ARGUMENT
   * naming the wrong option.
   */
  list(orgId: string, page: PageRequest, filter?: store.AuditFilter): Promise<Page<AuditEntry>>;
  /**
   * Returns the chain of an organization, archived or not, by id or name, or the chain of `system`;
   * undefined if there is none.
   */
  findChain(orgIdOrName: string): Promise<string | undefined>;
  /** Checks one chain, or all in turn, and yields the first fault of each. Changes nothing. */
  verify(orgId?: string): AsyncGenerator<ChainReport, void, undefined>;
};

/** Maximum rows of one statement. */
const rowsMax = 1_000;

export function createAudit(database: Database): Audit {
  async function appendAll(changes: readonly Change[]): Promise<void> {
    const [first] = changes;
    if (!first) return;
    if (!database.isInTransaction())
      throw new Error(`${first.action} is audited outside a transaction`);
    const sql = database.sql();
    const orgId = chainOf(first.scope);
    const head = await store.lockHead(sql, orgId, firstPreviousHash);
    let { sequence, hash } = head;
    for (let from = 0; from < changes.length; from += rowsMax) {
      const rows = changes.slice(from, from + rowsMax).map((change): store.AuditRow => {
        if (chainOf(change.scope) !== orgId) throw new Error("changes of two chains at once");
        sequence += 1;
        const columns = { orgId, sequence, at: head.at, ...columnsOf(change) };
        const previousHash = hash;
        hash = hashOf(columns, previousHash);
        return { ...columns, previousHash, hash };
      });
      await store.insertRows(sql, rows);
    }
  }

  return {
    append: (change) => appendAll([change]),

    appendAll,

    async list(orgId, { limit: limitAsked, cursor }, asked = {}) {
      const limit = parsePageLimit(limitAsked);
      const below =
        cursor === undefined
          ? Number.MAX_SAFE_INTEGER
          : parseKeyCursor("audit", cursor, parseSequence);
      const filter = parseFilter(asked);
      return database.readInTurn(orgId, async (sql) => {
        const back = { below, count: auditRowsMax };
        const from = (filter && (await store.findSequenceBack(sql, orgId, back))) ?? 1;
        const rows = await store.listRowsBelow(sql, orgId, { below, from, filter, limit });
        // A chain begins at 1, whatever rows exist before this page.
        const last = rows.at(-1)?.sequence ?? from;
        return {
          items: rows.map(toEntry),
          nextCursor: last > 1 ? formatKeyCursor("audit", last) : undefined,
        };
      });
    },

    async findChain(orgIdOrName) {
      if (orgIdOrName === systemScope.name) return systemScope.id;
      if (isUuid(orgIdOrName)) {
        const id = orgIdOrName.toLowerCase();
        return (await store.hasChain(database.sql(), id)) ? id : undefined;
      }
      return store.findOrgId(database.sql(), toStorableText(orgIdOrName));
    },

    verify: (orgId) => verifyChains(database, orgId),
  };
}

function columnsOf({ actor, scope, action, target, before, after }: Change) {
  return {
    actorType: actor.type,
    actorId: toStorableText(actor.id),
    actorName: toStorableText(actor.name),
    action: toStorableText(action),
    scopeLevel: scope.level,
    scopeId: scope.id,
    targetType: toStorableText(target.type),
    targetId: toStorableText(target.id),
    before: before ? JSON.stringify(before) : null,
    after: after ? JSON.stringify(after) : null,
  };
}

function toEntry(row: store.AuditRow): AuditEntry {
  return {
    ...row,
    // If tampering made the time invalid, the rest of the row is still shown.
    at: row.at.endsWith("Z") ? row.at : undefined,
    before: stateOf(row.before),
    after: stateOf(row.after),
  };
}

function stateOf(text: string | null): JsonObject | undefined {
  const value: unknown = text === null ? undefined : JSON.parse(text);
  return isJsonObject(value) ? value : undefined;
}

/** The earliest and the latest time of a Timestamp. */
const timeMinMs = Date.parse("0001-01-01T00:00:00Z");
const timeMaxMs = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Returns the filter as rows are compared with it: text as it is stored, times that Postgres knows;
 * undefined if it has no condition. Throws INVALID_ARGUMENT if a time is not a number.
 */
function parseFilter(asked: AuditFilter): AuditFilter | undefined {
  const filter = {
    actor: toText(asked.actor),
    action: toText(asked.action),
    resource: toText(asked.resource),
    fromMs: toTime("start_time", asked.fromMs),
    toMs: toTime("end_time", asked.toMs),
  };
  return Object.values(filter).some((condition) => condition !== undefined) ? filter : undefined;
}

function toText(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : toStorableText(text);
}

function toTime(name: string, timeMs: number | undefined): number | undefined {
  if (timeMs === undefined) return undefined;
  if (Number.isNaN(timeMs)) refuse(name, "must be Unix milliseconds");
  // Rows have microseconds; Postgres cannot divide the smallest of finer fractions.
  return Math.round(Math.max(timeMinMs, Math.min(timeMaxMs, timeMs)) * 1_000) / 1_000;
}
