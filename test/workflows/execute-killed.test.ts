// An execution over many datapoints whose worker is killed twice: every datapoint is answered
// once, and a call that was repeated carries the key of the first. The worker is a process of its
// own, as in production.

import { expect, test, vi } from "vitest";
import type { EmbeddedTemporal } from "../../src/embedded/temporal.ts";
import { givenOwnTemporal } from "../support/given-temporal.ts";
import { givenStarted } from "../support/given.ts";
import { providersOf } from "../support/chats.ts";
import { givenAnExecutableRun } from "../support/executions.ts";
import { printFinding } from "../support/findings.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { type Process, runWorker } from "../support/process.ts";
import { startService } from "../support/service.ts";

/** DATAPOINTS raises it for longer runs. */
const datapointsTotal = Number(process.env["DATAPOINTS"] ?? 300);
const concurrency = 32;

const standIn = givenStarted(startOpenAiStandIn);
const service = givenStarted(() => startService({ providers: providersOf(standIn) }));
const own = givenOwnTemporal("executions");

const startWorker = (temporal: EmbeddedTemporal): Promise<Process> =>
  runWorker(service.database, temporal, { providers: providersOf(standIn) });

const counter = {
  name: "count",
  type: "PYTHON",
  criteria: "def evaluate(event):\n    return event['inputs']['n']\n",
  enabled_in_prod: true,
  filters: { filterArray: [{ field: "event_type", operator: "is", value: "session" }] },
};

test("every datapoint is paid for once though the worker dies", async () => {
  const temporal = own.server;
  const run = await givenAnExecutableRun(service, "slow-30", datapointsTotal);
  await run.project.make(counter);
  let worker = await startWorker(temporal);
  await run.start({ concurrency });
  const untilDone = (count: number) =>
    vi.waitUntil(async () => ((await run.get()).progress["done"] ?? 0) >= count, {
      timeout: 900_000,
      interval: 50,
    });

  for (const share of [0.15, 0.5]) {
    await untilDone(share * datapointsTotal);
    worker.kill("SIGKILL");
    await worker.ended();
    expect((await run.get()).state).toBe("running");
    worker = await startWorker(temporal);
  }
  await run.until("completed");

  const { progress } = await run.get();
  expect(progress).toMatchObject({ datapoints: datapointsTotal, done: datapointsTotal, left: 0 });
  const keys = standIn.requests.map(({ headers }) => headers["idempotency-key"]);
  expect(new Set(keys).size).toBe(datapointsTotal);
  // Only the calls under way at a kill are made again.
  expect(keys.length).toBeLessThanOrEqual(datapointsTotal + 2 * concurrency);
  const sql = service.database.sql();
  const { projectId } = run.project;
  const [counts] = await sql`
    select
      count(*) filter (where event_type = 'model')::integer as models,
      count(distinct metadata ->> 'datapoint_id') filter (where event_type = 'model')::integer
        as datapoints,
      count(*) filter (where event_type = 'session' and metrics -> 'count' = inputs -> 'n')::integer
        as scored
    from events
    where project_id = ${projectId}`;
  const all = datapointsTotal;
  expect(counts).toEqual({ models: all, datapoints: all, scored: all });
  printFinding({ what: "datapoints of a run executed", number: all, calls: keys.length });
  worker.kill("SIGTERM");
  expect((await worker.ended()).code).toBe(0);
}, 2_400_000);
