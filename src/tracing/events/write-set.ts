// Writes of one request on their way to a commit, and the callback for written events.

import type { ProjectId } from "../../base/ids.ts";
import type { Sql } from "../../postgres/database.ts";
import type { EventWrite, Pricing, StoredEvent } from "./event.ts";
import type { CountedEvent } from "./held-event.ts";

/**
 * `create`: whole events. `enrich`: updates that may wait for their event. `update`: updates of
 * existing events.
 */
export type WriteKind = "create" | "enrich" | "update";

/** Writes of one request. */
export type WriteSet = {
  readonly projectId: ProjectId;
  /** Organization of the project; absent if unknown. */
  readonly organization?: string | undefined;
  readonly writes: readonly EventWrite[];
  readonly kind: WriteKind;
  readonly sessionNames: ReadonlyMap<string, string>;
  readonly receivedAtMs: number;
  readonly pricing: Pricing;
  /** Bytes of memory that the request holds; undefined for the service's own writes. */
  readonly bytes?: number | undefined;
  /** Bytes of memory that the whole request holds, if these are writes of a part of it. */
  readonly requestBytes?: number | undefined;
  /**
   * Called after the commit with an event of these writes if the commit created it as it is, with
   * no event in a session of its id. Not called for other events.
   */
  readonly onCreated?: ((event: StoredEvent) => void) | undefined;
};

/** Minimum bytes that an event counts for. */
const usualEventBytes = 2_000;

/** Returns the bytes that a request's writes count for while waiting and in their commit. */
export function sizeOfSet({ writes, bytes = 0 }: Pick<WriteSet, "writes" | "bytes">): number {
  return Math.max(bytes, writes.length * usualEventBytes);
}

/** An event after a commit. */
export type WrittenEvent = { readonly projectId: string; readonly after: CountedEvent };

/** Events that wait to be evaluated, as the functions of migration 0030 store them. */
export type QueuedRow = {
  readonly project_id: string;
  readonly queue_id: string;
  /** Ids as postgres-text.ts escapes them. */
  readonly event_ids: readonly string[];
};

/**
 * Returns whether a listener must be called in the transaction of a project's writes. False for a
 * listener with `queuedOf`: a commit of one statement stores those rows itself.
 */
export function mustHear(listener: WrittenListener | undefined, projectId: string): boolean {
  return listener !== undefined && listener.queuedOf === undefined && listener.wants(projectId);
}

/** Listens to the events that commits create or change. */
export type WrittenListener = {
  /** Returns false only if nothing is to be recorded about a project's writes. Runs no SQL. */
  wants(projectId: string): boolean;
  /**
   * Returns the rows that `onWritten` stores; a commit of one statement stores them itself. Absent
   * if `onWritten` does anything else. Runs no SQL.
   */
  queuedOf?(written: readonly WrittenEvent[]): readonly QueuedRow[];
  /**
   * Called in the transaction of a commit with the events that it creates or changes; may be left
   * out if `wants` is false for every project of the commit. Merges of the service's own metrics
   * (metrics.ts) do not call it.
   */
  onWritten(sql: Sql, written: readonly WrittenEvent[]): Promise<void>;
};
