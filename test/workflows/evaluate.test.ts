// Events that come in are scored by workflows: with the whole service, a worker, a real Temporal
// and the sandbox that runs the code.

import { expect, test, vi } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import { givenStarted } from "../support/given.ts";
import { aControlplane } from "../support/controlplane.ts";
import { givenWorker } from "../support/given-worker.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { patience } from "../support/patience.ts";
import { startService } from "../support/service.ts";
import { recordHistory } from "./histories.ts";

const service = givenStarted(startService);

const workflows = givenWorker("evaluators", () => service.database);

/** On all tools: the sessions that they come with are none of these tests' events. */
const enabled = {
  type: "PYTHON",
  enabled_in_prod: true,
  sampling_percentage: 100,
  filters: { filterArray: [{ field: "event_type", operator: "is", value: "tool" }] },
};
const actor = { type: "operator", id: "test", name: "a test" } as const;
const slowCode = `
import time
def evaluate(event):
    time.sleep(0.3)
    return event["inputs"]["n"]
`;

/** Sends events that carry their number. */
async function send(project: MetricProject, count: number): Promise<void> {
  const sessionId = createUuid();
  const events = Array.from({ length: count }, (_, n) => ({
    event_id: createUuid(),
    session_id: sessionId,
    event_type: "tool",
    event_name: "e",
    source: "test",
    start_time: 1_700_000_000_000 + n,
    inputs: { n, secret: "canary-input" },
  }));
  const { status, text } = await project.call("POST /events/batch", { events });
  expect(status, text).toBe(200);
}

type Score = { readonly n: number; readonly metrics: Readonly<Record<string, unknown>> };

async function scoresOf({ projectId }: MetricProject): Promise<readonly Score[]> {
  return service.database.sql()<Score[]>`
    select (inputs->>'n')::integer as n, metrics
    from events
    where project_id = ${projectId} and event_type = 'tool'
    order by n`;
}

async function countScored(project: MetricProject, name: string): Promise<number> {
  return (await scoresOf(project)).filter(({ metrics }) => name in metrics).length;
}

async function workflowIdsOf(evaluatorId: string): Promise<readonly string[]> {
  const rows = await service.database.sql()<{ id: string }[]>`
    select workflow_id as id
    from evaluation_chunks
    where evaluator_id = ${evaluatorId}
    order by created_at`;
  return rows.map(({ id }) => id);
}

test("events come into an annotation queue where no evaluator is enabled", async () => {
  const project = await givenAMetricProject(service);
  const made = await project.call("POST /v1/queues", { name: "tools", filters: enabled.filters });
  expect(made.status, made.text).toBe(201);
  const { id } = made.json["queue"] as { id: string };

  await send(project, 30);

  const pending = async () => {
    const { progress } = await project.ok(`GET /v1/queues/${id}/items?limit=1`);
    return (progress as { pending: number }).pending;
  };
  await vi.waitUntil(async () => (await pending()) === 30, { ...patience, interval: 200 });
});

test("events are scored as they come, by a workflow that an operator finds", async () => {
  const project = await givenAMetricProject(service);
  const criteria = `
def evaluate(event):
    canary_code = 1
    n = event["inputs"]["n"]
    return n * 2, f"twice {n}"
`;
  const id = await project.make({ name: "Twice n", criteria, ...enabled });

  await send(project, 30);

  await vi.waitUntil(async () => (await countScored(project, "Twice n")) === 30, {
    ...patience,
    interval: 200,
  });
  const want = Array.from({ length: 30 }, (_, n) => ({
    n,
    metrics: { "Twice n": n * 2, "Twice n_explanation": `twice ${n}` },
  }));
  expect(await scoresOf(project)).toEqual(want);

  const [workflowId = ""] = await workflowIdsOf(id);
  expect(workflowId).toMatch(/^evaluate-twice-n-v1-/);
  const handle = workflows.operator.client.workflow.getHandle(workflowId);
  expect(await handle.result()).toMatchObject({ end: { kind: "done" } });
  const progress = await workflows.operator.progressOf(workflowId);
  expect(progress).toMatchObject({ state: "done", left: 0, failed: 0 });
  const query = `WaggleEvaluator = '${id}' AND WaggleScope = '${project.projectId}'`;
  await vi.waitUntil(
    async () => (await workflows.operator.client.workflow.count(query)).count > 0,
    patience,
  );
  // Ids and counts: nothing of events or code is in Temporal.
  const history = Buffer.from(JSON.stringify(await handle.fetchHistory())).toString();
  const payloads = [...history.matchAll(/"data":"([^"]*)"/g)].map(([, data = ""]) =>
    Buffer.from(data, "base64").toString(),
  );
  expect(payloads.join("\n")).toContain(id);
  expect(`${history}${payloads.join("\n")}`).not.toContain("canary");
  await recordHistory(workflows.operator.client, workflowId, "evaluate-chunk");
}, 300_000);

test("a session of a run is scored when it has outputs", async () => {
  const project = await givenAMetricProject(service);
  const criteria = "def evaluate(event):\n    return len(outputs['answer'])\n";
  await project.make({ name: "length", type: "PYTHON", criteria, enabled_in_prod: true });
  const { run_id: runId } = await project.ok("POST /v1/runs", { name: "slow" });
  const { session_id: id } = await project.ok("POST /session/start", {
    session: { source: "evaluation", session_name: "slow", metadata: { run_id: runId } },
  });
  const isLookedAt = async () => {
    const { complete, events } = await project.ok(`GET /v1/runs/${String(runId)}/progress`);
    return complete === true && events === 1;
  };
  const waiting = { ...patience, interval: 100 };
  const metrics = async () =>
    (await project.ok(`GET /v1/sessions/${String(id)}`))["metrics"] as Record<string, unknown>;
  await vi.waitUntil(isLookedAt, waiting);
  expect(await metrics()).toEqual({});

  await project.ok("PUT /events", { event_id: id, outputs: { answer: "12345" } });

  await vi.waitUntil(async () => Object.keys(await metrics()).length > 0, waiting);
  expect(await metrics()).toEqual({ length: 5 });
}, 300_000);

