// `npm run bench -- compare --tree PATH`: this checkout beside another one, both running, in rounds
// that alternate. The machine's speed changes from minute to minute, so only the ratio of two
// rounds that follow each other says which checkout is faster.

import { join, resolve } from "node:path";
import { run, standInFlags, startStandIn } from "./gateway-processes.ts";
import { type LoadName, loadNames, loads, newRun } from "./loads.ts";
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
  readonly only: string | undefined;
};

/** Sends the work of one round to a service and returns its events and seconds. */
type Send = (service: BenchService, round: number) => Promise<Sent>;
type Sent = { readonly events: number; readonly seconds: number };

type Sender = {
  readonly name: string;
  /** Sends what a round needs, outside of the measured time. */
  readonly prepare?: Send;
  readonly send: Send;
};

/** Results of one round: events per second, and microseconds of processor time per event. */
type Round = { readonly speed: number; readonly serviceCpu: number; readonly postgresCpu: number };

const connections = 8;

type ChatLoad = {
  readonly name: string;
  readonly isStream: boolean;
  readonly concurrency: number;
  readonly requests: number;
};

const chatLoads: readonly ChatLoad[] = [
  { name: "chat-1", isStream: false, concurrency: 1, requests: 300 },
  { name: "chat-16", isStream: false, concurrency: 16, requests: 1_500 },
  { name: "chat-64", isStream: false, concurrency: 64, requests: 2_000 },
  { name: "chat-stream-1", isStream: true, concurrency: 1, requests: 300 },
  { name: "chat-stream-16", isStream: true, concurrency: 16, requests: 1_000 },
  { name: "chat-stream-64", isStream: true, concurrency: 64, requests: 1_200 },
];

/** Small writes, over so many connections. An update changes the events that `single-2k` stored. */
const smallLoads: readonly { readonly load: LoadName; readonly connections: number }[] = [
  { load: "update", connections },
  { load: "session-start", connections },
  { load: "single-2k", connections: 1 },
  { load: "update", connections: 1 },
  { load: "session-start", connections: 1 },
];

/** Loads that two checkouts are compared at; a chat is a model call with its stored event. */
export const compareLoads: readonly string[] = [
  ...loadNames,
  ...smallLoads.map(nameOf),
  ...chatLoads.map(({ name }) => name),
];

export async function benchCompare(options: CompareOptions): Promise<void> {
  console.log(`${describeMachine()}; other checkout: ${options.tree}`);
  const other = (await import(join(resolve(options.tree), "test/bench/service.ts"))) as {
    readonly startService: typeof startService;
  };
  const standIn = await startStandIn();
  const flags = standInFlags(standIn.url);
  const services = [await other.startService([], flags), await startService([], flags)] as const;
  try {
    const rows: (string | number)[][] = [];
    for (const sender of sendersOf(options.events)) {
      if (options.only !== undefined && options.only !== sender.name) continue;
      rows.push([sender.name, ...(await compareLoad(services, sender, options.rounds))]);
    }
    console.log(`\n${formatTable(head, rows)}`);
  } finally {
    for (const service of services) await service.stop();
    await standIn.stop();
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
  "service µs",
  "Postgres µs",
];

function nameOf({ load, connections: count }: (typeof smallLoads)[number]): string {
  return count === connections ? load : `${load}-${count}`;
}

function sendersOf(events: number): Sender[] {
  const batches = loadNames.map((load): Sender => {
    const requests = Math.ceil(events / loads[load].events);
    return { name: load, send: senderOf({ load, requests, connections }) };
  });
  const small = smallLoads.map(({ load, connections: count }, index): Sender => {
    const run = newRun();
    const requests = count === connections ? events : Math.ceil(events / 4);
    const name = nameOf({ load, connections: count });
    // Sessions of their own: the session of an event exists once the event is stored.
    const job = { requests, run: load === "update" ? run : `${run.slice(0, -1)}${index}` };
    const prepare = senderOf({ ...job, load: "single-2k", connections });
    const send = senderOf({ ...job, load, connections: count });
    return { name, send, ...(load === "update" && { prepare }) };
  });
  const chats = chatLoads.map(({ name, isStream, concurrency, requests }): Sender => {
    const job = { model: "bench/m", isStream, pace: { concurrency }, requests };
    const send: Send = async ({ credentials: { url, project_api_key: key } }) => {
      const { seconds } = await run({ ...job, url: `${url}/v1`, key });
      return { events: requests, seconds };
    };
    return { name, send };
  });
  return [...batches, ...small, ...chats];
}

type SentLoad = {
  readonly load: LoadName;
  readonly requests: number;
  readonly connections: number;
  readonly run?: string;
};

function senderOf(job: SentLoad): Send {
  return ({ credentials: { url, project_api_key: key } }, round) => {
    const firstEvent = round * job.requests * loads[job.load].events;
    return runLoad({ ...job, firstEvent, url, key });
  };
}

async function compareLoad(
  services: readonly [BenchService, BenchService],
  { prepare, send }: Sender,
  rounds: number,
): Promise<readonly number[]> {
  const measured: [Round, Round][] = [];
  // The first round warms up code and caches and is not counted.
  for (let number = 0; number <= rounds; number += 1) {
    const pair: Round[] = [];
    // Each goes first in every other round.
    for (const index of number % 2 === 0 ? [0, 1] : [1, 0]) {
      const service = services[index] as BenchService;
      await prepare?.(service, number);
      pair[index] = await runRound(service, send, number);
    }
    const [before, after] = pair;
    if (number > 0 && before && after) measured.push([before, after]);
  }
  const compared = (["speed", "serviceCpu", "postgresCpu"] as const).flatMap((name) => {
    const ratios = measured.map(([before, after]) => after[name] / before[name]);
    return [median(ratios), errorOf(ratios)];
  });
  const own = (["serviceCpu", "postgresCpu"] as const).map((name) =>
    median(measured.map(([, after]) => after[name])),
  );
  return [...compared, ...own];
}

async function runRound(service: BenchService, send: Send, number: number): Promise<Round> {
  const own = await threadSecondsOf(service.pid);
  const postgres = await cpuSecondsOfTree(service.postgresPid);
  const { events, seconds } = await send(service, number);
  const perEvent = (used: number): number => (used * 1e6) / events;
  return {
    speed: events / seconds,
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
