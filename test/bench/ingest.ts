// `npm run bench -- ingest`: acknowledged events per second over HTTP, beside the same rows by
// COPY. Rounds of both alternate, so that noise of the machine affects both.

import { createCopyBaseline, type CopyBaseline } from "./copy-baseline.ts";
import type { LoadResult } from "./generator.ts";
import { sendLargestBodies } from "./largest-bodies.ts";
import { type LoadName, loads } from "./loads.ts";
import { cpuSecondsOf, cpuSecondsOfTree, memoryOfTreeMb, peakMemoryMb } from "./processes.ts";
import { runLoad } from "./run-load.ts";
import { type BenchService, startService } from "./service.ts";
import { describeMachine, formatTable, median, printAim } from "./table.ts";
import { firstStartMs } from "./template.ts";

export type IngestOptions = {
  readonly rounds: number;
  /** Events per round of the first load; other loads have a share of it. */
  readonly events: number;
  readonly only: LoadName | undefined;
  readonly nodeFlags: readonly string[];
};

type Plan = {
  readonly load: LoadName;
  readonly title: string;
  readonly share: number;
  /** Greatest microseconds of the service's processor time per event that are aimed at. */
  readonly aimUs?: number;
};

/** Least share of COPY's speed that loads with an aim are to reach. */
const aimRatio = 0.4;

const plans: readonly Plan[] = [
  { load: "batch-2k", title: "POST /events/batch, 100 × 2 KB", share: 1, aimUs: 35 },
  { load: "batch-20k", title: "POST /events/batch, 100 × 20 KB", share: 0.1 },
  { load: "otlp-2k", title: "POST /v1/traces, 100 spans × 2 KB", share: 1, aimUs: 55 },
  { load: "single-2k", title: "POST /events, 1 × 2 KB", share: 0.15 },
];

const connections = 8;

type Round = {
  readonly http: LoadResult;
  readonly copy: { readonly rows: number; readonly seconds: number };
  /** Processor seconds during the service's part of the round, and Postgres' during the copy. */
  readonly serviceCpu: number;
  readonly postgresCpu: number;
  readonly copyCpu: number;
};

export async function benchIngest(options: IngestOptions): Promise<void> {
  console.log(describeMachine());
  const service = await startService(options.nodeFlags);
  const baseline = await createCopyBaseline(service.databaseUrl, service.folder);
  try {
    const rows: (string | number)[][] = [];
    const cpuRows: (string | number)[][] = [];
    let firstEvent = 0;
    const aims: (readonly [figure: string, isMet: boolean])[] = [];
    for (const { load, title, share, aimUs } of plans) {
      if (options.only !== undefined && options.only !== load) continue;
      const requests = Math.ceil((options.events * share) / loads[load].events);
      const rounds: Round[] = [];
      // The first round warms up code and caches and is not counted.
      for (let number = 0; number <= options.rounds; number += 1) {
        const round = await runRound(service, baseline, load, requests, firstEvent);
        firstEvent += requests * loads[load].events;
        if (number > 0) rounds.push(round);
        console.log(describeRound(title, number, round));
      }
      const speed = summarise(rounds);
      const cpu = summariseCpu(rounds);
      rows.push([title, ...speed]);
      cpuRows.push([title, ...cpu]);
      if (aimUs === undefined) continue;
      const [, , ratio = 0] = speed;
      const [, serviceUs = Infinity] = cpu;
      aims.push([`${title}: ${aimRatio} of COPY's speed`, ratio >= aimRatio]);
      aims.push([`${title}: ${aimUs} µs of the service's processor time`, serviceUs <= aimUs]);
    }
    const peak = await peakMemoryMb(service.pid);
    const postgresMemory = await memoryOfTreeMb(service.postgresPid);
    console.log(`\n${formatTable(speedHead, rows)}\n\n${formatTable(cpuHead, cpuRows)}\n`);
    for (const aim of aims) printAim(...aim);
    console.log(`peak resident memory of the service: ${peak} MB; Postgres: ${postgresMemory} MB`);
    if (options.only === undefined) {
      console.log(await sendLargestBodies(service, connections, firstEvent));
    }
  } finally {
    await baseline.close();
    await service.stop();
  }
}

async function runRound(
  service: BenchService,
  baseline: CopyBaseline,
  load: LoadName,
  requests: number,
  firstEvent: number,
): Promise<Round> {
  const [serviceBefore, postgresBefore] = await cpuOf(service);
  const http = await runLoad(jobOf(service, load, requests, firstEvent));
  const [serviceAfter, postgresAfter] = await cpuOf(service);
  const fromUs = (firstStartMs + firstEvent) * 1_000;
  const copyBefore = await cpuSecondsOfTree(service.postgresPid);
  const copy = await baseline.run({ fromUs, toUs: fromUs + http.events * 1_000 });
  return {
    http,
    copy,
    serviceCpu: serviceAfter - serviceBefore,
    postgresCpu: postgresAfter - postgresBefore,
    copyCpu: (await cpuSecondsOfTree(service.postgresPid)) - copyBefore,
  };
}

function jobOf(service: BenchService, load: LoadName, requests: number, firstEvent: number) {
  const { url, project_api_key: key } = service.credentials;
  return { load, url, key, connections, requests, firstEvent };
}

function cpuOf(service: BenchService): Promise<[number, number]> {
  return Promise.all([cpuSecondsOf(service.pid), cpuSecondsOfTree(service.postgresPid)]);
}

const speedHead = ["load", "events/s", "COPY rows/s", "ratio", "p50 ms", "p99 ms"];

function summarise(rounds: readonly Round[]): number[] {
  return [
    median(rounds.map(speedOf)),
    median(rounds.map(copySpeedOf)),
    median(rounds.map((round) => speedOf(round) / copySpeedOf(round))),
    median(rounds.map(({ http }) => http.p50Ms)),
    median(rounds.map(({ http }) => http.p99Ms)),
  ];
}

const cpuHead = ["µs of processor an event", "generator", "service", "Postgres", "COPY"];

function summariseCpu(rounds: readonly Round[]): number[] {
  const share = (of: (round: Round) => number) =>
    median(rounds.map((round) => (of(round) / round.http.events) * 1e6));
  return [
    share(({ http }) => http.cpuSeconds),
    share(({ serviceCpu }) => serviceCpu),
    share(({ postgresCpu }) => postgresCpu),
    share(({ copyCpu }) => copyCpu),
  ];
}

function speedOf({ http }: Round): number {
  return http.events / http.seconds;
}

function copySpeedOf({ copy }: Round): number {
  return copy.rows / copy.seconds;
}

function describeRound(title: string, number: number, round: Round): string {
  const speeds = [speedOf(round), copySpeedOf(round)].map(Math.round);
  const ratio = (speedOf(round) / copySpeedOf(round)).toFixed(2);
  const name = number === 0 ? "warm-up" : `round ${number}`;
  return `${title}: ${name}: ${speeds.join(" / ")} = ${ratio}`;
}
