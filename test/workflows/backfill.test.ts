// Backfills through the API, by workflows on a real Temporal and code in the sandbox.

import { expect, test, vi } from "vitest";
import { givenStarted } from "../support/given.ts";
import { anEvent, insertEvents } from "../support/events.ts";
import { givenWorker } from "../support/given-worker.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { patience } from "../support/patience.ts";
import { startService } from "../support/service.ts";
import { recordHistory } from "./histories.ts";

const service = givenStarted(startService);

const workflows = givenWorker("backfills", () => service.database);

const slowCode = `
import time
def evaluate(event):
    time.sleep(0.1)
    return event["inputs"]["n"]
`;

type Backfill = {
  readonly id: string;
  readonly state: string;
  readonly error: string | null;
  readonly workflow_id: string;
  readonly progress: Readonly<Record<string, number>>;
};

/** A project with an evaluator and events that it has not run on, and calls for its backfills. */
async function given(criteria: string, events: number) {
  const project = await givenAMetricProject(service);
  const stored = Array.from({ length: events }, (_, n) =>
    anEvent({ inputs: { n }, start_time: 1_700_000_000_000 + n }),
  );
  await insertEvents(service.database, project.projectId, stored);
  const id = await project.make({ name: "n", type: "PYTHON", criteria });
  const path = `/v1/metrics/${id}/backfills`;

  async function call(route: string, body?: object): Promise<Backfill> {
    const { status, text, json } = await project.call(route, body);
    expect(status, text).toBe(200);
    return json["data"] as Backfill;
  }

  const backfill = await call(`POST ${path}`, {});
  const get = () => call(`GET ${path}/${backfill.id}`);
  return {
    project,
    backfill,
    get,
    change: (action: string) => call(`POST ${path}/${backfill.id}/${action}`, {}),
    until: (state: string) =>
      vi.waitUntil(async () => (await get()).state === state, { ...patience, interval: 200 }),
    untilScored: (count: number) =>
      vi.waitUntil(async () => (await countScored(project)) >= count, {
        ...patience,
        interval: 200,
      }),
  };
}

async function countScored({ projectId }: MetricProject): Promise<number> {
  const [row] = await service.database.sql()<{ count: number }[]>`
    select count(*)::integer as count
    from events
    where project_id = ${projectId} and metrics->'n' = inputs->'n'`;
  return row?.count ?? -1;
}

/** Runs that have ended, of which a doubled one would be one more, and runs that have not. */
async function runsOf({ projectId }: MetricProject) {
  const [chunks] = await service.database.sql()<{ scored: number; open: number }[]>`
    select
      sum(scored)::integer as scored,
      count(*) filter (where ended_at is null)::integer as open
    from evaluation_chunks
    where project_id = ${projectId}`;
  const [runs] = await service.database.sql()<{ left: number }[]>`
    select count(*)::integer as left
    from scores
    where project_id = ${projectId} and ended_at is null`;
  return { ...chunks, ...runs };
}

test("a backfill scores what was stored before, in chunks that an operator can watch", async () => {
  const criteria = "def evaluate(event):\n    return event['inputs']['n']\n";
  const { project, backfill, get, until } = await given(criteria, 2_500);

  await until("completed");

  const counts = { matched: 2_500, done: 2_500, scored: 2_500, failed: 0, skipped: 0 };
  expect(await get()).toMatchObject({ state: "completed", error: null, progress: counts });
  expect(await countScored(project)).toBe(2_500);
  expect(await runsOf(project)).toEqual({ scored: 2_500, open: 0, left: 0 });
  const { workflow_id: workflowId } = backfill;
  expect(workflowId).toBe(`backfill-n-${backfill.id}-1`);
  const result: unknown = await workflows.operator.client.workflow.getHandle(workflowId).result();
  expect(result).toEqual({ state: "completed", left: 0, ...counts });
  expect(await workflows.operator.progressOf(workflowId)).toEqual(result);
  await recordHistory(workflows.operator.client, workflowId, "backfill");
}, 300_000);

test("a paused backfill stops in the middle of a chunk, and goes on where it was", async () => {
  const { project, get, change, until, untilScored } = await given(slowCode, 300);
  await untilScored(1);

  await change("pause");
  await until("paused");

  const paused = await countScored(project);
  expect(paused).toBeLessThan(300);
  expect((await get()).progress).toMatchObject({ matched: 300, done: paused, scored: paused });
  const resumed = await change("resume");
  expect(resumed.workflow_id).toMatch(/-2$/);
  await until("completed");
  expect(await countScored(project)).toBe(300);
  expect(await runsOf(project)).toEqual({ scored: 300, open: 0, left: 0 });
}, 300_000);

test("a cancelled backfill ends in the middle of a chunk, and holds nothing any more", async () => {
  const { project, backfill, change, until, untilScored } = await given(slowCode, 300);
  await untilScored(1);

  await change("cancel");
  await until("cancelled");
  const handle = workflows.operator.client.workflow.getHandle(backfill.workflow_id);
  expect(await handle.result()).toMatchObject({ state: "cancelled" });

  const count = await countScored(project);
  expect(count).toBeLessThan(300);
  expect(await runsOf(project)).toEqual({ scored: count, open: 0, left: 0 });
}, 300_000);

test("a backfill that an operator cancels in Temporal ends as cancelled, and says so", async () => {
  const { project, backfill, get, until, untilScored } = await given(slowCode, 300);
  await untilScored(1);

  const handle = workflows.operator.client.workflow.getHandle(backfill.workflow_id);
  await handle.cancel();
  await until("cancelled");
  await expect(handle.result()).rejects.toThrow(/cancelled/i);

  expect((await get()).error).toBe("cancelled in Temporal");
  const count = await countScored(project);
  expect(count).toBeLessThan(300);
  expect(await runsOf(project)).toEqual({ scored: count, open: 0, left: 0 });
}, 300_000);

test("a backfill fails with its evaluator, and says how", async () => {
  const { project, backfill, get, until } = await given("result = 1 / 0\n", 1_500);

  await until("failed");

  const reason = "disabled after 10 failures in a row";
  expect((await get()).error).toContain(`${reason}: EXCEPTION: ZeroDivisionError: division by`);
  const handle = workflows.operator.client.workflow.getHandle(backfill.workflow_id);
  expect(await handle.result()).toMatchObject({ state: `failed: ${reason}` });
  expect(await handle.query("progress")).toMatchObject({ state: `failed: ${reason}` });
  expect(await runsOf(project)).toMatchObject({ scored: 0, open: 0, left: 0 });
}, 300_000);
