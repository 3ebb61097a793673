// `npm run bench -- runs`: result and comparison of experiment runs with many datapoints, beside
// the time that Postgres takes for the events of one run; and how long an answer holds the event
// loop.

import { openDatabase } from "../../src/postgres/database.ts";
import type { ProjectId } from "../../src/base/ids.ts";
import { createFieldCatalogue } from "../../src/tracing/fields/fields.ts";
import { createRunEvents } from "../../src/tracing/run-events/run-events.ts";
import { createSelection } from "../../src/tracing/selection/selection.ts";
import { findFreePort, readTimes } from "./operator.ts";
import { type BenchService, startService } from "./service.ts";
import { createExplainer } from "./statements.ts";
import { describeMachine, formatTable, median, percentile } from "./table.ts";

export type RunsOptions = {
  readonly runs: number;
  readonly datapoints: number;
  readonly metrics: number;
  readonly nodeFlags: readonly string[];
};

/** Datapoints of a request; each is a session and a chain event. */
const datapointsOfBatch = 500;

export async function benchRuns(options: RunsOptions): Promise<void> {
  const { runs: count, datapoints, metrics, nodeFlags } = options;
  console.log(describeMachine());
  const operatorPort = await findFreePort();
  const service = await startService(nodeFlags, ["--operator-port", String(operatorPort)]);
  try {
    for (const [shift, runId] of ["older", "newer"].entries()) {
      await send(service, "/v1/runs", { run_id: runId, name: runId });
      await fillRun(service, runId, { datapoints, metrics, shift });
    }
    const database = openDatabase({ url: service.databaseUrl, statementTimeoutMs: 0 });
    await database.sql()`vacuum (analyze) events`;
    await database.close();
    const postgresMs = await explain(service, count);
    const rows: (string | number)[][] = [];
    for (const [title, path, perAnswer] of [
      ["result", "/v1/runs/newer/result", 1],
      ["comparison", "/v1/runs/newer/compare-with/older", 2],
    ] as const) {
      await measure(service, path, 2);
      const before = await readTimes(operatorPort);
      const times = await measure(service, path, count);
      const after = await readTimes(operatorPort);
      const processorMs = (after.processorMs - before.processorMs) / count;
      const p50 = median(times);
      const p95 = percentile(times, 0.95);
      const ofPostgres = [postgresMs * perAnswer, p50 / (postgresMs * perAnswer)];
      rows.push([title, p50, p95, ...ofPostgres, processorMs, after.lagMs]);
    }
    console.log(`\n${datapoints} datapoints, ${metrics} metrics, ${count} answers each`);
    const times = ["p50 ms", "p95 ms", "Postgres ms", "p50 ÷ Postgres"];
    const head = ["answer", ...times, "service's processor ms", "longest gap ms"];
    console.log(`${formatTable(head, rows)}\n`);
  } finally {
    await service.stop();
  }
}

type Filling = { readonly datapoints: number; readonly metrics: number; readonly shift: number };

async function fillRun(
  service: BenchService,
  runId: string,
  { datapoints, metrics, shift }: Filling,
): Promise<void> {
  for (let first = 0; first < datapoints; first += datapointsOfBatch) {
    const size = Math.min(datapointsOfBatch, datapoints - first);
    const events = Array.from({ length: size }, (_, index) => {
      const n = first + index;
      const session = `${runId}-${n}`;
      const common = {
        session_id: session,
        source: "evaluation",
        start_time: 1_700_000_000_000 + n,
        metadata: { run_id: runId, datapoint_id: `datapoint-${n}` },
        inputs: { question: `What is ${n}?` },
        outputs: { content: `It is ${n}.` },
      };
      const scores = Array.from({ length: metrics }, (_unused, metric) => [
        `metric ${metric}`,
        ((n * 7 + metric * 13 + shift * 5) % 100) / 100,
      ]);
      return [
        { ...common, event_id: session, event_type: "session", event_name: "run" },
        {
          ...common,
          event_id: `${session}-chain`,
          event_type: "chain",
          event_name: "answer",
          metrics: Object.fromEntries(scores) as object,
        },
      ];
    }).flat();
    await send(service, "/events/batch", { events });
  }
}

async function send({ credentials }: BenchService, path: string, body?: object): Promise<string> {
  const response = await fetch(credentials.url + path, {
    ...(body && { method: "POST", body: JSON.stringify(body) }),
    headers: {
      authorization: `Bearer ${credentials.project_api_key}`,
      "content-type": "application/json",
      "accept-encoding": "identity",
    },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 500)}`);
  return text;
}

/** Measures the answers of a path in milliseconds. */
async function measure(service: BenchService, path: string, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < count; round += 1) {
    const begunAt = performance.now();
    await send(service, path);
    times.push(performance.now() - begunAt);
  }
  return times;
}

/** Returns the time that Postgres takes for the statement that reads the events of a run. */
async function explain({ databaseUrl, credentials }: BenchService, count: number): Promise<number> {
  const explainer = createExplainer(databaseUrl);
  const projectId = credentials.project_id as ProjectId;
  const ms = await explainer.explain((database) => {
    const selection = createSelection({ database, fields: createFieldCatalogue({ database }) });
    const sessions = { runId: "newer", sessionIds: [] };
    return createRunEvents(database, selection).list(projectId, sessions, []);
  }, count);
  await explainer.close();
  return ms;
}
