// Executions of experiment runs through the API, by workflows on a real Temporal; the models are
// the stand-in's.

import { beforeEach, expect, test, vi } from "vitest";
import { datapointTriesMax } from "../../src/base/tenant-limits.ts";
import { callRoute } from "../support/call-route.ts";
import { everyTable, findIn } from "../support/every-table.ts";
import { givenStarted } from "../support/given.ts";
import { providersOf } from "../support/chats.ts";
import { type ExecutableRun, givenAnExecutableRun } from "../support/executions.ts";
import { givenWorker } from "../support/given-worker.ts";
import { startOpenAiStandIn } from "../support/openai-stand-in.ts";
import { patience } from "../support/patience.ts";
import { startService } from "../support/service.ts";
import { withKey } from "../support/tenants.ts";
import { recordHistory } from "./histories.ts";

const standIn = givenStarted(startOpenAiStandIn);
const service = givenStarted(() => startService(flags()));

const flags = () => ({ providers: providersOf(standIn) });
const workflows = givenWorker("executions", () => service.database, flags);
beforeEach(() => {
  standIn.clear();
});

/** Keys of the calls that the provider got. */
function keysSeen(): readonly unknown[] {
  return standIn.requests.map(({ headers }) => headers["idempotency-key"]);
}

/** Returns the stored events of a run by type. */
async function eventsOf({ project, runId }: ExecutableRun) {
  const body = { filters: [{ field: "metadata.run_id", operator: "is", value: runId }] };
  const { events } = await project.ok("POST /v1/events/export", { ...body, limit: 1000 });
  type Event = Readonly<Record<string, unknown>> & { readonly event_type: string };
  const all = events as readonly Event[];
  return {
    sessions: all.filter(({ event_type: type }) => type === "session"),
    models: all.filter(({ event_type: type }) => type === "model"),
  };
}

const onModels = {
  name: "is echo",
  type: "PYTHON",
  criteria: "def evaluate(event):\n    return event['feedback']['ground_truth']['truth'] >= 0\n",
  return_type: "boolean",
  enabled_in_prod: true,
  sampling_percentage: 0,
  filters: { filterArray: [{ field: "event_type", operator: "is", value: "model" }] },
};

test("an execution calls the model once a datapoint, and its events are scored", async () => {
  const run = await givenAnExecutableRun(service, "gpt-4o-mini-echo", 25);
  await run.project.make(onModels);

  const started = await run.start({ hyperparameters: { max_tokens: 7 } });
  await run.until("completed");

  expect(started).toMatchObject({
    state: "running",
    configuration: { name: "asker", version: "v1", environment: null },
    model: null,
    hyperparameters: { max_tokens: 7 },
    dataset_id: run.datasetId,
    concurrency: 8,
    progress: { datapoints: 25, done: 0, failed: 0, left: 25, unpriced: 0 },
  });
  const keys = keysSeen();
  expect(new Set(keys).size).toBe(25);
  expect(keys).toHaveLength(25);
  const { sessions, models } = await eventsOf(run);
  expect(models.map(({ event_id: id }) => id).toSorted()).toEqual(keys.toSorted());
  const answered = models.map(({ inputs, outputs, metadata, config }) => ({
    inputs,
    content: (outputs as { content: string }).content,
    datapoint: (metadata as { datapoint_id: string }).datapoint_id,
    settings: (config as { hyperparameters: object }).hyperparameters,
  }));
  expect(answered.toSorted((a, b) => a.content.localeCompare(b.content))).toEqual(
    run.datapointIds
      .map((datapoint, n) => ({
        inputs: {
          n,
          question: `What is ${n}?`,
          chat_history: [{ role: "user", content: `What is ${n}?` }],
        },
        content: `What is ${n}?`,
        datapoint,
        settings: { temperature: 0, max_tokens: 7 },
      }))
      .toSorted((a, b) => a.content.localeCompare(b.content)),
  );
  expect(sessions).toHaveLength(25);
  for (const session of sessions) {
    const { n } = session["inputs"] as { n: number };
    expect(session).toMatchObject({
      event_name: "asker",
      source: "evaluation",
      feedback: { ground_truth: { truth: n } },
      metadata: { run_id: run.runId, dataset_id: run.datasetId },
      error: null,
    });
  }
  const ended = await run.get();
  expect(ended.progress).toEqual({ datapoints: 25, done: 25, failed: 0, left: 0, unpriced: 25 });
  const { project, runId } = run;
  expect(await project.ok(`GET /v1/runs/${runId}/progress`)).toMatchObject({
    complete: true,
    events: 50,
    waiting: 0,
    total: { queued: 0, running: 0, scored: 25, failed: 0 },
    metrics: [{ name: "is echo", scores: { scored: 25 } }],
  });
  const result = await project.ok(`GET /v1/runs/${runId}/result`);
  expect(result).toMatchObject({ status: "completed", success: true });
  expect((result["passed"] as string[]).toSorted()).toEqual(run.datapointIds.toSorted());
  const { workflow_id: workflowId } = ended;
  expect(await workflows.operator.progressOf(workflowId)).toMatchObject({
    state: "completed",
    done: 25,
  });
  await recordHistory(workflows.operator.client, workflowId, "execute-run");
}, 300_000);

