// Records writes: the one way in for events, whatever protocol brought them. Writes of concurrent
// requests share a statement and a commit (commit-queue.ts); a caller is answered after its commit.
// Source: docs/decisions.md, 5 to 7, 9 and 18.

import { ServiceError } from "../../base/errors.ts";
import type { ProjectId } from "../../base/ids.ts";
import { ingestionTimeoutMs, transactionWaitMsMax } from "../../base/limits.ts";
import { createRunning } from "../../base/running.ts";
import type { Database } from "../../postgres/database.ts";
import { createTurns, type Turns } from "../../postgres/turns.ts";
import type { FieldCatalogue } from "../fields/fields.ts";
import { applyApart } from "./apply-apart.ts";
import { applyWrites, runsAlone } from "./apply-writes.ts";
import { createCommitQueue, type Outcomes, type QueueSize } from "./commit-queue.ts";
import type { EstimateCost, EventWrite } from "./event.ts";
import { isRefusal, type Outcome } from "./merge.ts";
import type { OnWritten, WriteSet } from "./write-set.ts";

/** Why writes are refused, by their index. */
export type Refused = ReadonlyMap<number, string>;

/** The request that writes come from; absent for writes of the service's own. */
export type Origin = {
  /** Memory that it holds. Past a bound of what waits for a commit it is refused (OVERLOADED). */
  readonly bytes?: number;
};

export type RecordOptions = Origin & {
  /** Names for sessions that have none of their own, by session id. */
  readonly sessionNames?: ReadonlyMap<string, string>;
  /** What each write costs (event-limits.ts); by it a large request is stored in parts. */
  readonly costs?: readonly number[];
};

export type Recorder = {
  /**
   * Stores events, each merged into the one that has its id. Resolves after commit; the sessions
   * they name exist then, and their totals count them. Returns the causes of refused writes by
   * their index: of these nothing is stored, the others are. A large request takes several commits;
   * where one fails, those before it stand, and the same request again merges.
   */
  record(
    projectId: ProjectId,
    writes: readonly EventWrite[],
    options?: RecordOptions,
  ): Promise<Refused>;
  /**
   * Merges an update; one whose event is not there is kept until it comes. Throws INVALID_ARGUMENT
   * when it cannot be stored.
   */
  enrich(projectId: ProjectId, write: EventWrite, origin?: Origin): Promise<void>;
  /**
   * Merges an update into an existing event; false when there is none. Throws INVALID_ARGUMENT when
   * it cannot be stored.
   */
  update(projectId: ProjectId, write: EventWrite, origin?: Origin): Promise<boolean>;
  /** What waits for a commit now. */
  queueSize(): QueueSize;
  /** Resolves when no write is waiting. */
  drain(): Promise<void>;
};

export type RecorderOptions = {
  readonly database: Database;
  readonly fields: FieldCatalogue;
  /** Of commits; by default those of the database's transactions. */
  readonly turns?: Turns;
  /** Told how many events each commit stored or changed. */
  readonly onStored?: (events: number) => void;
  /** Absent where no prices are known. */
  readonly estimateCost?: EstimateCost | undefined;
  readonly onWritten?: OnWritten | undefined;
};

/** The queue has limits of its own for what waits. */
const oneAtATime = {
  places: 1,
  placesPerOwner: 1,
  waitingMax: Infinity,
  waitMsMax: transactionWaitMsMax,
  what: "large changes",
};

const noNames: ReadonlyMap<string, string> = new Map();

