// Group commit: gathers the writes of concurrent requests while their project waits for a
// connection, and small ones while it commits, and commits them together.

import { ServiceError } from "../../base/errors.ts";
import {
  commitGroupBytesMax,
  commitWaitingBytesMax,
  commitWaitingBytesOfProjectMax,
} from "../../base/limits.ts";
import { commitGroupEventsMax, commitWaitMsMax } from "../../base/tenant-limits.ts";
import { codeOf } from "../../base/error-code.ts";
import { isWorkerLost } from "../../postgres/faults.ts";
import type { Place, Turns } from "../../postgres/turns.ts";
import type { Outcome } from "./merge.ts";
import { sizeOfSet, type WriteSet } from "./write-set.ts";

/** Outcomes of a request's writes, in their order. */
export type Outcomes = readonly Outcome[];

/** Commits several requests' writes in one transaction and returns the outcomes of each. */
export type Commit = (sets: readonly WriteSet[]) => Promise<readonly Outcomes[]>;

export type QueueSize = {
  readonly requests: number;
  readonly events: number;
  readonly bytes: number;
};

/** Returns the size of several queues together. */
export function sumSizes(sizes: readonly QueueSize[]): QueueSize {
  const sum = (of: (size: QueueSize) => number): number =>
    sizes.reduce((total, size) => total + of(size), 0);
  return {
    requests: sum(({ requests }) => requests),
    events: sum(({ events }) => events),
    bytes: sum(({ bytes }) => bytes),
  };
}

export type CommitQueue = {
  /**
   * Resolves after commit. Throws DATABASE_UNAVAILABLE if that takes too long, and OVERLOADED if
   * too many bytes are waiting; the service's own writes never get OVERLOADED.
   */
  submit(set: WriteSet): Promise<Outcomes>;
  /** Returns the size of the queue, without writes that are being committed. */
  size(): QueueSize;
  drain(): Promise<void>;
};

export type CommitQueueOptions = {
  readonly commit: Commit;
  /** Turns at the connections. A project with a long queue takes one turn after another. */
  readonly turns: Turns;
  readonly waitMs?: number;
  readonly waitingBytesMax?: number;
  readonly waitingBytesOfProjectMax?: number;
  /** Waiting bytes up to which a project's writes wait for its running commit. */
  readonly gatherBytesMax?: number;
};

type Waiting = {
  readonly set: WriteSet;
  readonly bytes: number;
  readonly resolve: (outcomes: Outcomes) => void;
  readonly reject: (error: unknown) => void;
};

/** Waiting writes of one project, and the number of its workers. */
type ProjectQueue = {
  /** Waiting requests in order of arrival. */
  readonly waiting: Set<Waiting>;
  /** Organization of the project, once a request has named it. */
  organization: string | undefined;
  bytes: number;
  /** Groups that are being committed or wait for a turn. */
  workers: number;
  /** Runs while small writes wait for the commit before them. */
  gathering: NodeJS.Timeout | undefined;
};

/** A statement costs as much as several small events, so fewer and larger groups cost less. */
const gatherBytesMaxDefault = 64_000;

/** Maximum time of waiting for a running commit, a few usual commits: it may wait for a lock. */
const gatherMsMax = 3;