test("a session of a run without outputs is scored when the run is completed", async () => {
  const project = await givenAMetricProject(service);
  const criteria = "def evaluate(event):\n    return len(outputs)\n";
  const id = await project.make({ name: "parts", type: "PYTHON", criteria, enabled_in_prod: true });
  const { run_id: runId } = await project.ok("POST /v1/runs", { name: "silent" });
  const start = async () =>
    String(
      (
        await project.ok("POST /session/start", {
          session: { source: "evaluation", session_name: "none", metadata: { run_id: runId } },
        })
      )["session_id"],
    );
  const sessionId = await start();
  const outcome = async (event: string) => {
    const { data } = await project.ok(`GET /v1/metrics/${id}/events/${event}/why`);
    return (data as { outcome: string }).outcome;
  };
  const waiting = { ...patience, interval: 100 };
  await vi.waitUntil(async () => (await outcome(sessionId)) === "session_open", waiting);

  await project.ok(`PUT /v1/runs/${String(runId)}`, { status: "completed" });

  await vi.waitUntil(async () => (await outcome(sessionId)) === "scored", waiting);
  const late = await start();
  await vi.waitUntil(async () => (await outcome(late)) === "scored", waiting);
  const { metrics } = await project.ok(`GET /v1/sessions/${sessionId}`);
  expect(metrics).toEqual({ parts: 0 });
}, 300_000);

test("what fails says so in its event, and the others are scored", async () => {
  const project = await givenAMetricProject(service);
  const criteria = "def evaluate(event):\n    return 1 / (event['inputs']['n'] % 2)\n";
  await project.make({ name: "odd", criteria, ...enabled });

  await send(project, 6);

  const areAllThere = async () =>
    (await scoresOf(project)).every(({ metrics }) => Object.keys(metrics).length > 0);
  await vi.waitUntil(areAllThere, { ...patience, interval: 200 });
  const failed = { odd_failure: "EXCEPTION: ZeroDivisionError: division by zero" };
  const got = (await scoresOf(project)).map(({ metrics }) => metrics);
  expect(got).toEqual([failed, { odd: 1 }, failed, { odd: 1 }, failed, { odd: 1 }]);
}, 300_000);

test("a chunk that an operator cancels is finished by another, no event scored twice", async () => {
  const project = await givenAMetricProject(service);
  const id = await project.make({ name: "slow", criteria: slowCode, ...enabled });
  await send(project, 80);
  await vi.waitUntil(async () => (await countScored(project, "slow")) > 0, patience);
  const [first = ""] = await workflowIdsOf(id);

  await workflows.operator.client.workflow.getHandle(first).cancel();
  await expect(workflows.operator.client.workflow.getHandle(first).result()).rejects.toThrow(
    /cancelled/i,
  );
  const before = await countScored(project, "slow");

  await vi.waitUntil(async () => (await countScored(project, "slow")) === 80, {
    ...patience,
    interval: 500,
  });
  expect(before).toBeLessThan(80);
  const chunks = await service.database.sql()<{ scored: number }[]>`
    select scored from evaluation_chunks where evaluator_id = ${id} order by created_at`;
  expect(chunks.length).toBeGreaterThan(1);
  expect(chunks.reduce((sum, { scored }) => sum + scored, 0)).toBe(80);
}, 300_000);

test("disabling an evaluator ends its chunk at the next commit", async () => {
  const project = await givenAMetricProject(service);
  const id = await project.make({ name: "slow", criteria: slowCode, ...enabled });
  await send(project, 200);
  await vi.waitUntil(async () => (await countScored(project, "slow")) > 0, patience);

  await project.call(`PUT /v1/metrics/${id}`, { enabled_in_prod: false });

  const [workflowId = ""] = await workflowIdsOf(id);
  const result: unknown = await workflows.operator.client.workflow.getHandle(workflowId).result();
  expect(result).toMatchObject({
    end: { kind: "dropped", reason: "the evaluator is disabled" },
    progress: { state: "dropped: the evaluator is disabled" },
  });
  expect(await countScored(project, "slow")).toBeLessThan(200);
}, 300_000);

test("archiving a project ends what evaluates it", async () => {
  const project = await givenAMetricProject(service);
  const id = await project.make({ name: "slow", criteria: slowCode, ...enabled });
  await send(project, 500);
  await vi.waitUntil(async () => (await countScored(project, "slow")) > 0, patience);
  const [workflowId = ""] = await workflowIdsOf(id);

  const { scopes, archives } = await aControlplane({ database: service.database });
  const scope = await scopes.find("project", project.projectId);
  if (!scope) throw new Error("there is no project");
  await archives.archive(scope, { withChildren: true, actor });

  const isOver = async () => (await workflows.operator.stateOf(workflowId)) !== "RUNNING";
  await vi.waitUntil(isOver, { timeout: 90_000, interval: 500 });
  const archiveId = `archive-project-${project.projectId}`;
  await vi.waitUntil(async () => (await workflows.operator.stateOf(archiveId)) === "COMPLETED", {
    timeout: 180_000,
    interval: 500,
  });
  expect(await workflows.operator.progressOf(archiveId)).toMatchObject({ done: 501, left: 0 });
}, 300_000);
