// Records writes: the only way for events into the store, for every protocol. Writes of concurrent
// requests share a statement and a commit (commit-queue.ts); a caller is answered after its commit.
// Source: docs/decisions.md, 5, 6, 7, 9 and 18.1.

import { inForeground } from "../../base/background.ts";
import { ServiceError } from "../../base/errors.ts";
import type { ProjectId } from "../../base/ids.ts";
import { ingestionTimeoutMs, transactionWaitMsMax } from "../../base/limits.ts";
import type { Logger } from "../../base/logger.ts";
import { createRunning } from "../../base/running.ts";
import type { Database } from "../../postgres/database.ts";
import { createTurns, type Turns } from "../../postgres/turns.ts";
import type { FieldCatalogue } from "../fields/fields.ts";
import { applyApart } from "./apply-apart.ts";
import { createApplyNew } from "./apply-new.ts";
import { createApplyUnread } from "./apply-unread.ts";
import { createApplyUpdates } from "./apply-updates.ts";
import { applyWrites, runsAlone } from "./apply-writes.ts";
import { createCommitQueue, type Outcomes, type QueueSize, sumSizes } from "./commit-queue.ts";
import { type EventWrite, noPricing, type Pricing } from "./event.ts";
import { isRefusal, type Outcome } from "./merge.ts";
import { endSoonIfIdle } from "./store.ts";
import type { WriteSet, WrittenListener } from "./write-set.ts";

/** Causes of refused writes, by index. */
export type Refused = ReadonlyMap<number, string>;

/** Request of the writes; absent for the service's own writes. */
export type Origin = {
  /**
   * Bytes of memory that the request holds. Past a limit of waiting bytes it is refused
   * (OVERLOADED).
   */
  readonly bytes?: number;
  /** Organization of the project, which leaves a connection to the others; absent if unknown. */
  readonly organization?: string | undefined;
  /** When its deadline began; default: now. */
  readonly receivedAtMs?: number;
};

export type RecordOptions = Origin & {
  /**
   * Whether the writes are whole events, as by default, or updates that wait for their event if it
   * does not exist.
   */
  readonly kind?: "create" | "enrich";
  /** Names for sessions without a name, by session id. */
  readonly sessionNames?: ReadonlyMap<string, string>;
  /** Cost of each write (event-limits.ts). A request of high total cost is stored in parts. */
  readonly costs?: readonly number[];
  /** See WriteSet. */
  readonly onCreated?: WriteSet["onCreated"];
};

export type Recorder = {
  /**
   * Stores events, merging each into an existing event of the same id. Resolves after commit; the
   * sessions that the events name exist then, and their totals count them. Returns the causes of
   * refused writes by index: nothing of these is stored, the others are. A large request takes
   * several commits; if one fails, the earlier ones stand, and repeating the request merges.
   */
  record(
    projectId: ProjectId,
    writes: readonly EventWrite[],
    options?: RecordOptions,
  ): Promise<Refused>;
  /**
   * Merges an update; if its event does not exist, the update is kept until it does. Throws
   * INVALID_ARGUMENT if it cannot be stored.
   */
  enrich(projectId: ProjectId, write: EventWrite, origin?: Origin): Promise<void>;
  /**
   * Merges an update into an existing event; returns false if there is none. Throws
   * INVALID_ARGUMENT if it cannot be stored.
   */
  update(projectId: ProjectId, write: EventWrite, origin?: Origin): Promise<boolean>;
  /** Returns the size of the commit queue. */
  queueSize(): QueueSize;
  /** Resolves when no write is waiting. */
  drain(): Promise<void>;
};

/** Returns the prices of a project. Throws DATABASE_UNAVAILABLE if they cannot be read. */
export type PricingOf = (projectId: ProjectId) => Promise<Pricing>;

export type RecorderOptions = {
  readonly database: Database;
  readonly fields: FieldCatalogue;
  /** Turns of commits; by default those of the database's transactions. */
  readonly turns?: Turns;
  /**
   * Called after the writes of a request, or of a part of it, with the number of events that they
   * stored or changed.
   */
  readonly onStored?: (events: number) => void;
  /** Returns the prices of a project; by default there are none. */
  readonly pricingOf?: PricingOf | undefined;
  /** Called in each commit with the events that it creates or changes. */
  readonly listener?: WrittenListener | undefined;
  readonly logger?: Pick<Logger, "debug"> | undefined;
};

