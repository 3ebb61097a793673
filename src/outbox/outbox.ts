// Workflows to start, written in the transaction of the change that needs them, so that a crash
// neither loses nor doubles one. outbox/relay.ts starts them. Source: docs/decisions.md, 29, 32.

import type { Database } from "../postgres/database.ts";
import type { OutboxEntry } from "./entry.ts";
import * as store from "./store.ts";

export type Outbox = {
  /**
   * Requests the start of a workflow after the ambient transaction commits; a rollback drops the
   * request. Repeating a workflow id changes nothing.
   *
   * Throws outside a transaction: the change and its workflow belong together.
   */
  append(entry: OutboxEntry): Promise<void>;
  /** Tells whether a requested workflow has not started yet. */
  isWaiting(workflowId: string): Promise<boolean>;
};

export function createOutbox(database: Database): Outbox {
  return {
    async append(entry) {
      if (!database.isInTransaction()) throw new Error("outbox.append outside a transaction");
      await store.insertEntry(database.sql(), entry);
    },
    isWaiting: (workflowId) => store.isWaiting(database.sql(), workflowId),
  };
}
