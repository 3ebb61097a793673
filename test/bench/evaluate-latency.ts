// Part `latency` of `bench evaluate`: the time from the acknowledgement of an event to its scores,
// at a fixed rate. Uses times of the database and, for some events, reads over the API.

import { setTimeout as delay } from "node:timers/promises";
import { loads, newRun } from "./loads.ts";
import { checkCommitted, checkScored, waitForQuiet, waitForRuns } from "./scored.ts";
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
import { formatTable, percentile } from "./table.ts";
import { patch } from "./template.ts";

export type LatencyOptions = {
  readonly seconds: number;
  /** Events per second. */
  readonly rate: number;
};

const evaluatorCounts = [0, 1, 3];
const warmUpSeconds = 5;
const sessionEvents = 10;
/**
 * Interval at which one event is also read over the API, the interval of these reads, and their
 * time-out.
 */
const sampleEveryMs = 1_000;
const samplePollMs = 25;
const sampleTimeoutMs = 120_000;

export async function benchLatency(scoring: Scoring, options: LatencyOptions): Promise<void> {
  const { rate, seconds } = options;
  const runs: Run[] = [];
  for (const count of evaluatorCounts) {
    const made = Array.from({ length: count }, () => scoring.make({ enabled_in_prod: true }));
    const metrics = await Promise.all(made);
    await send(scoring, metrics, { rate, seconds: warmUpSeconds });
    runs.push(await runAtRate(scoring, metrics, options));
    for (const { id } of metrics) await scoring.call(`DELETE /v1/metrics/${id}`);
    await waitForQuiet(scoring);
  }
  const scored = runs.filter(({ count }) => count > 0);
  console.log(`\n${rate} events/s of 2 KB for ${seconds} s, ms from acknowledgement to score:`);
  console.log(formatTable(scoreHead, scored.map(scoreRow)));
  console.log("\none event a second read over the API until all its scores are there, ms:");
  console.log(formatTable(readHead, scored.map(readRow)));
  console.log("\nms to the acknowledgement, and shares of one core:");
  console.log(formatTable(ingestHead, runs.map(ingestRow)));
}

type Run = {
  readonly count: number;
  readonly seconds: number;
  readonly sent: Sent;
  readonly cpu: Cpu;
  readonly scores: readonly ScoreTimes[];
};

async function runAtRate(
  scoring: Scoring,
  metrics: readonly MadeMetric[],
  options: LatencyOptions,
): Promise<Run> {
  const before = await scoring.cpu();
  const sent = await send(scoring, metrics, options);
  const cpu = cpuBetween(before, await scoring.cpu());
  const { events } = sent.range;
  // Scores of the warm-up count too.
  const expected = (events + options.rate * warmUpSeconds) * metrics.length;
  await waitForRuns(scoring, metrics, expected);
  await waitForQuiet(scoring);
  for (const metric of metrics) await checkScored(scoring, metric, sent.range);
  await checkCommitted(scoring, metrics, expected);
  const scores = await readTimes(scoring, metrics, sent.range);
  console.log(`${nameOf(metrics.length)}: ${events} events, ${scores.length} scores, once each`);
  return { count: metrics.length, seconds: options.seconds, sent, cpu, scores };
}

/** Times in milliseconds of the wall clock, which all processes of the machine share. */
type Sent = {
  readonly range: EventRange;
  readonly acknowledged: ReadonlyMap<string, number>;
  readonly ackMs: readonly number[];
  /** Time at which all scores of an event were first read over the API. */
  readonly read: ReadonlyMap<string, number>;
};

type Event = { readonly session_id: string; readonly parent_id: string };

/** Sends single events on schedule, regardless of the answers. */
async function send(
  scoring: Scoring,
  metrics: readonly MadeMetric[],
  { rate, seconds }: LatencyOptions,
): Promise<Sent> {
  const range = scoring.take(Math.round(rate * seconds));
  const body = loads["single-2k"].body(range.first + 1, newRun());
  const acknowledged = new Map<string, number>();
  const read = new Map<string, number>();
  const ackMs: number[] = [];
  const running: Promise<void>[] = [];
  const faults: unknown[] = [];
  let sampledAt = 0;
  let session = "";

  async function sendOne(event: Event): Promise<void> {
    const begunAt = performance.now();
    const answer = await scoring.call("POST /events", { event });
    const now = Date.now();
    ackMs.push(performance.now() - begunAt);
    const eventId = String(answer["event_id"]);
    acknowledged.set(eventId, now);
    if (metrics.length === 0 || now - sampledAt < sampleEveryMs) return;
    sampledAt = now;
    await readUntilScored(scoring, metrics, eventId);
    read.set(eventId, Date.now());
  }

  const begunAt = performance.now();
  for (let number = 0; number < range.events; number += 1) {
    const waitMs = begunAt + (number * 1_000) / rate - performance.now();
    if (waitMs > 0) await delay(waitMs);
    patch(body, range.first + number);
    const { event } = JSON.parse(body.bytes.toString("latin1")) as { readonly event: Event };
    if (number % sessionEvents === 0) session = event.session_id;
    const one = sendOne({ ...event, session_id: session, parent_id: session });
    running.push(one.catch((error: unknown) => void faults.push(error)));
  }
  await Promise.all(running);
  if (faults.length > 0) throw faults[0];
  return { range, acknowledged, ackMs, read };
}