/** The queue limits its own length. */
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
  const { pricingOf = () => Promise.resolve(noPricing), listener, logger } = options;
  const running = createRunning();
  const derivations = { fields, listener, logger };
  const applyNew = createApplyNew(database, derivations);
  const applyUnread = createApplyUnread(database, derivations);
  const applyUpdates = createApplyUpdates(database, derivations);
  const queue = createCommitQueue({ commit, turns: options.turns ?? database.turns() });
  // Changes of large events run one at a time: this bounds their memory in Postgres, and other
  // requests do not wait for them.
  const largeQueue = createCommitQueue({ commit: commitFirst, turns: createTurns(oneAtATime) });

  // The queue retries a failed request alone, and only then is it split to find its bad writes.
  async function commit(sets: readonly WriteSet[]): Promise<readonly Outcomes[]> {
    const stored =
      (await applyNew(sets)) ?? (await applyUnread(sets)) ?? (await applyUpdates(sets));
    const events = sets.reduce((sum, { writes }) => sum + writes.length, 0);
    logger?.debug(
      { requests: sets.length, events, isOneStatement: stored !== undefined },
      "commit",
    );
    if (stored !== undefined) return stored;
    const [set] = sets;
    if (set === undefined || sets.length > 1) return applyWrites(database, derivations, sets);
    return [await applyApart(database, set, applyAlone)];
  }

  async function commitInside(set: WriteSet): Promise<readonly Outcomes[]> {
    // Both are sent before either answer is awaited.
    const [, outcomes] = await Promise.all([endSoonIfIdle(database.sql()), commit([set])]);
    return outcomes;
  }

  async function applyAlone(set: WriteSet): Promise<Outcomes> {
    const [outcomes = []] = await applyWrites(database, derivations, [set]);
    return outcomes;
  }

  async function commitFirst(sets: readonly WriteSet[]): Promise<readonly Outcomes[]> {
    const run = (): Promise<readonly Outcomes[]> => commit(sets.slice(0, 1));
    const [set] = sets;
    const { projectId, organization } = set ?? {};
    const [outcomes = []] = await database.turns().run(projectId, run, { organization });
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
      ? await commitInside(set)
      : // A group holds writes of requests and of background work; it is work of requests.
        [await running.run(() => inForeground(() => commitInTurn(set)))];
    const stored = outcomes.filter((outcome) => outcome === "applied").length;
    // An outer transaction may still roll the writes back.
    if (database.isInTransaction()) database.afterCommit(() => onStored(stored));
    else onStored(stored);
    return outcomes;
  }

  // Other requests take turns between the parts of a large request.
  async function submitParts(set: WriteSet, costs: readonly number[]): Promise<Outcomes> {
    const outcomes: Outcome[] = [];
    for (const end of partEndsOf(set.writes.length, costs)) {
      assertInTime(set);
      const writes = set.writes.slice(outcomes.length, end);
      const bytes = set.bytes && (set.bytes * writes.length) / set.writes.length;
      for (const outcome of await submit({ ...set, writes, bytes, requestBytes: set.bytes }))
        outcomes.push(outcome);
    }
    return outcomes;
  }

  async function submitOne(
    projectId: ProjectId,
    kind: "enrich" | "update",
    write: EventWrite,
    { bytes, organization, receivedAtMs = Date.now() }: Origin = {},
  ): Promise<"applied" | "absent"> {
    const [outcome = "absent"] = await submit({
      projectId,
      writes: [write],
      kind,
      sessionNames: noNames,
      bytes,
      organization,
      receivedAtMs,
      pricing: await pricingOf(projectId),
    });
    if (!isRefusal(outcome)) return outcome;
    throw new ServiceError("INVALID_ARGUMENT", outcome.cause);
  }

  return {
    async record(projectId, writes, { costs = [], ...options } = {}) {
      const refused = new Map<number, string>();
      const { kind = "create", sessionNames = noNames, bytes, organization, onCreated } = options;
      const { receivedAtMs = Date.now() } = options;
      const pricing = await pricingOf(projectId);
      const request = { projectId, organization, bytes, onCreated, receivedAtMs, pricing };
      const set = { ...request, writes, kind, sessionNames };
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
    queueSize: () => sumSizes([queue.size(), largeQueue.size()]),
    async drain() {
      await running.drain();
      // A commit may still be running although its request was abandoned.
      await Promise.all([queue.drain(), largeQueue.drain()]);
    },
  };
}

/** Maximum cost of a part of a request: about half a second of Postgres. */
const partCostMax = 500_000;

/** Cost of a write that was not weighed: that of an event of 2 KB. */
const usualCost = 200;

/** Yields the end index of each part of a request. */
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

/**
 * Throws DATABASE_UNAVAILABLE past the deadline of a call that writes events. The client has been
 * answered by then, and archiving relies on the deadline.
 */
export function assertInTime({ receivedAtMs }: Pick<WriteSet, "receivedAtMs">): void {
  if (Date.now() - receivedAtMs < ingestionTimeoutMs) return;
  throw new ServiceError("DATABASE_UNAVAILABLE", `not stored in ${ingestionTimeoutMs} ms`);
}
