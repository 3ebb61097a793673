// Part `backfill` of `bench evaluate`: end-to-end evaluations per second over stored events.

import { setTimeout as delay } from "node:timers/promises";
import { checkCommitted, checkScored } from "./scored.ts";
import {
  type Cpu,
  cpuBetween,
  cpuHead,
  type EventRange,
  type MadeMetric,
  listCpu,
  microsecondsOf,
  type Scoring,
} from "./scoring.ts";
import { formatTable, median } from "./table.ts";

export type BackfillOptions = { readonly events: number; readonly rounds: number };

const pollMs = 100;

type Round = { readonly seconds: number; readonly cpu: Cpu };

export async function benchBackfill(
  scoring: Scoring,
  { events, rounds }: BackfillOptions,
): Promise<void> {
  const { range } = await scoring.load("batch-2k", events);
  const done: Round[] = [];
  for (let number = 1; number <= rounds; number += 1) {
    const metric = await scoring.make();
    const before = await scoring.cpu();
    const begunAt = performance.now();
    await backfill(scoring, metric, range);
    const seconds = (performance.now() - begunAt) / 1_000;
    const round = { seconds, cpu: cpuBetween(before, await scoring.cpu()) };
    await checkScored(scoring, metric, range);
    await checkCommitted(scoring, [metric], range.events);
    await scoring.call(`DELETE /v1/metrics/${metric.id}`);
    done.push(round);
    const speed = Math.round(range.events / seconds);
    console.log(`backfill: round ${number}: ${speed} evaluations/s, once each`);
  }
  const each = (of: (round: Round) => number): number => median(done.map(of));
  const row = [
    `${range.events} events of 2 KB`,
    each(({ seconds }) => range.events / seconds),
    ...cpuHead.map((_, column) =>
      each(({ cpu }) => ((listCpu(cpu)[column] ?? NaN) / range.events) * 1e6),
    ),
  ];
  console.log(`\na backfill, from the request to its end; µs of processor an evaluation:`);
  const head = ["", "evaluations/s", ...cpuHead];
  console.log(formatTable(head, [row]));
}

type Answer = { readonly data: { readonly id: string; readonly state: string } };

async function backfill(scoring: Scoring, { id }: MadeMetric, range: EventRange): Promise<void> {
  const { fromUs, toUs } = microsecondsOf(range);
  // Both bounds are inclusive.
  const dateRange = { $gte: fromUs / 1_000, $lte: toUs / 1_000 - 1 };
  const path = `/v1/metrics/${id}/backfills`;
  let { data } = (await scoring.call(`POST ${path}`, { dateRange })) as Answer;
  while (data.state === "running") {
    await delay(pollMs);
    ({ data } = (await scoring.call(`GET ${path}/${data.id}`)) as Answer);
  }
  if (data.state !== "completed") throw new Error(`the backfill: ${JSON.stringify(data)}`);
}
