// GET /v1/metrics/{id}/reliability: a judge's scores beside those of people. The tests commit
// scores as a worker would. Source: docs/judges.md; docs/decisions.md, 46.2 to 46.4.

import { beforeEach, describe, expect, test } from "vitest";
import type { ProjectScope } from "../../src/access/scope.ts";
import { createByteBudget } from "../../src/base/byte-budget.ts";
import { createReliability } from "../../src/evaluation/reliability/reliability.ts";
import type { Score } from "../../src/evaluation/scores/score.ts";
import { givenStarted } from "../support/given.ts";
import { composeEvaluation, runOnEvent } from "../support/evaluation.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);
const evaluation = givenStarted(() => composeEvaluation(service.database));

let project: MetricProject;
beforeEach(async () => {
  project = await givenAMetricProject(service);
});

type Json = Readonly<Record<string, unknown>>;

const judgeFields = { type: "LLM", prompt: "Rate {{ outputs.content }}: [[5]]" };
const models = { model_provider: "openai", model_name: "gpt-4o-mini" };

function makeJudge(fields: Json = {}): Promise<string> {
  return project.make({ name: "helpful judge", ...judgeFields, ...models, ...fields });
}

function makeQuestion(fields: Json = {}): Promise<string> {
  const question = { type: "HUMAN", criteria: "Does it help?", return_type: "float" };
  return project.make({ name: "helpful", ...question, ...fields });
}

type Rated = {
  readonly human?: unknown;
  readonly judge?: Score;
  readonly model?: string;
  readonly day?: number;
};

/** Stores an event with a score of people, and commits the judge's score. */
async function rate(metricId: string, { human, judge, model, day = 1 }: Rated): Promise<string> {
  const event = {
    event_type: "model",
    inputs: {},
    start_time: Date.UTC(2026, 0, day, 12),
    config: model === undefined ? {} : { model },
    metrics: human === undefined ? {} : { helpful: human },
  };
  const { event_id } = await project.ok("POST /events", { event });
  const eventId = event_id as string;
  if (judge !== undefined) await commit(metricId, eventId, judge);
  return eventId;
}

async function commit(metricId: string, eventId: string, score: Score): Promise<void> {
  const call = { provider: "openai", model: "gpt-4o-mini", promptTokens: 1, completionTokens: 1 };
  const judge = { ...call, cost: null, answer: "" };
  const result = { kind: "score", score, explanation: "", output: "", judge } as const;
  await runOnEvent(evaluation, scope().projectId, { metricId, eventId, result });
}

function scope(): ProjectScope {
  return { ...project, clusterId: "default" } as unknown as ProjectScope;
}

async function report(metricId: string, query = "against=helpful"): Promise<Json> {
  const answer = await project.ok(`GET /v1/metrics/${metricId}/reliability?${query}`);
  return answer["data"] as Json;
}

