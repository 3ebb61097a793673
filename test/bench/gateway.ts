// `npm run bench -- gateway`: the time that the LLM proxy adds to a chat completion, in turn direct
// to a stand-in, through Portkey's gateway and through the service, with every generation stored.

import { openDatabase } from "../../src/postgres/database.ts";
import type { GatewayJob, GatewayResult } from "./gateway-generator.ts";
import { run, standInFlags, startStandIn } from "./gateway-processes.ts";
import { cpuSecondsOf, cpuSecondsOfTree, memoryMb, peakMemoryMb } from "./processes.ts";
import { type BenchService, startService } from "./service.ts";
import { type Portkey, portkeyHeaders, portkeyVersion, startPortkey } from "./portkey.ts";
import { describeMachine, formatTable, median, printAim } from "./table.ts";

export const gatewayParts = ["rate", "turns", "slow", "memory"] as const;
export type GatewayPart = (typeof gatewayParts)[number];

export type GatewayOptions = {
  readonly rounds: number;
  /** Requests of the part `memory`. */
  readonly requests: number;
  /** Duration of a round of the part `rate`. */
  readonly seconds: number;
  readonly only: GatewayPart | undefined;
  readonly nodeFlags: readonly string[];
};

type Load = Pick<GatewayJob, "model" | "isStream" | "pace" | "requests">;

/** Results of the same load each way, with processor seconds of each way. */
type Round = {
  readonly direct: GatewayResult;
  readonly portkey: GatewayResult;
  readonly portkeyCpu: number;
  readonly through: GatewayResult;
  readonly serviceCpu: number;
  readonly postgresCpu: number;
};

type Bench = {
  readonly service: BenchService;
  readonly portkey: Portkey;
  readonly options: GatewayOptions;
  /** Sends a load to the stand-in. */
  sendDirect(load: Load): Promise<GatewayResult>;
  /** Sends a load through Portkey's gateway, which records nothing. */
  sendPortkey(load: Load): Promise<GatewayResult>;
  /** Sends a load through the service and counts its requests. */
  sendThrough(load: Load): Promise<GatewayResult>;
};

export async function benchGateway(options: GatewayOptions): Promise<void> {
  console.log(describeMachine());
  const standIn = await startStandIn();
  const service = await startService(options.nodeFlags, standInFlags(standIn.url));
  const portkey = await startPortkey();
  console.log(`peer: @portkey-ai/gateway ${portkeyVersion}, which records nothing`);
  let sent = 0;
  const bench: Bench = {
    service,
    portkey,
    options,
    sendDirect: (load) => run({ ...load, url: standIn.url, key: "none" }),
    sendPortkey: (load) =>
      run({ ...load, url: portkey.url, key: "none", headers: portkeyHeaders(standIn.url) }),
    sendThrough(load) {
      const { url, project_api_key: key } = service.credentials;
      sent += load.requests;
      return run({ ...load, model: `bench/${load.model}`, url: `${url}/v1`, key });
    },
  };
  const parts = { rate: benchRate, turns: benchTurns, slow: benchSlow, memory: benchMemory };
  try {
    for (const part of gatewayParts) {
      if (options.only === undefined || options.only === part) await parts[part](bench);
    }
    await checkStored(service, sent);
    console.log(`\npeak resident memory of the service: ${await peakMemoryMb(service.pid)} MB`);
  } finally {
    await service.stop();
    await portkey.stop();
    await standIn.stop();
  }
}

const rate = 200;

/** Measures the added latency at a fixed rate far below the service's capacity. */
async function benchRate(bench: Bench): Promise<void> {
  const { seconds } = bench.options;
  const rows = [];
  for (const isStream of [false, true]) {
    const load = { model: "m", isStream, pace: { rate }, requests: rate * seconds };
    const rounds = await runRounds(bench, load);
    rows.push([nameOf(isStream), ...latencies(rounds), ...processor(rounds, load)]);
  }
  console.log(`\n${rate} requests/s, whatever is answered, ${seconds} s a round:`);
  console.log(formatTable(["", ...latencyHead, ...processorHead], rows));
}

/** Measures added latency and throughput with always busy connections. */
async function benchTurns(bench: Bench): Promise<void> {
  const rows = [];
  const aims: (readonly [figure: string, isMet: boolean])[] = [];
  for (const isStream of [false, true]) {
    for (const [concurrency, requests] of [
      [1, 1_000],
      [16, 6_000],
      [64, 8_000],
    ] as const) {
      const load = { model: "m", isStream, pace: { concurrency }, requests };
      const rounds = await runRounds(bench, load);
      const speed = (of: (round: Round) => GatewayResult): number =>
        median(rounds.map((round) => requests / of(round).seconds));
      const figures = latencies(rounds);
      const title = `${nameOf(isStream)}, ${concurrency} at a time`;
      if (concurrency === 1) {
        const [, , portkeyP50 = 0, , , ownP50 = Infinity] = figures;
        aims.push([`${title}: p50 adds at most as much as Portkey`, ownP50 <= portkeyP50]);
      }
      rows.push([
        title,
        ...figures,
        speed(({ direct }) => direct),
        speed(({ portkey }) => portkey),
        speed(({ through }) => through),
        ...processor(rounds, load),
      ]);
    }
  }
  console.log("\nEach connection sends its next request when the last is answered:");
  const head = ["", ...latencyHead, "requests/s direct", "Portkey", "requests/s", ...processorHead];
  console.log(`${formatTable(head, rows)}\n`);
  for (const aim of aims) printAim(...aim);
}