async function readUntilScored(
  scoring: Scoring,
  metrics: readonly MadeMetric[],
  eventId: string,
): Promise<void> {
  const deadline = Date.now() + sampleTimeoutMs;
  for (;;) {
    const answer = await scoring.call(`GET /v1/events/${eventId}`);
    const { event } = answer as { readonly event: { readonly metrics: object } };
    if (metrics.every(({ name }) => name in event.metrics)) return;
    if (Date.now() > deadline) {
      const whys = metrics.map(({ id }) =>
        scoring.call(`GET /v1/metrics/${id}/events/${eventId}/why`),
      );
      throw new Error(`event ${eventId} is not scored: ${JSON.stringify(await Promise.all(whys))}`);
    }
    await delay(samplePollMs);
  }
}

type ScoreTimes = {
  readonly event_id: string;
  readonly chunk_id: string;
  /** Milliseconds of the wall clock. */
  readonly chunked: number;
  readonly ended: number;
};

function readTimes(
  { service, database }: Scoring,
  metrics: readonly MadeMetric[],
  range: EventRange,
): Promise<readonly ScoreTimes[]> {
  const { fromUs, toUs } = microsecondsOf(range);
  return database.sql()<ScoreTimes[]>`
    select scores.event_id, scores.chunk_id,
      extract(epoch from chunks.created_at)::float8 * 1000 as chunked,
      extract(epoch from scores.ended_at)::float8 * 1000 as ended
    from events
    join scores using (project_id, event_id)
    join evaluation_chunks as chunks using (project_id, chunk_id)
    where events.project_id = ${service.credentials.project_id}
      and events.start_time_us >= ${fromUs} and events.start_time_us < ${toUs}
      and scores.evaluator_id = any(${metrics.map(({ id }) => id)})`;
}

const scoreHead = ["", "p50", "p95", "p99", "to its chunk p50", "p95", "events a chunk"];

function scoreRow({ count, sent, scores }: Run): (string | number)[] {
  const after = (of: (times: ScoreTimes) => number): number[] =>
    scores.map((times) => of(times) - (sent.acknowledged.get(times.event_id) ?? NaN));
  const ended = after((times) => times.ended);
  const chunked = after((times) => times.chunked);
  const chunks = new Set(scores.map(({ chunk_id: id }) => id)).size;
  return [
    nameOf(count),
    ...[0.5, 0.95, 0.99].map((share) => percentile(ended, share)),
    ...[0.5, 0.95].map((share) => percentile(chunked, share)),
    scores.length / chunks,
  ];
}

const readHead = ["", "events", "read p50", "p95", "in the database p50", "p95"];

function readRow({ count, sent, scores }: Run): (string | number)[] {
  const ackOf = (eventId: string): number => sent.acknowledged.get(eventId) ?? NaN;
  const read = [...sent.read].map(([eventId, at]) => at - ackOf(eventId));
  const ended = [...sent.read.keys()].map((eventId) => {
    const own = scores.filter((times) => times.event_id === eventId);
    return Math.max(...own.map((times) => times.ended)) - ackOf(eventId);
  });
  const both = [read, ended].flatMap((ms) => [percentile(ms, 0.5), percentile(ms, 0.95)]);
  return [nameOf(count), read.length, ...both];
}

const ingestHead = ["", "p50", "p99", ...cpuHead];

function ingestRow({ count, seconds, sent, cpu }: Run): (string | number)[] {
  const shares = listCpu(cpu).map((used) => used / seconds);
  const ack = [0.5, 0.99].map((share) => percentile(sent.ackMs, share));
  return [nameOf(count), ...ack, ...shares];
}

function nameOf(count: number): string {
  return count === 1 ? "1 evaluator" : `${count} evaluators`;
}
