// A simulation of ingestion and of online evaluation on simulated time, from measured costs. The
// commit queue is the service's own (src/tracing/events/commit-queue.ts).

import type { ProjectId } from "../../src/base/ids.ts";
import { projectCommitsShare } from "../../src/base/tenant-limits.ts";
import { dividePools } from "../../src/postgres/pools.ts";
import { createTurns } from "../../src/postgres/turns.ts";
import { createCommitQueue } from "../../src/tracing/events/commit-queue.ts";
import { noPricing } from "../../src/tracing/events/event.ts";
import type { WriteSet } from "../../src/tracing/events/write-set.ts";
import { createRandom } from "./events.ts";
import { onSimulatedTime, type SimulatedTime } from "./simulated-time.ts";
import { percentile } from "./table.ts";

/** Processor milliseconds, and milliseconds of one flush of Postgres' log. */
export type Costs = {
  readonly serviceOfRequest: number;
  readonly serviceOfEvent: number;
  readonly postgresOfCommit: number;
  readonly postgresOfEvent: number;
  readonly generatorOfRequest: number;
  readonly flush: number;
};

export type Machine =
  /** The processors of one machine, which the generator, the service and Postgres share. */
  | { readonly shared: number }
  /** One processor for each server, and those of Postgres, each by themselves. */
  | { readonly servers: number; readonly postgres: number };

export type Traffic = {
  readonly eventsPerRequest: number;
  /** Connections that send the next request after an answer, or requests per second. */
  readonly arrival: { readonly connections: number } | { readonly perSecond: number };
  readonly seconds: number;
};

export type Simulated = {
  readonly eventsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly eventsPerCommit: number;
  /** Share of requests that got a 503. */
  readonly refused: number;
};

const projects = 8;

/** Returns a generator of pseudo-random numbers from 0 to 1, the same in every run. */
function createShares(): () => number {
  const random = createRandom(1);
  return () => random(1_000_000) / 1_000_000;
}

/** Returns a generator of the milliseconds between arrivals of a Poisson process. */
function createIntervals(): (perSecond: number) => number {
  const share = createShares();
  return (perSecond) => (-Math.log(1 - share()) / perSecond) * 1_000;
}

export function simulateIngest(
  costs: Costs,
  machine: Machine,
  { eventsPerRequest, arrival, seconds }: Traffic,
): Promise<Simulated> {
  return onSimulatedTime(async (time) => {
    const interval = createIntervals();
    const latencies: number[] = [];
    let [refused, commits, committed] = [0, 0, 0];
    const place = openMachine(time, machine);
    const flush = openLog(time, costs.flush);
    const servers = place.servers.map((service) => {
      const queue = createCommitQueue({
        turns: createTurns(commitTurns),
        async commit(sets) {
          const events = sets.reduce((sum, { writes }) => sum + writes.length, 0);
          await place.postgres(costs.postgresOfCommit + events * costs.postgresOfEvent);
          await flush();
          commits += 1;
          committed += events;
          return sets.map(({ writes }) => writes.map(() => "applied" as const));
        },
      });
      return { service, queue };
    });

    async function request(number: number): Promise<void> {
      const { service, queue } = servers[number % servers.length] ?? fail();
      const begunAt = time.now();
      await place.generator(costs.generatorOfRequest);
      // Half of a request's work comes before its commit, with all of its events'.
      await service(costs.serviceOfRequest / 2 + costs.serviceOfEvent * eventsPerRequest);
      try {
        await queue.submit(aSet(number, eventsPerRequest));
      } catch {
        refused += 1;
        return;
      }
      await service(costs.serviceOfRequest / 2);
      latencies.push(time.now() - begunAt);
    }

    const untilMs = seconds * 1_000;
    let sent = 0;
    if ("connections" in arrival) {
      const work = async (): Promise<void> => {
        while (time.now() < untilMs) await request((sent += 1));
      };
      await Promise.all(Array.from({ length: arrival.connections }, work));
    } else {
      const running: Promise<void>[] = [];
      while (time.now() < untilMs) {
        await time.wait(interval(arrival.perSecond));
        running.push(request((sent += 1)));
      }
      await Promise.all(running);
    }
    return {
      eventsPerSecond: (latencies.length * eventsPerRequest) / (time.now() / 1_000),
      p50Ms: percentile(latencies, 0.5),
      p99Ms: percentile(latencies, 0.99),
      eventsPerCommit: committed / commits,
      refused: refused / sent,
    };
  });
}

/** Connections of one server for commits by default. */
const places = dividePools(12).commits;

const commitTurns = {
  places,
  placesPerOwner: Math.max(1, Math.floor(places * projectCommitsShare)),
  waitingMax: Infinity,
  waitMsMax: 10_000,
  what: "commits",
};

function aSet(number: number, events: number): WriteSet {
  return {
    projectId: `p${number % projects}` as ProjectId,
    writes: Array.from({ length: events }, (_, index) => ({ event_id: `${number}-${index}` })),
    kind: "create",
    sessionNames: new Map(),
    receivedAtMs: 0,
    pricing: noPricing,
    bytes: events * 2_048,
  };
}

function fail(): never {
  throw new Error("a machine has a server");
}

type Use = (ms: number) => Promise<void>;

function openMachine(time: SimulatedTime, machine: Machine) {
  if ("servers" in machine) {
    const servers = Array.from({ length: machine.servers }, () => time.resource(1));
    return { servers, postgres: time.resource(machine.postgres), generator: () => time.wait(0) };
  }
  const processors = time.resource(machine.shared);
  // A Node process uses one processor at a time.
  const oneThread = (): Use => {
    const thread = time.resource(1);
    return async (ms) => {
      await Promise.all([thread(ms), processors(ms)]);
    };
  };
  return { servers: [oneThread()], postgres: processors, generator: oneThread() };
}

/** A log whose flush serves every commit that waits when it begins. */
function openLog(time: SimulatedTime, flushMs: number): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () =>
    (next ??= running.then(() => {
      next = undefined;
      running = time.wait(flushMs);
      return running;
    }));
}

export type Evaluation = {
  readonly eventsPerSecond: number;
  readonly seconds: number;
  /** Sandboxes that run at a time. */
  readonly sandboxes: number;
  /** Milliseconds of one evaluation with its share of the commit of results. */
  readonly evaluationMs: number;
  /** Longest wait for the dispatcher's next turn, and for the chunk's next look at the queue. */
  readonly turnMs: number;
  readonly lookMs: number;
};

/** Returns milliseconds from an event's commit to its score. */
export function simulateEvaluation(
  evaluation: Evaluation,
): Promise<{ readonly p50Ms: number; readonly p95Ms: number }> {
  const { eventsPerSecond, seconds, sandboxes, evaluationMs, turnMs, lookMs } = evaluation;
  return onSimulatedTime(async (time) => {
    const random = createShares();
    const interval = createIntervals();
    const sandbox = time.resource(sandboxes);
    const latencies: number[] = [];
    const running: Promise<void>[] = [];
    const score = async (): Promise<void> => {
      const begunAt = time.now();
      await time.wait(turnMs - (time.now() % turnMs));
      await time.wait(lookMs * random());
      await sandbox(evaluationMs);
      latencies.push(time.now() - begunAt);
    };
    while (time.now() < seconds * 1_000) {
      await time.wait(interval(eventsPerSecond));
      running.push(score());
    }
    await Promise.all(running);
    return { p50Ms: percentile(latencies, 0.5), p95Ms: percentile(latencies, 0.95) };
  });
}
