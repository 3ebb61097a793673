// GET /v1/metrics/{id}/status over the whole service: how a metric fares. Runs are committed as a
// worker would. Source: docs/decisions.md, 25.1; docs/evaluators.md.

import { describe, expect, test } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import type { RunResult } from "../../src/evaluation/runner/runner.ts";
import { givenStarted } from "../support/given.ts";
import { callRoute } from "../support/call-route.ts";
import { composeEvaluation, openChunk } from "../support/evaluation.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);
const evaluation = givenStarted(() => composeEvaluation(service.database));

type Json = Record<string, unknown>;

function call(route: string, body?: unknown, key = service.projectKey) {
  const headers = { authorization: `Bearer ${key}` };
  return callRoute({ url: service.url, headers }, route, body);
}

async function events(count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => createUuid());
  const sent = ids.map((event_id) => ({
    event_id,
    event_type: "model",
    source: "test",
    inputs: {},
  }));
  expect((await call("POST /events/batch", { events: sent })).status).toBe(200);
  return ids;
}

async function aMetric(): Promise<string> {
  const model = { model_provider: "openai", model_name: "gpt-4o-mini" };
  const judge = { type: "LLM", prompt: "Rate it: [[5]]", ...model, enabled_in_prod: true };
  const { status, json } = await call("POST /v1/metrics", { name: createUuid(), ...judge });
  expect(status).toBe(200);
  return json["metric_id"] as string;
}

async function statusOf(metricId: string): Promise<Json> {
  const { status, json } = await call(`GET /v1/metrics/${metricId}/status`);
  expect([status, json["success"]]).toEqual([200, true]);
  return json["data"] as Json;
}

/** Commits a result for each event, in their order; the others of the chunk go on running. */
async function run(metricId: string, eventIds: readonly string[], results: readonly RunResult[]) {
  const events = { metricId, eventIds, includeFailed: false };
  const { project, chunk } = await openChunk(evaluation, service.projectId, events);
  const ended = results.map((result, index) => ({ eventId: eventIds[index] ?? "", result }));
  await evaluation.scores.commitResults(project, chunk, ended);
}

const judgeCall = (cost: number | null) => ({
  provider: "openai",
  model: "gpt-4o-mini",
  promptTokens: 10,
  completionTokens: 2,
  cost,
  answer: "[[4]]",
});
const scored = (cost: number | null): RunResult => ({
  kind: "score",
  score: 4,
  explanation: undefined,
  output: "",
  judge: judgeCall(cost),
});
const failed: RunResult = {
  kind: "failure",
  reason: "NO_SCORE",
  message: "no score in it",
  output: "",
};

describe("GET /v1/metrics/{id}/status", () => {
  test("of a metric that never ran is all zero", async () => {
    const got = await statusOf(await aMetric());

    expect(got).toEqual({
      enabled: true,
      disabled_reason: null,
      version: "v1",
      queued: 0,
      running: 0,
      oldest_queued_at: null,
      scored: 0,
      failed: 0,
      failures_in_row: 0,
      failures_in_row_max: 10,
      last_failure: null,
      judge_prompt_tokens: 0,
      judge_completion_tokens: 0,
      judge_cost: 0,
      judge_unpriced: 0,
    });
  });

  test("counts what waits, runs, was scored and failed, and what the judge used", async () => {
    const [metricId, ids] = [await aMetric(), await events(6)];
    await run(metricId, ids.slice(0, 5), [scored(0.25), scored(null), failed, failed]);
    await service.database.sql()`
      insert into scores (project_id, evaluator_id, event_id, version, state, enablement)
      values (${service.projectId}, ${metricId}, ${ids[5] ?? ""}, 1, 'queued', 1)`;

    const got = await statusOf(metricId);

    expect(got).toMatchObject({
      queued: 1,
      running: 1,
      scored: 2,
      failed: 2,
      failures_in_row: 2,
      judge_prompt_tokens: 20,
      judge_completion_tokens: 4,
      judge_cost: 0.25,
      judge_unpriced: 1,
    });
    expect(got["last_failure"]).toMatch(/no score in it/);
    expect(Date.parse(got["oldest_queued_at"] as string)).not.toBeNaN();
  });

  test("counts failures in a row since the last score, and afresh for a new version", async () => {
    const [metricId, ids] = [await aMetric(), await events(6)];
    await run(metricId, ids, [failed, failed, scored(0), failed]);
    expect((await statusOf(metricId))["failures_in_row"]).toBe(1);

    await call(`PUT /v1/metrics/${metricId}`, { prompt: "Rate it again: [[5]]" });

    expect(await statusOf(metricId)).toMatchObject({ version: "v2", failures_in_row: 0 });
  });

  test("says why the service disabled it", async () => {
    const metricId = await aMetric();
    const { enablement } = await evaluation.metrics.get(service.projectId, metricId);
    const message = "disabled after 10 failures in a row: NO_SCORE";
    const disabling = { projectId: service.projectId, evaluatorId: metricId, enablement, message };
    await evaluation.metrics.disable(disabling);

    const got = await statusOf(metricId);

    expect(got).toMatchObject({ enabled: false, disabled_reason: message, version: "v2" });
  });

  test("of no metric, or another's, is the very answer of an unknown route", async () => {
    const metricId = await aMetric();
    const unknown = await call("GET /nothing");
    const ask = (id: string, key?: string) => call(`GET /v1/metrics/${id}/status`, undefined, key);

    const got = await Promise.all([
      ask(createUuid()),
      ask("none"),
      ask(metricId, service.otherProject.projectKey),
      ask(metricId, service.ingestionKey),
    ]);

    expect(new Set(got.map(({ text }) => text))).toEqual(new Set([unknown.text]));
    expect((await ask(metricId, service.readOnlyKey)).status).toBe(200);
  });
});
