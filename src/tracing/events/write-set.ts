// One request's writes, on their way from record.ts through the commit queue to apply-writes.ts.

import type { ProjectId } from "../../base/ids.ts";
import type { Sql } from "../../postgres/database.ts";
import type { EventWrite } from "./event.ts";
import type { CountedEvent } from "./held-event.ts";

/** `create`: whole events. `enrich`: updates that may wait. `update`: updates of what exists. */
export type WriteKind = "create" | "enrich" | "update";

/** One request's writes. */
export type WriteSet = {
  readonly projectId: ProjectId;
  readonly writes: readonly EventWrite[];
  readonly kind: WriteKind;
  readonly sessionNames: ReadonlyMap<string, string>;
  readonly receivedAtMs: number;
  /** Memory that the request holds; undefined for writes of the service's own. */
  readonly bytes?: number | undefined;
};

/** Memory that an event takes where its request does not say more. */
const usualEventBytes = 2_000;

/** Returns the bytes that a request's writes count for while they wait and in their commit. */
export function sizeOfSet({ writes, bytes = 0 }: Pick<WriteSet, "writes" | "bytes">): number {
  return Math.max(bytes, writes.length * usualEventBytes);
}

/** An event as a commit leaves it. */
export type WrittenEvent = { readonly projectId: string; readonly after: CountedEvent };

/**
 * Told of the events that a commit makes or changes, in its transaction. What only merges metrics
 * of the service's own (metrics.ts) is not told.
 */
export type OnWritten = (sql: Sql, written: readonly WrittenEvent[]) => Promise<void>;