describe("reliability of a judge", () => {
  test("compares numbers: agreement, kappa, bias, error and correlation, in groups", async () => {
    const [metricId] = [await makeJudge(), await makeQuestion()];
    const worst = await rate(metricId, { human: 1, judge: 5, model: "gpt-4o", day: 3 });
    await rate(metricId, { human: 4, judge: 5, model: "gpt-4o", day: 3 });
    await rate(metricId, { human: 5, judge: 5, model: "claude", day: 1 });
    await rate(metricId, { human: 2, judge: 2, model: "claude", day: 1 });
    await rate(metricId, { human: 3 });
    await rate(metricId, { judge: 3 });

    const got = await report(metricId);

    expect(got).toMatchObject({
      metric: "helpful judge",
      against: "helpful",
      scale: "number",
      kappa_weights: "quadratic",
      levels: ["1", "2", "4", "5"],
      binning: null,
      // Each event has a session of its own.
      events_considered: 12,
      events_left_out: 0,
      exact: true,
      human_scored: 5,
      incomparable: 0,
      overall: { n: 4, agreement: 0.5, bias: 1.25, mean_absolute_error: 1.25 },
    });
    expect(got["by_model"]).toMatchObject([
      { key: "claude", summary: { n: 2, agreement: 1, bias: 0 } },
      { key: "gpt-4o", summary: { n: 2, agreement: 0, bias: 2.5 } },
    ]);
    expect(got["by_judge_model"]).toMatchObject([{ key: "gpt-4o-mini", summary: { n: 4 } }]);
    expect(got["by_version"]).toMatchObject([{ key: "v1", summary: { n: 4 } }]);
    expect(got["by_score"]).toMatchObject([
      { key: "1", summary: { n: 1, bias: 4, kappa: null } },
      { key: "2" },
      { key: "4" },
      { key: "5" },
    ]);
    expect(got["over_time"]).toMatchObject([
      { key: "2026-01-01", summary: { n: 2 } },
      { key: "2026-01-03", summary: { n: 2 } },
    ]);
    expect(got["worst"]).toMatchObject([
      { event_id: worst, human: 1, judge: 5, difference: 4, version: "v1" },
      { human: 4, judge: 5, difference: 1 },
    ]);
  });

  test("compares booleans by Cohen's kappa, against a metric named by its id", async () => {
    const judge = await makeJudge({ return_type: "boolean" });
    const question = await makeQuestion({ return_type: "boolean" });
    // The example of Cohen's kappa in many textbooks, in fifths: 4, 1, 2 and 3 give 0.4.
    const table = [
      { human: true, judge: true, times: 4 },
      { human: true, judge: false, times: 1 },
      { human: false, judge: true, times: 2 },
      { human: false, judge: false, times: 3 },
    ];
    for (const { times, ...rated } of table) {
      for (let time = 0; time < times; time += 1) await rate(judge, rated);
    }

    const got = await report(judge, `against=${question}&bucket=month`);

    expect(got).toMatchObject({ scale: "boolean", kappa_weights: "none" });
    expect((got["overall"] as Json)["kappa"]).toBeCloseTo(0.4, 10);
    expect(got["over_time"]).toMatchObject([{ key: "2026-01-01", summary: { n: 10 } }]);
  });

  test("counts scores of another kind, and keeps to the period", async () => {
    const [metricId] = [await makeJudge(), await makeQuestion()];
    await rate(metricId, { human: "splendid", judge: 4, day: 2 });
    await rate(metricId, { human: { score: 4 }, judge: 4, day: 2 });
    await rate(metricId, { human: 3, judge: 4, day: 2 });
    await rate(metricId, { human: 3, judge: 4, day: 9 });

    const got = await report(metricId, "against=helpful&start=2026-01-02&end=2026-01-03");

    expect(got).toMatchObject({ events_considered: 6, incomparable: 2, overall: { n: 1 } });
  });

  test("reserves little memory for few scores", async () => {
    const [metricId] = [await makeJudge(), await makeQuestion()];
    await rate(metricId, { human: 1, judge: 1 });
    const memory = createByteBudget(1_000_000).open();
    const reliability = createReliability(evaluation);

    const got = await reliability.report(scope(), { id: metricId, against: "helpful" }, { memory });

    expect(got.overall.n).toBe(1);
  });

  test("says how many older events were left out", async () => {
    const [metricId] = [await makeJudge(), await makeQuestion()];
    for (const day of [1, 2, 3]) await rate(metricId, { human: day, judge: day, day });
    const reliability = createReliability({ ...evaluation, eventsMax: 4 });

    const got = await reliability.report(scope(), { id: metricId, against: "helpful" });

    expect(got).toMatchObject({ eventsConsidered: 4, eventsLeftOut: expect.any(Number) as number });
    expect(got.eventsLeftOut).toBe(2);
    expect(got.overall.n).toBe(2);
  });

  test.each([
    { name: "no human metric", query: "", want: "against: is required" },
    { name: "an unknown one", query: "against=other", want: "against: the project has no metric" },
    { name: "a judge", query: "against=helpful%20judge", want: "against: the project has no" },
    { name: "a wrong bucket", query: "against=helpful&bucket=year", want: "bucket: must be" },
    { name: "a wrong time", query: "against=helpful&start=soon", want: "start: must be" },
    { name: "a reversed period", query: "against=helpful&start=2&end=1", want: "start: must not" },
  ])("refuses $name", async ({ query, want }) => {
    const [metricId] = [await makeJudge(), await makeQuestion()];

    const got = await project.call(`GET /v1/metrics/${metricId}/reliability?${query}`);

    expect([got.status, got.json["message"]]).toEqual([400, expect.stringContaining(want)]);
  });

  test("refuses to judge people, and hides another project's metrics", async () => {
    const question = await makeQuestion();
    const other = await givenAMetricProject(service);

    const own = await project.call(`GET /v1/metrics/${question}/reliability?against=helpful`);
    const others = await other.call(`GET /v1/metrics/${question}/reliability?against=helpful`);

    expect([own.status, own.json["message"]]).toEqual([400, expect.stringContaining("id: must")]);
    expect(others.status).toBe(404);
  });
});
