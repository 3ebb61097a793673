// `npm run bench -- evaluate`: evaluators in the whole service with its worker, Temporal, Postgres
// and sandboxes: time to a score, scores per second, slowdown of ingestion. Fails if an event was
// not scored, or scored twice.

import { benchBackfill } from "./evaluate-backfill.ts";
import { benchIngestBeside } from "./evaluate-ingest.ts";
import { benchLatency } from "./evaluate-latency.ts";
import { benchSandbox } from "./evaluate-sandbox.ts";
import { peakMemoryMb } from "./processes.ts";
import { type Scoring, startScoring } from "./scoring.ts";
import { describeMachine } from "./table.ts";

export const evaluateParts = ["sandbox", "latency", "backfill", "ingest"] as const;
export type EvaluatePart = (typeof evaluateParts)[number];

export type EvaluateOptions = {
  readonly rounds: number;
  /** Number of starts of a sandbox, for each kind. */
  readonly runs: number;
  /** Evaluations per round in the sandbox and per backfill, and events per turn of ingestion. */
  readonly events: number;
  /** Seconds of the part at a fixed rate, for each number of evaluators. */
  readonly seconds: number;
  readonly only: EvaluatePart | undefined;
  readonly nodeFlags: readonly string[];
};

const rate = 100;

export async function benchEvaluate(options: EvaluateOptions): Promise<void> {
  console.log(describeMachine());
  const isAsked = (part: EvaluatePart): boolean => (options.only ?? part) === part;
  if (isAsked("sandbox")) await benchSandbox(options);
  if (!evaluateParts.some((part) => part !== "sandbox" && isAsked(part))) return;
  const scoring = await startScoring(options.nodeFlags);
  try {
    await warmUp(scoring);
    if (isAsked("latency")) await benchLatency(scoring, { ...options, rate });
    if (isAsked("backfill")) await benchBackfill(scoring, options);
    if (isAsked("ingest")) await benchIngestBeside(scoring, options);
    const peak = await peakMemoryMb(scoring.service.pid);
    console.log(`\npeak resident memory of the service with its worker: ${peak} MB`);
  } finally {
    await scoring.stop();
  }
}

/** Runs one evaluation, because the first use of the sandbox makes its snapshot. */
async function warmUp(scoring: Scoring): Promise<void> {
  const { id } = await scoring.make();
  const event = { event_type: "model", event_name: "warm-up", outputs: { content: "words" } };
  await scoring.call("POST /v1/metrics/run", { metric_id: id, event });
  await scoring.call(`DELETE /v1/metrics/${id}`);
}