test("the cost is the sum of the calls, of another model too", async () => {
  const run = await givenAnExecutableRun(service, "echo", 3);

  await run.start({ model: "openai/gpt-4o-mini" });
  await run.until("completed");

  const { models } = await eventsOf(run);
  const costs = models.map(({ metadata }) => (metadata as { cost: number }).cost);
  expect(costs).toHaveLength(3);
  const { cost, progress } = await run.get();
  expect(cost).toBeGreaterThan(0);
  expect(cost).toBeCloseTo(
    costs.reduce((sum, one) => sum + one, 0),
    12,
  );
  expect(progress).toMatchObject({ done: 3, unpriced: 0 });
}, 300_000);

test("each unusable answer costs what its tokens cost, and the last is kept", async () => {
  const run = await givenAnExecutableRun(service, "echo", 1);

  await run.start({ model: "anthropic/claude-sonnet-4-5-no-finish" });
  await run.until("completed");

  const { cost, progress } = await run.get();
  expect(progress).toMatchObject({ done: 0, failed: 1 });
  expect(cost).toBeGreaterThan(0);
  const { models } = await eventsOf(run);
  const [{ metadata } = { metadata: {} }] = models;
  const { cost: costOfOne } = metadata as { cost: number };
  expect(cost).toBeCloseTo(datapointTriesMax * costOfOne, 12);
  expect(models).toMatchObject([
    {
      error: expect.stringMatching(/^PROVIDER_FAILED: /) as string,
      outputs: { role: "assistant", content: expect.any(String) as string },
      metadata: { cost: costOfOne, total_tokens: expect.any(Number) as number },
    },
  ]);

  await run.change("resume");
  await run.until("completed");
  expect((await run.get()).cost).toBeCloseTo(2 * datapointTriesMax * costOfOne, 12);
}, 300_000);

test("an unusable answer costs its tokens where the alias has another model", async () => {
  const run = await givenAnExecutableRun(service, "echo", 1);
  const { project } = run;
  await project.ok(`PUT /v1/projects/${project.projectId}/model_aliases/both`, {
    targets: ["anthropic/claude-sonnet-4-5-no-finish", "openai/gpt-4o-mini"],
  });

  await run.start({ model: "both" });
  await run.until("completed");

  const { models } = await eventsOf(run);
  const [{ metadata } = { metadata: {} }] = models;
  expect((await run.get()).cost).toBeGreaterThan(2 * (metadata as { cost: number }).cost);
}, 300_000);

test("a cancelled execution keeps its answers, and goes on where it was", async () => {
  const run = await givenAnExecutableRun(service, "slow-200", 60);
  await run.start({ concurrency: 2 });
  await vi.waitUntil(async () => ((await run.get()).progress["done"] ?? 0) > 2, patience);

  await run.change("cancel");
  await run.until("cancelled");

  const { progress } = await run.get();
  expect(progress["done"]).toBeLessThan(60);
  // The run follows its execution.
  await vi.waitFor(async () => {
    const { evaluation } = await run.project.ok(`GET /v1/runs/${run.runId}`);
    expect(evaluation).toMatchObject({ status: "cancelled" });
  }, patience);
  expect((await run.change("resume")).workflow_id).toMatch(/-2$/);
  await run.until("completed");
  const keys = keysSeen();
  expect(new Set(keys).size).toBe(60);
  expect(keys).toHaveLength(60);
  const again = await run.project.call(`POST /v1/runs/${run.runId}/execution/resume`, {});
  expect([again.status, again.json["errorCode"]]).toEqual([409, "EXECUTION_ENDED"]);
}, 300_000);

test("an execution cancelled during its last call ends as cancelled", async () => {
  const run = await givenAnExecutableRun(service, "slow-5000", 1);
  await run.start({ concurrency: 1 });
  await vi.waitUntil(() => standIn.requests.length > 0, patience);

  await run.change("cancel");
  await vi.waitUntil(async () => /ed$/.test((await run.get()).state), patience);

  expect(await run.get()).toMatchObject({ state: "cancelled", progress: { done: 1 } });
}, 300_000);

test("an execution that an operator cancels in Temporal ends as cancelled", async () => {
  const run = await givenAnExecutableRun(service, "slow-200", 200);
  const { workflow_id: workflowId } = await run.start({ concurrency: 1 });
  await vi.waitUntil(async () => ((await run.get()).progress["done"] ?? 0) > 0, patience);

  const handle = workflows.operator.client.workflow.getHandle(workflowId);
  await handle.cancel();
  await run.until("cancelled");

  expect((await run.get()).error).toBe("cancelled in Temporal");
  await expect(handle.result()).rejects.toThrow(/cancelled/i);
  await recordHistory(workflows.operator.client, workflowId, "execute-run-cancelled");
}, 300_000);

