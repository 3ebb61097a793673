// Part `ingest` of `bench evaluate`: the slowdown of ingestion by enabled evaluators, with the load
// of `bench ingest`, in turns.

import { setTimeout as delay } from "node:timers/promises";
import type { LoadResult } from "./generator.ts";
import { checkCommitted, checkScored, waitForQuiet, waitForRuns } from "./scored.ts";
import {
  type Cpu,
  cpuBetween,
  cpuHead,
  type EventRange,
  type MadeMetric,
  type Scoring,
} from "./scoring.ts";
import { formatTable, median } from "./table.ts";

export type IngestOptions = { readonly events: number; readonly rounds: number };

const ways = ["off", "0 %", "100 %"] as const;
type Way = (typeof ways)[number];

const fieldsOf: Readonly<Record<Way, Readonly<Record<string, unknown>>>> = {
  off: { enabled_in_prod: false },
  "0 %": { enabled_in_prod: true, sampling_percentage: 0 },
  "100 %": { enabled_in_prod: true, sampling_percentage: 100 },
};

/** Time within which every process learns of a change. */
const settleMs = 1_000;

type Turn = {
  readonly http: LoadResult & { readonly range: EventRange };
  readonly cpu: Cpu;
  /** Seconds from the first request until everything is scored. */
  readonly scoredSeconds: number;
};

type Round = Readonly<Record<Way, Turn>>;

export async function benchIngestBeside(
  scoring: Scoring,
  { events, rounds }: IngestOptions,
): Promise<void> {
  const metric = await scoring.make();
  const done: Round[] = [];
  let scored = 0;
  // The first round warms up code and caches and is not counted.
  for (let number = 0; number <= rounds; number += 1) {
    const turns: Partial<Record<Way, Turn>> = {};
    // The order rotates, so that no way always follows the scoring of another.
    for (const way of [...ways.slice(number % 3), ...ways.slice(0, number % 3)]) {
      await scoring.call(`PUT /v1/metrics/${metric.id}`, fieldsOf[way]);
      await delay(settleMs);
      const turn = await takeTurn(scoring, events, async ({ events: sent }) => {
        if (way === "100 %") await waitForRuns(scoring, [metric], (scored += sent));
      });
      await checkScored(scoring, metric, turn.http.range, way === "100 %");
      turns[way] = turn;
    }
    const round = turns as Round;
    if (number > 0) done.push(round);
    console.log(describeRound(number, round));
  }
  await checkCommitted(scoring, [metric], scored);
  await disable(scoring, metric);
  console.log(`\nPOST /events/batch, 100 × 2 KB, ${events} events a turn, one evaluator:`);
  console.log(
    formatTable(
      head,
      ways.map((way) => summarise(way, done)),
    ),
  );
  const online = done.map(({ "100 %": turn }) => turn.http.events / turn.scoredSeconds);
  console.log(`\nscored as they came, with the load: ${Math.round(median(online))} events/s`);
}

async function takeTurn(
  scoring: Scoring,
  events: number,
  wait: (range: EventRange) => Promise<void>,
): Promise<Turn> {
  const before = await scoring.cpu();
  const begunAt = performance.now();
  const http = await scoring.load("batch-2k", events);
  const cpu = cpuBetween(before, await scoring.cpu());
  await wait(http.range);
  const scoredSeconds = (performance.now() - begunAt) / 1_000;
  await waitForQuiet(scoring);
  return { http, cpu, scoredSeconds };
}

async function disable(scoring: Scoring, { id }: MadeMetric): Promise<void> {
  await scoring.call(`DELETE /v1/metrics/${id}`);
}

const head = [
  "evaluator",
  "events/s",
  "ratio",
  "p50 ms",
  "p99 ms",
  ...cpuHead.map((name) => `${name} µs`),
];

function summarise(way: Way, rounds: readonly Round[]): (string | number)[] {
  const each = (of: (turn: Turn) => number): number =>
    median(rounds.map((turns) => of(turns[way])));
  const micros = (of: (cpu: Cpu) => number): number =>
    each(({ cpu, http }) => (of(cpu) / http.events) * 1e6);
  return [
    way,
    each(speedOf),
    median(rounds.map((turns) => speedOf(turns[way]) / speedOf(turns.off))),
    each(({ http }) => http.p50Ms),
    each(({ http }) => http.p99Ms),
    micros(({ service }) => service),
    micros(({ postgres }) => postgres),
    micros(({ temporal }) => temporal),
    micros(({ sandboxes }) => sandboxes),
  ];
}

function speedOf({ http }: Turn): number {
  return http.events / http.seconds;
}

function describeRound(number: number, round: Round): string {
  const speeds = ways.map((way) => `${way}: ${Math.round(speedOf(round[way]))}`);
  return `ingest: ${number === 0 ? "warm-up" : `round ${number}`}: ${speeds.join(", ")} events/s`;
}
