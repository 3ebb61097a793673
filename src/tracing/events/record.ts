// Records writes: the one way in for events, whatever protocol brought them. Called by events.ts,
// sessions.ts, model events and OTLP. Writes of concurrent requests share a statement and a commit
// (commit-queue.ts); a caller is answered after its commit.
// Source: docs/decisions.md, 5 to 7 and 18.

import type { ProjectId } from "../../base/ids.ts";
import type { Database } from "../../postgres/database.ts";
import type { FieldCatalogue } from "../fields/fields.ts";
import { applyWrites } from "./apply-writes.ts";
import { createCommitQueue, type Outcomes, type QueueSize } from "./commit-queue.ts";
import type { EstimateCost, EventWrite } from "./event.ts";
import type { OnWritten, WriteSet } from "./write-set.ts";

export type RecordOptions = {
  /** Names for sessions that have none of their own, by session id. */
  readonly sessionNames?: ReadonlyMap<string, string>;
};

export type Recorder = {
  /**
   * Stores events, each merged into the one that has its id. Resolves after commit; the sessions
   * they name exist then, and their totals count them. Returns the ids of events that were refused,
   * because their id is a session's and they are none, or the other way round.
   */
  record(
    projectId: ProjectId,
    writes: readonly EventWrite[],
    options?: RecordOptions,
  ): Promise<ReadonlySet<string>>;
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
  /** Absent where no prices are known. */
  readonly estimateCost?: EstimateCost | undefined;
  readonly onWritten?: OnWritten | undefined;
};

const noNames: ReadonlyMap<string, string> = new Map();

export function createRecorder(options: RecorderOptions): Recorder {
  const { database, fields, connections = 3, onStored = () => undefined } = options;
  const { estimateCost = () => null, onWritten } = options;
  const commit = (sets: readonly WriteSet[]): Promise<readonly Outcomes[]> =>
    applyWrites(database, { fields, estimateCost, onWritten }, sets);
  const queue = createCommitQueue({ connections, commit });

  // Inside somebody's transaction (Idempotency-Key) the writes are part of it and cannot wait for
  // others.
  async function submit(set: Omit<WriteSet, "receivedAtMs">): Promise<Outcomes> {
    const timed = { ...set, receivedAtMs: Date.now() };
    const [outcomes = []] = database.isInTransaction()
      ? await commit([timed])
      : [await queue.submit(timed)];
    onStored(outcomes.filter((outcome) => outcome === "applied").length);
    return outcomes;
  }

  return {
    async record(projectId, writes, { sessionNames = noNames } = {}) {
      if (writes.length === 0) return new Set();
      const outcomes = await submit({ projectId, writes, kind: "create", sessionNames });
      const refused = writes.filter((_, index) => outcomes[index] === "refused");
      return new Set(refused.map((write) => write.event_id));
    },
    async enrich(projectId, write) {
      await submit({ projectId, writes: [write], kind: "enrich", sessionNames: noNames });
    },
    async update(projectId, write) {
      const set = { projectId, writes: [write], kind: "update", sessionNames: noNames } as const;
      const [outcome] = await submit(set);
      return outcome !== "absent";
    },
    queueSize: () => queue.size(),
    drain: () => queue.drain(),
  };
}
