// `npm run bench -- capacity`: measures the cost of an event, simulates where the queues saturate,
// and sizes machines for larger rates. docs/capacity.md keeps the result and its assumptions.

import { fdatasyncSync, openSync, closeSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/postgres/database.ts";
import { type Costs, simulateEvaluation, simulateIngest } from "./capacity-simulation.ts";
import type { LoadName } from "./loads.ts";
import { cpuSecondsOf, cpuSecondsOfTree } from "./processes.ts";
import { runLoad } from "./run-load.ts";
import { type BenchService, startService } from "./service.ts";
import { sizeFor } from "./sizing.ts";
import { describeMachine, formatTable, median } from "./table.ts";

export type CapacityOptions = {
  readonly rounds: number;
  /** Events of a round of batches; single events are a tenth. */
  readonly events: number;
};

/** Microseconds of processor time, and bytes, of an event. */
type Measured = {
  readonly eventsPerSecond: number;
  readonly generatorUs: number;
  readonly serviceUs: number;
  readonly postgresUs: number;
  readonly commits: number;
  readonly logBytes: number;
  readonly tableBytes: number;
};

const connections = 8;
const eventsPerBatch = 100;
const sharedProcessors = 2;

export async function benchCapacity({ rounds, events }: CapacityOptions): Promise<void> {
  console.log(describeMachine());
  const service = await startService();
  try {
    const flushMs = measureFlush(service.folder);
    const loads = [
      { load: "single-2k", requests: Math.ceil(events / 10), each: 1 },
      { load: "batch-2k", requests: Math.ceil(events / eventsPerBatch), each: eventsPerBatch },
    ] as const;
    const found: Measured[] = [];
    let firstEvent = 0;
    for (const { load, requests, each } of loads) {
      const measured: Measured[] = [];
      // The first round warms up code and caches and is not counted.
      for (let round = 0; round <= rounds; round += 1) {
        const one = await measure(service, { load, requests, firstEvent });
        firstEvent += requests * each;
        if (round > 0) measured.push(one);
      }
      found.push(medians(measured));
    }
    const [single, batch] = found;
    if (!single || !batch) throw new Error("both loads are measured");
    printCosts(single, batch, flushMs);
    const costs = toCosts(single, batch, flushMs);
    await printValidation(costs, single, batch);
    await printSaturation(costs);
    await printEvaluation();
    console.log(`\n${sizeFor(single, batch)}`);
  } finally {
    await service.stop();
  }
}

type Job = { readonly load: LoadName; readonly requests: number; readonly firstEvent: number };

async function measure(service: BenchService, job: Job): Promise<Measured> {
  const { url, project_api_key: key } = service.credentials;
  const before = await readCounters(service);
  const result = await runLoad({ ...job, url, key, connections });
  const after = await readCounters(service);
  const perEvent = (name: keyof Counters) => (after[name] - before[name]) / result.events;
  return {
    eventsPerSecond: result.events / result.seconds,
    generatorUs: (result.cpuSeconds / result.events) * 1e6,
    serviceUs: perEvent("service") * 1e6,
    postgresUs: perEvent("postgres") * 1e6,
    commits: perEvent("commits"),
    logBytes: perEvent("logBytes"),
    tableBytes: perEvent("tableBytes"),
  };
}

type Counters = Readonly<
  Record<"service" | "postgres" | "commits" | "logBytes" | "tableBytes", number>
>;

async function readCounters({ pid, postgresPid, databaseUrl }: BenchService): Promise<Counters> {
  const database = openDatabase({ url: databaseUrl, connectionsMax: 1 });
  try {
    // A backend reports its commits at most a second late.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const [row] = await database.sql()<[Omit<Counters, "service" | "postgres">]>`
      select
        (select xact_commit from pg_stat_database where datname = current_database())::float8
          as commits,
        pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as "logBytes",
        pg_database_size(current_database())::float8 as "tableBytes"`;
    return {
      ...row,
      service: await cpuSecondsOf(pid),
      postgres: await cpuSecondsOfTree(postgresPid),
    };
  } finally {
    await database.close();
  }
}

/** Returns the median milliseconds of a small write and its flush on the disk of the data. */
function measureFlush(folder: string): number {
  const file = openSync(join(folder, "flush"), "w");
  const times = Array.from({ length: 200 }, () => {
    const begunAt = performance.now();
    writeSync(file, Buffer.alloc(8_192));
    fdatasyncSync(file);
    return performance.now() - begunAt;
  });
  closeSync(file);
  return median(times);
}

function medians(measured: readonly Measured[]): Measured {
  const of = (name: keyof Measured) => median(measured.map((one) => one[name]));
  return {
    eventsPerSecond: of("eventsPerSecond"),
    generatorUs: of("generatorUs"),
    serviceUs: of("serviceUs"),
    postgresUs: of("postgresUs"),
    commits: of("commits"),
    logBytes: of("logBytes"),
    tableBytes: of("tableBytes"),
  };
}

/** Splits costs into those of requests, commits and events by two loads of different batches. */
function toCosts(single: Measured, batch: Measured, flushMs: number): Costs {
  const split = (one: number, other: number, shareOfOne: number, shareOfOther: number) => {
    const fixed = Math.max(0, (one - other) / (shareOfOne - shareOfOther));
    return { fixed: fixed / 1_000, each: Math.max(0, other - fixed * shareOfOther) / 1_000 };
  };
  const service = split(single.serviceUs, batch.serviceUs, 1, 1 / eventsPerBatch);
  const postgres = split(single.postgresUs, batch.postgresUs, single.commits, batch.commits);
  return {
    serviceOfRequest: service.fixed,
    serviceOfEvent: service.each,
    postgresOfCommit: postgres.fixed,
    postgresOfEvent: postgres.each,
    generatorOfRequest: single.generatorUs / 1_000,
    flush: flushMs,
  };
}

function printCosts(single: Measured, batch: Measured, flushMs: number): void {
  const row = (title: string, one: Measured) => [
    title,
    one.eventsPerSecond,
    one.generatorUs,
    one.serviceUs,
    one.postgresUs,
    1 / one.commits,
    one.logBytes,
    one.tableBytes,
  ];
  const head = ["2 KB events", "events/s", "generator µs", "service µs", "Postgres µs"];
  const flush = `a flush of the log takes ${flushMs.toFixed(2)} ms`;
  console.log(`\nCost of an event, ${connections} connections; ${flush}:\n`);
  console.log(
    formatTable(
      [...head, "events a commit", "log bytes", "table bytes"],
      [row("single", single), row(`batches of ${eventsPerBatch}`, batch)],
    ),
  );
}

async function printValidation(costs: Costs, single: Measured, batch: Measured): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const [title, eventsPerRequest, measured] of [
    ["single", 1, single],
    [`batches of ${eventsPerBatch}`, eventsPerBatch, batch],
  ] as const) {
    const traffic = { eventsPerRequest, arrival: { connections }, seconds: 20 };
    const simulated = await simulateIngest(costs, { shared: sharedProcessors }, traffic);
    const ratio = simulated.eventsPerSecond / measured.eventsPerSecond;
    rows.push([title, measured.eventsPerSecond, simulated.eventsPerSecond, ratio]);
  }
  console.log("\nThe simulation beside the measured point:\n");
  console.log(formatTable(["", "measured events/s", "simulated events/s", "ratio"], rows));
}

async function printSaturation(costs: Costs): Promise<void> {
  const machine = { servers: 1, postgres: 8 };
  const limit = 1_000 / (costs.serviceOfRequest + costs.serviceOfEvent);
  const rows: (string | number)[][] = [];
  for (const share of [0.25, 0.5, 0.75, 0.9, 1.1]) {
    const arrival = { perSecond: limit * share };
    const traffic = { eventsPerRequest: 1, arrival, seconds: 15 };
    const one = await simulateIngest(costs, machine, traffic);
    rows.push([
      arrival.perSecond,
      one.eventsPerSecond,
      one.p50Ms,
      one.p99Ms,
      one.eventsPerCommit,
      `${(one.refused * 100).toFixed(1)} %`,
    ]);
  }
  console.log("\nCommit queue: single events, one server, Postgres on 8 processors of its own:\n");
  const head = ["offered events/s", "stored events/s", "p50 ms", "p99 ms", "events a commit"];
  console.log(formatTable([...head, "answered 503"], rows));
}

/** Costs of docs/benchmarks.md, "Evaluate", and times of online/dispatcher and run-chunk. */
const evaluationCosts = { evaluationMs: 0.9, turnMs: 200, lookMs: 150 };

/** Measured: docs/benchmarks.md, "Evaluate", from commit to score with one evaluator. */
const measuredEvaluation = { eventsPerSecond: 100, sandboxes: 1, p50Ms: 219, p95Ms: 356 };

async function printEvaluation(): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const [eventsPerSecond, sandboxes] of [
    [100, 1],
    [900, 1],
    [1_200, 1],
    [1_200, 2],
    [4_000, 4],
    [5_000, 4],
  ] as const) {
    const evaluation = { ...evaluationCosts, eventsPerSecond, sandboxes, seconds: 30 };
    const { p50Ms, p95Ms } = await simulateEvaluation(evaluation);
    rows.push([`${eventsPerSecond} events/s`, sandboxes, p50Ms, p95Ms]);
  }
  console.log("\nEvaluators' queue, from commit to score:\n");
  console.log(formatTable(["", "sandboxes", "p50 ms", "p95 ms"], rows));
  const { p50Ms, p95Ms, ...load } = measuredEvaluation;
  const simulated = await simulateEvaluation({ ...evaluationCosts, ...load, seconds: 30 });
  console.log(
    `\nSimulated ÷ measured at ${load.eventsPerSecond} events/s: ` +
      `p50 ${(simulated.p50Ms / p50Ms).toFixed(2)}, p95 ${(simulated.p95Ms / p95Ms).toFixed(2)}`,
  );
}
