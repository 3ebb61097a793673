// GET /v1/metrics/{id}/events/{event_id}/why over the whole service: the run of a metric on an
// event, or the reason why there is none. The tests commit runs as a worker would.
// Source: docs/decisions.md, 10, 26; docs/evaluators.md, "Why".

import { describe, expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import { isSampled, samplingNumber } from "../../src/evaluation/online/sampling.ts";
import type { RunResult } from "../../src/evaluation/runner/runner.ts";
import { givenStarted } from "../support/given.ts";
import { callRoute } from "../support/call-route.ts";
import { composeEvaluation, runOnEvent } from "../support/evaluation.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);
const evaluation = givenStarted(() => composeEvaluation(service.database));

type Json = Record<string, unknown>;

function call(route: string, body?: unknown, key = service.projectKey) {
  const headers = { authorization: `Bearer ${key}` };
  return callRoute({ url: service.url, headers }, route, body);
}

async function anEvent(fields: Json = {}): Promise<string> {
  const event = { event_type: "model", source: "production", inputs: {}, ...fields };
  const { status, json } = await call("POST /events", { event });
  expect(status).toBe(200);
  // What waits to be looked at is what a test says.
  await service.database.sql()`
    delete from evaluation_queue where project_id = ${service.projectId}`;
  return json["event_id"] as string;
}

const judge = {
  type: "LLM",
  prompt: "Rate {{ outputs.content }}: [[5]]",
  model_provider: "openai",
  model_name: "gpt-4o-mini",
  enabled_in_prod: true,
  sampling_percentage: 100,
};

async function aMetric(fields: Json = {}): Promise<string> {
  const metric = { name: `metric ${createUuid()}`, ...judge, ...fields };
  const { status, json, text } = await call("POST /v1/metrics", metric);
  expect([status, text]).toEqual([200, expect.any(String)]);
  return json["metric_id"] as string;
}

async function why(metricId: string, eventId: string): Promise<Json> {
  const { status, json, text } = await call(`GET /v1/metrics/${metricId}/events/${eventId}/why`);
  expect([status, text]).toEqual([200, expect.any(String)]);
  expect(json["success"]).toBe(true);
  return json["data"] as Json;
}

/** Has a chunk of one event run, and commits its result; without one it runs on. */
function run(metricId: string, eventId: string, result?: RunResult): Promise<string> {
  return runOnEvent(evaluation, service.projectId, { metricId, eventId, result });
}

const judgeCall = {
  provider: "openai",
  model: "gpt-4o-mini",
  promptTokens: 12,
  completionTokens: 3,
  cost: null,
  answer: "fine [[4]]",
};
const scored: RunResult = {
  kind: "score",
  score: 4,
  explanation: "fine",
  output: "",
  judge: judgeCall,
};
const failed: RunResult = {
  kind: "failure",
  reason: "NO_SCORE",
  message: "the answer has no [[x]]",
  output: "",
};

describe("why, after a run,", () => {
  test("tells the score, who gave it, what it cost and where it ran", async () => {
    const [metricId, eventId] = [await aMetric(), await anEvent()];
    const workflowId = await run(metricId, eventId, scored);

    const got = await why(metricId, eventId);

    expect(got).toMatchObject({
      outcome: "scored",
      version: "v1",
      result: 4,
      explanation: "fine",
      failure: null,
      judge: { provider: "openai", prompt_tokens: 12, completion_tokens: 3, cost: null },
      workflow_id: workflowId,
      filter: null,
      runs: [{ version: "v1", outcome: "scored", result: 4, failure: null }],
    });
    expect(Date.parse(got["ended_at"] as string)).toBeGreaterThanOrEqual(
      Date.parse(got["queued_at"] as string),
    );
  });

  test("tells the runs of the newest hundred versions, and of the deployed one", async () => {
    const [metricId, eventId] = [await aMetric(), await anEvent()];
    await run(metricId, eventId, scored);
    await service.database.sql()`
      insert into scores (
        project_id, event_id, evaluator_id, version, state, enablement, ended_at, result)
      select ${service.projectId}, ${eventId}, ${metricId}, version, 'scored', 1, now(), '1'
      from generate_series(2, 150) as version`;

    const got = await why(metricId, eventId);

    const versions = (got["runs"] as readonly Json[]).map(({ version }) => version);
    expect(versions).toHaveLength(100);
    expect([versions[0], versions[98], versions[99]]).toEqual(["v150", "v52", "v1"]);
    expect(got).toMatchObject({ outcome: "scored", version: "v1", result: 4 });
  });

  test("tells the failure, and how to run it again", async () => {
    const [metricId, eventId] = [await aMetric(), await anEvent()];
    await run(metricId, eventId, failed);

    const got = await why(metricId, eventId);

    expect(got).toMatchObject({ outcome: "failed", version: "v1", result: null, judge: null });
    expect(got["failure"]).toMatch(/NO_SCORE.*the answer has no \[\[x\]\]/);
    expect(got["message"]).toMatch(/the answer has no \[\[x\]\].*include_failed/s);
  });

  test("says that it runs, and that it waits", async () => {
    const [metricId, running, waiting] = [await aMetric(), await anEvent(), await anEvent()];
    await run(metricId, running);
    await service.database.sql()`
      insert into scores (project_id, evaluator_id, event_id, version, state, enablement)
      values (${service.projectId}, ${metricId}, ${waiting}, 1, 'queued', 1)`;

    expect(await why(metricId, running)).toMatchObject({ outcome: "running", ended_at: null });
    const queued = await why(metricId, waiting);
    expect(queued).toMatchObject({ outcome: "queued", workflow_id: null });
    expect(Date.parse(queued["queued_at"] as string)).not.toBeNaN();
  });

  test("of an older version says that the deployed one has not run", async () => {
    const [metricId, eventId] = [await aMetric(), await anEvent()];
    await run(metricId, eventId, failed);
    await call(`PUT /v1/metrics/${metricId}`, { prompt: "Rate it: [[1]]" });

    const older = await why(metricId, eventId);
    await run(metricId, eventId, scored);
    const newer = await why(metricId, eventId);

    expect(older).toMatchObject({ outcome: "failed", version: "v1" });
    expect(older["message"]).toMatch(/v2.* has not run/);
    expect(newer).toMatchObject({ outcome: "scored", version: "v2" });
    expect(newer["runs"]).toMatchObject([
      { version: "v2", outcome: "scored" },
      { version: "v1", outcome: "failed" },
    ]);
  });
});

describe("why, without a run,", () => {
  const isProd = { field: "metadata.env", operator: "is", value: "prod" };
  const hasTopic = { field: "inputs.topic", operator: "exists" };

  test.each([
    {
      outcome: "not_run_by_service",
      metric: { type: "HUMAN", model_provider: undefined, model_name: undefined },
      event: {},
      says: /People judge/,
    },
    {
      outcome: "disabled",
      metric: { enabled_in_prod: false },
      event: {},
      says: /enabled_in_prod is false.*backfill/,
    },
    {
      outcome: "source_excluded",
      metric: {},
      event: { source: "playground" },
      says: /source playground are not scored by themselves; a backfill/,
    },
    {
      outcome: "source_excluded",
      metric: {},
      event: { source: "evaluation" },
      says: /source evaluation.*experiment run/,
    },
    {
      outcome: "not_queued",
      metric: { sampling_percentage: 0 },
      event: { source: "evaluation", metadata: { run_id: "a run" } },
      says: /backfill/,
    },
    {
      outcome: "session_open",
      metric: {},
      event: { event_type: "session", source: "evaluation", metadata: { run_id: "a run" } },
      says: /neither outputs nor an error/,
    },
    {
      outcome: "filtered_out",
      metric: { filters: { filterArray: [hasTopic, isProd] } },
      event: { inputs: { topic: "bees" }, metadata: { env: "test" } },
      says: /`metadata\.env is prod`/,
      filter: "metadata.env is prod",
    },
    {
      outcome: "filtered_out",
      metric: { filters: { filterArray: [hasTopic] } },
      event: {},
      says: /`inputs\.topic exists`/,
      filter: "inputs.topic exists",
    },
    {
      outcome: "not_sampled",
      metric: { sampling_percentage: 0 },
      event: {},
      says: /runs on 0 %/,
    },
    {
      outcome: "ground_truth_absent",
      metric: { prompt: "Like {{ feedback.ground_truth }}? [[1]]" },
      event: {},
      says: /feedback\.ground_truth.*when ground truth arrives/,
    },
    {
      outcome: "not_queued",
      metric: { filters: { filterArray: [isProd] } },
      event: { metadata: { env: "prod" } },
      says: /backfill/,
    },
  ])("is $outcome: $says", async ({ outcome, metric, event, says, filter = null }) => {
    const eventId = await anEvent(event);
    const metricId = await aMetric(metric);

    const got = await why(metricId, eventId);

    const none = { result: null, failure: null, workflow_id: null, ended_at: null, runs: [] };
    expect(got).toMatchObject({ outcome, version: "v1", filter, ...none });
    expect(got["message"]).toMatch(says);
  });

  test("tells of the open backfill that may reach the event", async () => {
    const eventId = await anEvent();
    const metricId = await aMetric();
    const backfills = `/v1/metrics/${metricId}/backfills`;
    const started = await call(`POST ${backfills}`, {});
    expect([started.status, started.text]).toEqual([200, expect.any(String)]);
    const { id } = started.json["data"] as { id: string };

    const running = await why(metricId, eventId);
    await call(`POST ${backfills}/${id}/cancel`, {});
    await service.database.sql()`
      update evaluator_backfills set state = 'cancelled', ended_at = now()
      where backfill_id = ${id}`;
    const ended = await why(metricId, eventId);

    expect(running["outcome"]).toBe("not_queued");
    expect(running["message"]).toMatch(/Its backfill is running, and reaches the event if/);
    expect(ended["message"]).toMatch(/Run a backfill/);
  });

  test("tells why the service disabled the metric", async () => {
    const [metricId, eventId] = [await aMetric(), await anEvent()];
    const { enablement } = await evaluation.metrics.get(service.projectId, metricId);
    const message = "disabled after 10 failures in a row: NO_SCORE";
    const disabling = { projectId: service.projectId, evaluatorId: metricId, enablement, message };
    expect(await evaluation.metrics.disable(disabling)).toBe(true);

    const got = await why(metricId, eventId);

    expect(got["outcome"]).toBe("disabled");
    expect(got["message"]).toContain(message);
  });

  test("says the number that an event was not sampled by", async () => {
    const metricId = await aMetric({ sampling_percentage: 50 });
    const ids = Array.from({ length: 40 }, () => createUuid());
    const eventId = ids.find((id) => !isSampled(id, 50)) ?? "";
    await anEvent({ event_id: eventId });

    const { outcome, message } = await why(metricId, eventId);

    expect(outcome).toBe("not_sampled");
    const [, number] = /this event's is (\d+\.\d\d)/.exec(message as string) ?? [];
    expect(Number(number)).toBeCloseTo(samplingNumber(eventId), 1);
  });

  test("is queued while the event waits to be looked at", async () => {
    const [metricId, eventId] = [await aMetric(), await anEvent()];
    await service.database.sql()`
      insert into evaluation_queue (project_id, queue_id, event_ids)
      values (${service.projectId}, ${createUuid()}, ${["other", eventId]})`;

    const got = await why(metricId, eventId);

    expect(got).toMatchObject({ outcome: "queued", workflow_id: null, runs: [] });
    expect(Date.parse(got["queued_at"] as string)).not.toBeNaN();
  });
});

describe("why of what is not there", () => {
  test("is the very answer of an unknown route", async () => {
    const [metricId, eventId] = [await aMetric(), await anEvent()];
    const unknown = await call("GET /nothing");
    const ask = (metric: string, event: string, key?: string) =>
      call(`GET /v1/metrics/${metric}/events/${event}/why`, undefined, key);

    const got = await Promise.all([
      ask(createUuid(), eventId),
      ask("none", eventId),
      ask(metricId, "none"),
      ask(metricId, "%00"),
      ask(metricId, eventId, service.otherProject.projectKey),
      ask(metricId, eventId, service.ingestionKey),
    ]);

    expect(new Set(got.map(({ text }) => text))).toEqual(new Set([unknown.text]));
    expect((await ask(metricId, eventId, service.readOnlyKey)).status).toBe(200);
  });
});
