// One request's writes, on their way from record.ts through the commit queue to apply-writes.ts.

import type { ProjectId } from "../../base/ids.ts";
import type { Sql } from "../../postgres/database.ts";
import type { EventWrite, StoredEvent } from "./event.ts";

/** `create`: whole events. `enrich`: updates that may wait. `update`: updates of what exists. */
export type WriteKind = "create" | "enrich" | "update";

/** One request's writes. */
export type WriteSet = {
  readonly projectId: ProjectId;
  readonly writes: readonly EventWrite[];
  readonly kind: WriteKind;
  readonly sessionNames: ReadonlyMap<string, string>;
  readonly receivedAtMs: number;
};

/** An event as a commit leaves it. */
export type WrittenEvent = { readonly projectId: string; readonly after: StoredEvent };

/**
 * Told of the events that a commit makes or changes, in its transaction. What only merges metrics
 * of the service's own (metrics.ts) is not told.
 */
export type OnWritten = (sql: Sql, written: readonly WrittenEvent[]) => Promise<void>;
