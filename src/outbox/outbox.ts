// Workflows to start, written down in the transaction of the change that asks for them, so that
// none is lost or doubled whatever dies. Called by services; outbox/relay.ts starts what waits.
// Source: docs/decisions.md, 29, 32.

import type { Database } from "../postgres/database.ts";
import type { OutboxEntry } from "./entry.ts";
import * as store from "./store.ts";

export type Outbox = {
  /**
   * Has a workflow started once the ambient transaction has committed, and not when it is undone.
   * Asking for the same workflow id again changes nothing.
   *
   * Throws outside a transaction: the change and its workflow belong together.
   */
  append(entry: OutboxEntry): Promise<void>;
};

export function createOutbox(database: Database): Outbox {
  return {
    async append(entry) {
      if (!database.isInTransaction()) throw new Error("outbox.append outside a transaction");
      await store.insertEntry(database.sql(), entry);
    },
  };
}