/** Measures the added latency with a provider as slow as real ones. */
async function benchSlow(bench: Bench): Promise<void> {
  const plans = [
    ["100 ms to the answer, 1 at a time", "slow-100", false, 1, 100],
    ["100 ms to the answer, 16 at a time", "slow-100", false, 16, 1_600],
    ["a stream with 10 ms before each part, 16 at a time", "trickle-10", true, 16, 160],
  ] as const;
  const rows = [];
  for (const [name, model, isStream, concurrency, requests] of plans) {
    const rounds = await runRounds(bench, { model, isStream, pace: { concurrency }, requests });
    rows.push([name, ...latencies(rounds)]);
  }
  console.log("\nA provider that takes its time:");
  console.log(formatTable(["", ...latencyHead], rows));
}

const samples = 10;

/** Sends many requests, half of them streams: memory must not grow with their number. */
async function benchMemory(bench: Bench): Promise<void> {
  const { service, options } = bench;
  const requests = Math.ceil(options.requests / samples / 2);
  const pace = { concurrency: 16 };
  const rows: (string | number)[][] = [];
  for (let sample = 1; sample <= samples; sample += 1) {
    for (const isStream of [false, true]) {
      await bench.sendThrough({ model: "m", isStream, pace, requests });
    }
    rows.push([String(2 * sample * requests), await memoryMb(service.pid)]);
  }
  console.log("\nResident memory of the service after so many requests, 16 at a time:");
  console.log(formatTable(["requests", "MB"], rows));
}

/** Runs the three ways in turn; the first round warms up code and caches and is not counted. */
async function runRounds(bench: Bench, load: Load): Promise<readonly Round[]> {
  const { service, portkey, options } = bench;
  const rounds: Round[] = [];
  for (let number = 0; number <= options.rounds; number += 1) {
    const direct = await bench.sendDirect(load);
    const portkeyBefore = await cpuSecondsOf(portkey.pid);
    const peer = await bench.sendPortkey(load);
    const portkeyCpu = (await cpuSecondsOf(portkey.pid)) - portkeyBefore;
    const [serviceBefore, postgresBefore] = await cpuOf(service);
    const through = await bench.sendThrough(load);
    const [serviceAfter, postgresAfter] = await cpuOf(service);
    const serviceCpu = serviceAfter - serviceBefore;
    const postgresCpu = postgresAfter - postgresBefore;
    if (number > 0) {
      rounds.push({ direct, portkey: peer, portkeyCpu, through, serviceCpu, postgresCpu });
    }
  }
  return rounds;
}

function cpuOf(service: BenchService): Promise<[number, number]> {
  return Promise.all([cpuSecondsOf(service.pid), cpuSecondsOfTree(service.postgresPid)]);
}

function nameOf(isStream: boolean): string {
  return isStream ? "stream" : "whole";
}

const latencyHead = [
  "direct p50 ms",
  "direct p99 ms",
  "Portkey added p50",
  "p99",
  "to first",
  "added p50",
  "added p99",
  "added to first",
];

/** Returns latencies. Differences are taken within a round, so that noise affects every way. */
function latencies(rounds: readonly Round[]): number[] {
  const added = (way: "portkey" | "through"): number[] =>
    (["lastP50Ms", "lastP99Ms", "firstP50Ms"] as const).map((figure) =>
      median(rounds.map((round) => round[way][figure] - round.direct[figure])),
    );
  return [
    median(rounds.map(({ direct }) => direct.lastP50Ms)),
    median(rounds.map(({ direct }) => direct.lastP99Ms)),
    ...added("portkey"),
    ...added("through"),
  ];
}

const processorHead = ["Portkey µs", "service µs", "Postgres µs"];

/** Returns the microseconds of processor time per request. */
function processor(rounds: readonly Round[], { requests }: Load): number[] {
  const each = (of: (round: Round) => number): number =>
    median(rounds.map((round) => (of(round) / requests) * 1e6));
  return [
    each(({ portkeyCpu }) => portkeyCpu),
    each(({ serviceCpu }) => serviceCpu),
    each(({ postgresCpu }) => postgresCpu),
  ];
}

/** Fails unless every request through the service is stored as an event. */
async function checkStored({ databaseUrl }: BenchService, sent: number): Promise<void> {
  const database = openDatabase({ url: databaseUrl, connectionsMax: 1 });
  try {
    const [row] = await database.sql()<{ readonly count: number }[]>`
      select count(*)::int as count from events
      where event_type = 'model' and source = 'proxy' and error is null`;
    if (row?.count !== sent) throw new Error(`${sent} requests, ${row?.count ?? 0} events`);
    console.log(`\nall ${sent} requests through the service are stored as events`);
  } finally {
    await database.close();
  }
}
