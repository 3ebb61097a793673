// The audit log: one row for every change, each with the hash of the row before. Called by every
// service of the control plane, in the transaction of the change; read by handlers.ts.
// Source: docs/decisions.md, 34; docs/audit.md.

import type { Database } from "../../postgres/database.ts";
import type { Actor } from "../principal.ts";
import { chainOf } from "../scope.ts";
import type { Scope } from "../scope.ts";
import { firstPreviousHash, hashOf } from "./chain.ts";
import * as store from "./store.ts";

/** What was done, by whom and to what. */
export type Change = {
  readonly actor: Actor;
  /** Where it was done; its organization says which chain the row belongs to. */
  readonly scope: Scope;
  /** Target and verb, for example `workspace.archive`. */
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string };
  /** State of the target before, without secrets; absent where there was none. */
  readonly before?: Readonly<Record<string, unknown>>;
  /** State of the target after, without secrets; absent where there is none. */
  readonly after?: Readonly<Record<string, unknown>>;
};

export type Audit = {
  /**
   * Writes a change down in the ambient transaction of the control database, so that both are kept
   * or neither. Changes of one organization wait here for each other until they commit: call it
   * last. Throws outside a transaction, which is a bug of the caller.
   */
  append(change: Change): Promise<void>;
};

export function createAudit(database: Database): Audit {
  return {
    async append({ actor, scope, action, target, before, after }) {
      if (!database.isInTransaction())
        throw new Error(`${action} is audited outside a transaction`);
      const sql = database.sql();
      const orgId = chainOf(scope);
      const head = await store.lockHead(sql, orgId, firstPreviousHash);
      const columns = {
        orgId,
        sequence: head.sequence + 1,
        at: head.at,
        actorType: actor.type,
        actorId: storable(actor.id),
        actorName: storable(actor.name),
        action: storable(action),
        scopeLevel: scope.level,
        scopeId: scope.id,
        targetType: storable(target.type),
        targetId: storable(target.id),
        before: before ? JSON.stringify(before) : null,
        after: after ? JSON.stringify(after) : null,
      };
      const hash = hashOf(columns, head.hash);
      await store.insertRow(sql, { ...columns, previousHash: head.hash, hash });
    },
  };
}

/** Postgres refuses NUL, and UTF-8 lone surrogates; JSON text holds either as an escape. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\u{FFFD}");
}