test("an execution whose project is archived ends after the calls under way", async () => {
  const run = await givenAnExecutableRun(service, "slow-200", 60);
  const { workflow_id: workflowId } = await run.start({ concurrency: 2 });
  await vi.waitUntil(async () => ((await run.get()).progress["done"] ?? 0) > 0, patience);

  const { projectId } = run.project;
  const sql = service.database.sql();
  await sql`update projects set archived_at = now() where project_id = ${projectId}`;
  const result: unknown = await workflows.operator.client.workflow.getHandle(workflowId).result();

  expect(result).toMatchObject({ state: "cancelled" });
  expect(keysSeen().length).toBeLessThan(60);
}, 300_000);

test("what a provider says of a datapoint is masked in every table", async () => {
  const run = await givenAnExecutableRun(service, "fail-422", 10);
  const { project } = run;
  const headers = await withKey(service.database, project, { kind: "data_plane", root: "project" });
  const put = `PUT /v1/projects/${project.projectId}/masking`;
  const rules = [{ pattern: "says [0-9]+" }];
  expect((await callRoute({ url: service.url, headers }, put, { rules })).status).toBe(200);

  await run.start({ concurrency: 1 });
  await run.until("failed");

  expect((await run.get()).error).toMatch(/PROVIDER_REJECTED: .* \[masked\]$/);
  expect(findIn(await everyTable(service.database), ["says 422"])).toEqual([]);
}, 300_000);

test("ten failures in a row end an execution, and a resumption tries again", async () => {
  const run = await givenAnExecutableRun(service, "fail-400", 30);
  await run.start({ concurrency: 1 });

  await run.until("failed");

  const failed = await run.get();
  expect(failed.error).toMatch(/^10 datapoints in a row failed; the last: PROVIDER_REJECTED: /);
  expect(failed.progress).toMatchObject({ done: 0, failed: 10, left: 20 });
  expect(keysSeen()).toHaveLength(10);
  const { models, sessions } = await eventsOf(run);
  expect(models.map(({ error }) => error)).toEqual(
    Array.from({ length: 10 }, () => expect.stringMatching(/^PROVIDER_REJECTED: /) as string),
  );
  expect(sessions).toHaveLength(10);
  await run.change("resume");
  await vi.waitUntil(async () => keysSeen().length === 20, patience);
  // Another try is another call: the provider must not answer it from memory.
  expect(new Set(keysSeen()).size).toBe(20);
  await run.until("failed");
}, 300_000);

test("a datapoint that a resumption repeats has the result of its last attempt", async () => {
  const run = await givenAnExecutableRun(service, "flaky-400-1", 1);
  const reading = "def evaluate(event):\n    return event['outputs']['content'] != ''\n";
  await run.project.make({ ...onModels, filters: { filterArray: [] }, criteria: reading });
  const result = () => run.project.ok(`GET /v1/runs/${run.runId}/result`);
  await run.start({ concurrency: 1 });
  await run.until("completed");
  const before = await result();

  await run.change("resume");
  await run.until("completed");

  expect(before).toMatchObject({ passed: [], failed: run.datapointIds });
  const after = await result();
  expect(after).toMatchObject({ passed: run.datapointIds, failed: [] });
  expect(after["datapoints"]).toHaveLength(1);
  const progress = await run.project.ok(`GET /v1/runs/${run.runId}/progress`);
  expect(progress).toMatchObject({ events: 2, total: { scored: 2, failed: 0 } });
  const ofRun = { filters: [], evaluation_id: run.runId };
  const listed = await run.project.ok("POST /v1/events/export", ofRun);
  expect(listed["events"]).toHaveLength(2);
  for (const filter of [{ experiment_run_id: run.runId }, { only_experiments: true }]) {
    const query = { kind: "scalar", measures: [{ metric: "event_count" }] };
    const charted = await run.project.ok("POST /v1/charts/query", {
      query,
      filters: [{ field: "event_type", operator: "is", value: "model" }],
      product_filters: filter,
    });
    expect(charted["data"]).toMatchObject({ meta: { matched_event_count: 1 } });
  }
  // What failed stays in the log.
  expect((await eventsOf(run)).models).toHaveLength(2);
}, 300_000);

test("a call that fails for a moment is repeated with the same key", async () => {
  const run = await givenAnExecutableRun(service, "flaky-500-5", 3);

  await run.start({ concurrency: 1 });
  await run.until("completed");

  expect((await run.get()).progress).toMatchObject({ done: 3, failed: 0 });
  const perKey = Map.groupBy(keysSeen(), (key) => key);
  expect(perKey.size).toBe(3);
  expect((await eventsOf(run)).models).toHaveLength(3);
}, 300_000);
