// A run over many datapoints and three evaluators, while sandboxes, worker and Temporal are
// killed: every event has each score once, and the run is complete. The worker is a process of its
// own, as in production.

import { readdir, readFile } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import { givenOwnTemporal } from "../support/given-temporal.ts";
import { givenStarted } from "../support/given.ts";
import { printFinding } from "../support/findings.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { type Process, runWorker } from "../support/process.ts";
import { startService } from "../support/service.ts";

/** DATAPOINTS raises it for longer runs. */
const eventsTotal = Number(process.env["DATAPOINTS"] ?? 1_000);
const eventsPerBatch = 500;

const service = givenStarted(startService);
const own = givenOwnTemporal("evaluators");

/** Each says something else of an event, so that no score passes for another. */
const evaluators = [
  { name: "same", criteria: "def evaluate(event):\n    return event['inputs']['n']\n" },
  {
    name: "twice",
    criteria: "def evaluate(event):\n    return event['inputs']['n'] * 2, 'twice'\n",
  },
  { name: "is even", criteria: "result = inputs['n'] % 2 == 0\n", return_type: "boolean" },
];

test("every event has each score once though sandboxes, worker and Temporal die", async () => {
  const temporal = own.server;
  const project = await givenAMetricProject(service);
  for (const evaluator of evaluators) await project.make({ ...evaluator, ...onAllChains });
  const { run_id: runId } = await project.ok("POST /v1/runs", { name: "many datapoints" });
  let worker = await runWorker(service.database, temporal);
  for (let sent = 0; sent < eventsTotal; sent += eventsPerBatch) {
    await send(project, String(runId), sent);
  }
  const all = eventsTotal * evaluators.length;

  await waitForScores(project, all / 30);
  expect(await killSandboxes(worker)).toBeGreaterThan(0);
  await waitForScores(project, all / 8);
  process.kill(temporal.pid, "SIGKILL");
  worker.kill("SIGKILL");
  await worker.ended();
  expect(await countScores(project)).toBeLessThan(all);
  worker = await runWorker(service.database, temporal);
  await waitForScores(project, (await countScores(project)) + all / 15);
  worker.kill("SIGKILL");
  await worker.ended();
  expect(await countScores(project)).toBeLessThan(all);
  worker = await runWorker(service.database, temporal);
  await waitForScores(project, all);

  expect(await statesOf(project)).toEqual([{ state: "scored", count: all }]);
  // Each commit adds to its chunk, so that one that counted twice would show.
  expect(await sumOfChunks(project)).toEqual({ scored: all, failed: 0, skipped: 0 });
  expect(await metricsOf(project)).toEqual(
    Array.from({ length: eventsTotal }, (_, n) => ({
      n,
      metrics: { same: n, twice: n * 2, twice_explanation: "twice", "is even": n % 2 === 0 },
    })),
  );

  const progress = await project.ok(`GET /v1/runs/${String(runId)}/progress`);
  expect(progress).toMatchObject({
    complete: true,
    events: 2 * eventsTotal,
    total: { scored: all },
  });
  const result = await project.ok(`GET /v1/runs/${String(runId)}/result`);
  const { metrics, datapoints } = result as { metrics: { details: unknown }; datapoints: unknown };
  expect(datapoints).toHaveLength(eventsTotal);
  expect(metrics.details).toMatchObject([
    { metric_name: "is even", aggregate: 0.5 },
    { metric_name: "same", aggregate: (eventsTotal - 1) / 2 },
    { metric_name: "twice", aggregate: eventsTotal - 1 },
  ]);

  printFinding({ what: "events scored by 3 evaluators", number: eventsTotal, results: all });
  worker.kill("SIGTERM");
  expect((await worker.ended()).code).toBe(0);
}, 2_400_000);

const onAllChains = {
  type: "PYTHON",
  enabled_in_prod: true,
  sampling_percentage: 100,
  filters: { filterArray: [{ field: "event_type", operator: "is", value: "chain" }] },
};

/** Sends an event, in a session of its own, for each datapoint. */
async function send(project: MetricProject, runId: string, from: number): Promise<void> {
  const events = Array.from({ length: eventsPerBatch }, (_, index) => ({
    event_id: createUuid(),
    session_id: createUuid(),
    event_type: "chain",
    event_name: "e",
    source: "test",
    start_time: 1_700_000_000_000,
    inputs: { n: from + index },
    metadata: { run_id: runId, datapoint_id: createUuid() },
  }));
  const { status, text } = await project.call("POST /events/batch", { events });
  expect(status, text).toBe(200);
}

/** Kills every process below the worker; returns how many there were. */
async function killSandboxes(worker: Process): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const parents = new Map<number, number>();
  for (const pid of pids) {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    parents.set(Number(pid), Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]));
  }
  const below: number[] = [worker.pid];
  for (const parent of below) {
    for (const [pid, its] of parents) if (its === parent) below.push(pid);
  }
  const children = below.slice(1);
  for (const pid of children) process.kill(pid, "SIGKILL");
  return children.length;
}

async function waitForScores(project: MetricProject, count: number): Promise<void> {
  const isThere = async () => (await countScores(project)) >= count;
  await vi.waitUntil(isThere, { timeout: 900_000, interval: 100 });
}

async function countScores({ projectId }: MetricProject): Promise<number> {
  const [row] = await service.database.sql()<{ count: number }[]>`
    select count(*)::integer as count
    from scores
    where project_id = ${projectId} and ended_at is not null`;
  return row?.count ?? -1;
}

async function statesOf({ projectId }: MetricProject) {
  const rows = await service.database.sql()<{ state: string; count: number }[]>`
    select state, count(*)::integer as count
    from scores
    where project_id = ${projectId}
    group by state`;
  return [...rows];
}

async function sumOfChunks({ projectId }: MetricProject) {
  const [row] = await service.database.sql()`
    select
      sum(scored)::integer as scored,
      sum(failed)::integer as failed,
      sum(skipped)::integer as skipped
    from evaluation_chunks
    where project_id = ${projectId}`;
  return row;
}

async function metricsOf({ projectId }: MetricProject) {
  const rows = await service.database.sql()`
    select (inputs->>'n')::integer as n, metrics
    from events
    where project_id = ${projectId} and event_type = 'chain'
    order by n`;
  return [...rows];
}
