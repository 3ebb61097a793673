// Records writes: the one way in for events, whatever protocol brought them. Called by events.ts,
// sessions.ts, model events and OTLP. Writes of concurrent requests share a statement and a commit
// (commit-queue.ts); a caller is answered after its commit.
// Source: docs/decisions.md, 5 to 7 and 18.

import type { ProjectId } from "../../base/ids.ts";
import type { Database } from "../../postgres/database.ts";
import type { FieldCatalogue } from "../fields/fields.ts";
import { applyWrites } from "./apply-writes.ts";
import { createCommitQueue, type QueueSize } from "./commit-queue.ts";
import type { EventWrite } from "./event.ts";
import type { WriteSet } from "./write-set.ts";

export type RecordOptions = {
  /** Names for sessions that have none of their own, by session id. */
  readonly sessionNames?: ReadonlyMap<string, string>;
};

export type Recorder = {
  /**
   * Stores events, each merged into the one that has its id. Resolves after commit; the sessions
   * they name exist then, and their totals count them.
   */
  record(
    projectId: ProjectId,
    writes: readonly EventWrite[],
    options?: RecordOptions,
  ): Promise<void>;
  /** Merges updates; one whose event is not there is kept until it comes. */
  enrich(projectId: ProjectId, write: EventWrite): Promise<void>;
  /** Merges an update into an existing event; false when there is none. */
  update(projectId: ProjectId, write: EventWrite): Promise<boolean>;
  /** What waits for a commit now. */
  queueSize(): QueueSize;
  /** Resolves when no write is waiting. */
  drain(): Promise<void>;
};

export type RecorderOptions = {
  readonly database: Database;
  readonly fields: FieldCatalogue;
  /** Connections that commit at the same time. */
  readonly connections?: number;
  /** Told how many events each commit stored or changed. */
  readonly onStored?: (events: number) => void;
};

const noNames: ReadonlyMap<string, string> = new Map();

export function createRecorder(options: RecorderOptions): Recorder {
  const { database, fields, connections = 3, onStored = () => undefined } = options;
  const queue = createCommitQueue({
    connections,
    commit: (sets) => applyWrites(database, fields, sets),
  });

  // Inside somebody's transaction (Idempotency-Key) the writes are part of it and cannot wait for
  // others.
  async function submit(set: Omit<WriteSet, "receivedAtMs">): Promise<ReadonlySet<string>> {
    const timed = { ...set, receivedAtMs: Date.now() };
    const [absent = new Set<string>()] = database.isInTransaction()
      ? await applyWrites(database, fields, [timed])
      : [await queue.submit(timed)];
    onStored(set.writes.length - absent.size);
    return absent;
  }

  return {
    async record(projectId, writes, { sessionNames = noNames } = {}) {
      if (writes.length === 0) return;
      await submit({ projectId, writes, kind: "create", sessionNames });
    },
    async enrich(projectId, write) {
      await submit({ projectId, writes: [write], kind: "enrich", sessionNames: noNames });
    },
    async update(projectId, write) {
      const set = { projectId, writes: [write], kind: "update", sessionNames: noNames } as const;
      return (await submit(set)).size === 0;
    },
    queueSize: () => queue.size(),
    drain: () => queue.drain(),
  };
}
