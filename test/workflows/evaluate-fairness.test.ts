// Events of one organization are scored while the evaluators of another one, in two projects, never
// end: with the whole service, a worker, a real Temporal and the sandbox.
// Source: docs/sandbox.md, "Places"; docs/workflows.md, "Evaluators".

import { expect, test, vi } from "vitest";
import { createUuid, type ProjectId } from "../../src/base/ids.ts";
import { givenStarted } from "../support/given.ts";
import { givenWorker } from "../support/given-worker.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { patience } from "../support/patience.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

/** Places: two of an organization, and one of a project. */
const flags = () => ({ "evaluator-processes": "3", "evaluator-time-limit-ms": "600000" });
givenWorker("evaluators", () => service.database, flags);

const onTools = {
  type: "PYTHON",
  enabled_in_prod: true,
  sampling_percentage: 100,
  filters: { filterArray: [{ field: "event_type", operator: "is", value: "tool" }] },
};
const endless = "def evaluate(event):\n    while True: pass";
const evaluatorsOfProject = 6;

async function send(project: MetricProject, count: number): Promise<void> {
  const sessionId = createUuid();
  const events = Array.from({ length: count }, () => ({
    event_id: createUuid(),
    session_id: sessionId,
    event_type: "tool",
    event_name: "e",
    source: "test",
    inputs: {},
  }));
  const { status, text } = await project.call("POST /events/batch", { events });
  expect(status, text).toBe(200);
}

/** Makes a project whose evaluators never end, and has chunks of all of them under way. */
async function attackFrom(project: MetricProject): Promise<void> {
  for (let count = 0; count < evaluatorsOfProject; count += 1) {
    await project.make({ name: `endless ${count}`, criteria: endless, ...onTools });
  }
  await send(project, 20);
  await vi.waitUntil(async () => (await countOpenChunks(project)) === evaluatorsOfProject, {
    ...patience,
    interval: 200,
  });
}

async function countOpenChunks({ projectId }: MetricProject): Promise<number> {
  const [row] = await service.database.sql()<{ count: number }[]>`
    select count(*)::integer as count
    from evaluation_chunks
    where project_id = ${projectId} and handed_at is not null and ended_at is null`;
  return row?.count ?? 0;
}

async function countScored({ projectId }: MetricProject): Promise<number> {
  const [row] = await service.database.sql()<{ count: number }[]>`
    select count(*)::integer as count
    from scores
    where project_id = ${projectId} and state = 'scored'`;
  return row?.count ?? 0;
}

/** Moves a project into the organization of another one. */
async function moveTo(project: MetricProject, { workspaceId }: MetricProject): Promise<void> {
  await service.database.sql()`
    update projects set workspace_id = ${workspaceId}, name = ${createUuid()}
    where project_id = ${project.projectId satisfies ProjectId}`;
}

test("an organization in which nothing ends keeps no other one from its scores", async () => {
  const [first, second, victim] = await Promise.all([
    givenAMetricProject(service),
    givenAMetricProject(service),
    givenAMetricProject(service),
  ]);
  await moveTo(second, first);
  await attackFrom(first);
  await attackFrom(second);

  await victim.make({ name: "one", criteria: "result = 1", ...onTools });
  await send(victim, 10);

  await vi.waitUntil(async () => (await countScored(victim)) === 10, {
    ...patience,
    interval: 200,
  });
  expect(await countScored(first)).toBe(0);
}, 300_000);