export function createCommitQueue(options: CommitQueueOptions): CommitQueue {
  const { turns, gatherBytesMax = gatherBytesMaxDefault } = options;
  const queues = new Map<string, ProjectQueue>();
  let waitingBytes = 0;
  let workers = 0;
  let onIdle: (() => void)[] = [];

  function queueOf(projectId: string): ProjectQueue {
    const rest = { organization: undefined, bytes: 0, workers: 0, gathering: undefined };
    const queue = queues.get(projectId) ?? { waiting: new Set<Waiting>(), ...rest };
    queues.set(projectId, queue);
    return queue;
  }

  function remove(projectId: string, one: Waiting): void {
    const queue = queues.get(projectId);
    if (!queue?.waiting.delete(one)) return;
    queue.bytes -= one.bytes;
    waitingBytes -= one.bytes;
    if (queue.waiting.size === 0 && queue.workers === 0) queues.delete(projectId);
  }

  /** Takes waiting requests, one of each project in turn, beginning with the owner of the place. */
  function takeGroup(projectId: string, place: Place): Waiting[] {
    const group: Waiting[] = [];
    let room = { events: commitGroupEventsMax, bytes: commitGroupBytesMax };
    let projects = [projectId, ...[...queues.keys()].filter((id) => id !== projectId)];
    while (projects.length > 0) {
      projects = projects.filter((id) => {
        const { waiting = [], organization } = queues.get(id) ?? {};
        const [next] = waiting;
        if (next === undefined) return false;
        const left = {
          events: room.events - next.set.writes.length,
          bytes: room.bytes - next.bytes,
        };
        const isOver = left.events < 0 || left.bytes < 0;
        // New events and updates are stored by different statements.
        const isOther = group[0] !== undefined && isCreate(group[0]) !== isCreate(next);
        // A request larger than a group forms a group by itself.
        if ((isOver && group.length > 0) || isOther || !place.join(id, organization)) return false;
        room = left;
        group.push(next);
        remove(id, next);
        return true;
      });
    }
    return group;
  }

  /** Starts a worker now, or for a few waiting bytes after the running commit. */
  function startWorkerFor(projectId: string, queue: ProjectQueue): void {
    if (queue.workers === 0 || queue.bytes > gatherBytesMax) startWorker(projectId, queue);
    else queue.gathering ??= setTimeout(() => startWorker(projectId, queue), gatherMsMax);
  }

  function startWorker(projectId: string, queue: ProjectQueue): void {
    clearTimeout(queue.gathering);
    queue.gathering = undefined;
    if (queue.waiting.size === 0 || queue.workers >= turns.placesPerOwner) return;
    queue.workers += 1;
    workers += 1;
    const work = (place: Place): Promise<void> =>
      commitGroup(takeGroup(projectId, place), options.commit);
    const { organization } = queue;
    void turns.run(projectId, work, { organization, isPatient: true }).then(() => {
      queue.workers -= 1;
      workers -= 1;
      if (queue.waiting.size > 0) startWorkerFor(projectId, queue);
      else if (queue.workers === 0) queues.delete(projectId);
      if (workers > 0) return;
      for (const resolve of onIdle) resolve();
      onIdle = [];
    });
  }

  return {
    submit: async (set) => {
      const { projectId } = set;
      const queue = queueOf(projectId);
      queue.organization ??= set.organization;
      const bytes = sizeOfSet(set);
      const sizes = { own: queue.bytes, all: waitingBytes, bytes };
      if (set.bytes !== undefined) assertRoom(sizes, options);
      const { promise, resolve, reject } = Promise.withResolvers<Outcomes>();
      const one = { set, bytes, resolve, reject };
      queue.waiting.add(one);
      queue.bytes += bytes;
      waitingBytes += bytes;
      startWorkerFor(projectId, queue);
      const timer = setTimeout(() => {
        remove(projectId, one);
        reject(new ServiceError("DATABASE_UNAVAILABLE", `no commit in ${commitWaitMsMax} ms`));
      }, options.waitMs ?? commitWaitMsMax);
      return promise.finally(() => clearTimeout(timer));
    },
    size() {
      const waiting = [...queues.values()].flatMap((queue) => [...queue.waiting]);
      const events = waiting.reduce((sum, { set }) => sum + set.writes.length, 0);
      return { requests: waiting.length, events, bytes: waitingBytes };
    },
    drain: () =>
      workers === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(() => resolve())),
  };
}

function isCreate({ set }: Waiting): boolean {
  return set.kind === "create";
}

/** Waiting bytes of the project and of all projects, and the bytes of the new request. */
type Room = { readonly own: number; readonly all: number; readonly bytes: number };

/**
 * Throws OVERLOADED past the limits. Always admits a project without waiting writes, even if the
 * queues of others are full, because it takes the next turn.
 */
function assertRoom({ own, all, bytes }: Room, options: CommitQueueOptions): void {
  if (own === 0) return;
  const ownMax = options.waitingBytesOfProjectMax ?? commitWaitingBytesOfProjectMax;
  const allMax = options.waitingBytesMax ?? commitWaitingBytesMax;
  const isOver = own + bytes > ownMax ? ownMax : all + bytes > allMax ? allMax : undefined;
  if (isOver === undefined) return;
  const message = `more than ${isOver} bytes of events wait to be stored; try again`;
  throw new ServiceError("OVERLOADED", message);
}

async function commitGroup(group: readonly Waiting[], commit: Commit): Promise<void> {
  if (group.length === 0) return;
  try {
    const outcomes = await commit(group.map(({ set }) => set));
    group.forEach(({ resolve }, index) => resolve(outcomes[index] ?? []));
  } catch (error) {
    const parts = partsAfter(error, group);
    if (parts.length === 1) for (const { reject } of group) reject(error);
    else for (const part of parts) await commitGroup(part, commit);
  }
}

// One request's bad value must not fail its neighbours, nor a Citus worker that is away the
// projects of other workers. If the database is down, each part alone would only wait for the same
// failure.
function partsAfter(error: unknown, group: readonly Waiting[]): readonly (readonly Waiting[])[] {
  if (isWorkerLost(error)) return [...Map.groupBy(group, ({ set }) => set.projectId).values()];
  return isAboutValues(error) ? group.map((one) => [one]) : [group];
}

/**
 * Returns true for SQLSTATE classes of bad data, broken constraints and exceeded limits, and for
 * errors that do not come from the database.
 */
function isAboutValues(error: unknown): boolean {
  const code = codeOf(error);
  return code === undefined || /^(2[123]|54)[0-9A-Z]{3}$/.test(code);
}
