// `npm run bench -- compare --tree PATH`: this checkout beside another one, both running, in rounds
// that alternate. The machine's speed changes from minute to minute, so only the ratio of two
// rounds that follow each other says which checkout is faster.

import { join, resolve } from "node:path";
import type { LoadResult } from "./generator.ts";
import { type LoadName, loadNames, loads } from "./loads.ts";
import { cpuSecondsOfTree, threadSecondsOf } from "./processes.ts";
import { runLoad } from "./run-load.ts";
import { type BenchService, startService } from "./service.ts";
import { describeMachine, formatTable, median } from "./table.ts";

export type CompareOptions = {
  /** Folder of the other checkout, with its packages installed. */
  readonly tree: string;
  readonly rounds: number;
  /** Events of a round. */
  readonly events: number;
  readonly only: LoadName | undefined;
};

/** What one round measured: events a second, and microseconds of processor an event. */
type Round = { readonly speed: number; readonly serviceCpu: number; readonly postgresCpu: number };

const connections = 8;

export async function benchCompare(options: CompareOptions): Promise<void> {
  console.log(`${describeMachine()}; other checkout: ${options.tree}`);
  const other = (await import(join(resolve(options.tree), "test/bench/service.ts"))) as {
    readonly startService: () => Promise<BenchService>;
  };
  const services = [await other.startService(), await startService()] as const;
  try {
    const rows: (string | number)[][] = [];
    for (const load of loadNames) {
      if (options.only !== undefined && options.only !== load) continue;
      rows.push([load, ...(await compareLoad(services, load, options))]);
    }
    console.log(`\n${formatTable(head, rows)}`);
  } finally {
    for (const service of services) await service.stop();
  }
}

const head = [
  "load, this ÷ other",
  "events/s",
  "± error",
  "service CPU",
  "± error",
  "Postgres CPU",
  "± error",
];

async function compareLoad(
  services: readonly [BenchService, BenchService],
  load: LoadName,
  { rounds, events }: CompareOptions,
): Promise<readonly number[]> {
  const requests = Math.ceil(events / loads[load].events);
  const measured: [Round, Round][] = [];
  // The first round warms up code and caches and is not counted.
  for (let number = 0; number <= rounds; number += 1) {
    const firstEvent = number * requests * loads[load].events;
    const pair: Round[] = [];
    // Each goes first in every other round.
    for (const index of number % 2 === 0 ? [0, 1] : [1, 0]) {
      const service = services[index] as BenchService;
      pair[index] = await runRound(service, { load, requests, firstEvent });
    }
    const [before, after] = pair;
    if (number > 0 && before && after) measured.push([before, after]);
  }
  return (["speed", "serviceCpu", "postgresCpu"] as const).flatMap((name) => {
    const ratios = measured.map(([before, after]) => after[name] / before[name]);
    return [median(ratios), errorOf(ratios)];
  });
}

type Work = { readonly load: LoadName; readonly requests: number; readonly firstEvent: number };

async function runRound(service: BenchService, work: Work): Promise<Round> {
  const { url, project_api_key: key } = service.credentials;
  const own = await threadSecondsOf(service.pid);
  const postgres = await cpuSecondsOfTree(service.postgresPid);
  const result: LoadResult = await runLoad({ ...work, url, key, connections });
  const perEvent = (seconds: number): number => (seconds * 1e6) / result.events;
  return {
    speed: result.events / result.seconds,
    serviceCpu: perEvent((await threadSecondsOf(service.pid)) - own),
    postgresCpu: perEvent((await cpuSecondsOfTree(service.postgresPid)) - postgres),
  };
}

/** Returns the standard error of the mean. */
function errorOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1) / values.length);
}