export function createRecorder(options: RecorderOptions): Recorder {
  const { database, fields, onStored = () => undefined } = options;
  const { estimateCost = () => null, onWritten } = options;
  const running = createRunning();
  const derivations = { fields, estimateCost, onWritten };
  const queue = createCommitQueue({ commit, turns: options.turns ?? database.turns() });
  // Changes of large events, one at a time: what they take in Postgres is bounded then, and other
  // requests do not wait for them.
  const largeQueue = createCommitQueue({ commit: commitFirst, turns: createTurns(oneAtATime) });

  // A request that fails among others is tried alone by the queue: only there is it taken apart.
  async function commit(sets: readonly WriteSet[]): Promise<readonly Outcomes[]> {
    const [set] = sets;
    if (set === undefined || sets.length > 1) return applyWrites(database, derivations, sets);
    return [await applyApart(database, set, applyAlone)];
  }

  async function applyAlone(set: WriteSet): Promise<Outcomes> {
    const [outcomes = []] = await applyWrites(database, derivations, [set]);
    return outcomes;
  }

  async function commitFirst(sets: readonly WriteSet[]): Promise<readonly Outcomes[]> {
    const run = (): Promise<readonly Outcomes[]> => commit(sets.slice(0, 1));
    const [outcomes = []] = await database.turns().run(sets[0]?.projectId, run);
    return sets.map((_, index) => (index === 0 ? outcomes : runsAlone));
  }

  async function commitInTurn(set: WriteSet): Promise<Outcomes> {
    let outcomes = await queue.submit(set);
    while (outcomes === runsAlone) {
      assertInTime(set);
      outcomes = await largeQueue.submit(set);
    }
    return outcomes;
  }

  // Inside another transaction (Idempotency-Key) the writes are part of it and cannot wait for
  // others.
  async function submit(set: WriteSet): Promise<Outcomes> {
    const [outcomes = []] = database.isInTransaction()
      ? await commit([set])
      : [await running.run(() => commitInTurn(set))];
    onStored(outcomes.filter((outcome) => outcome === "applied").length);
    return outcomes;
  }

  // Between the parts of a large request others have their turn.
  async function submitParts(set: WriteSet, costs: readonly number[]): Promise<Outcomes> {
    const outcomes: Outcome[] = [];
    for (const end of partEndsOf(set.writes.length, costs)) {
      assertInTime(set);
      const writes = set.writes.slice(outcomes.length, end);
      const bytes = set.bytes && (set.bytes * writes.length) / set.writes.length;
      for (const outcome of await submit({ ...set, writes, bytes })) outcomes.push(outcome);
    }
    return outcomes;
  }

  async function submitOne(
    projectId: ProjectId,
    kind: "enrich" | "update",
    write: EventWrite,
    { bytes }: Origin = {},
  ): Promise<"applied" | "absent"> {
    const [outcome = "absent"] = await submit({
      ...{ projectId, writes: [write], kind, sessionNames: noNames, bytes },
      receivedAtMs: Date.now(),
    });
    if (!isRefusal(outcome)) return outcome;
    throw new ServiceError("INVALID_ARGUMENT", outcome.cause);
  }

  return {
    async record(projectId, writes, { sessionNames = noNames, costs = [], bytes } = {}) {
      const refused = new Map<number, string>();
      const receivedAtMs = Date.now();
      const set = { projectId, writes, kind: "create", sessionNames, receivedAtMs, bytes } as const;
      const outcomes = await submitParts(set, costs);
      for (const [index, outcome] of outcomes.entries()) {
        if (isRefusal(outcome)) refused.set(index, outcome.cause);
      }
      return refused;
    },
    async enrich(projectId, write, origin) {
      await submitOne(projectId, "enrich", write, origin);
    },
    async update(projectId, write, origin) {
      return (await submitOne(projectId, "update", write, origin)) === "applied";
    },
    queueSize: () => {
      const [usual, large] = [queue.size(), largeQueue.size()];
      return { requests: usual.requests + large.requests, events: usual.events + large.events };
    },
    async drain() {
      await running.drain();
      // A commit whose request was given up may still be under way.
      await Promise.all([queue.drain(), largeQueue.drain()]);
    },
  };
}

/** Most that a part of a request costs: about half a second of Postgres. */
const partCostMax = 500_000;

/** Cost of a write that was not weighed, as of an event of 2 KB. */
const usualCost = 200;

/** Returns where the parts of a request end. */
function* partEndsOf(count: number, costs: readonly number[]): Generator<number> {
  let cost = 0;
  for (let at = 0; at < count; at += 1) {
    const own = costs[at] ?? usualCost;
    if (cost > 0 && cost + own > partCostMax) {
      yield at;
      cost = 0;
    }
    cost += own;
  }
  if (count > 0) yield count;
}

// The deadline of the call: its client has been answered by then, and archiving counts on it.
function assertInTime({ receivedAtMs }: WriteSet): void {
  if (Date.now() - receivedAtMs < ingestionTimeoutMs) return;
  throw new ServiceError("DATABASE_UNAVAILABLE", `not stored in ${ingestionTimeoutMs} ms`);
}
