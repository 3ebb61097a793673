// Evaluations over the whole service: reports of runs with every field of the spec, reviews, and
// reports that a client gives. Source: docs/spec.md, "Evaluation"; docs/decisions.md, 39.5.

import { expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string;

/** Creates a run with two sessions that have outputs and scores; returns the ids of all three. */
async function givenARun(project: MetricProject) {
  const run = { name: "a run", description: "Of two", configuration: { prompt: "Say it" } };
  const { run_id: runId } = await project.ok("POST /v1/runs", {
    ...run,
    passing_ranges: { quality: { min: 0.5 } },
  });
  const sessions: string[] = [];
  for (const [id, quality] of [
    ["d1", 1],
    ["d2", 0],
  ] as const) {
    const metadata = { run_id: runId, datapoint_id: id };
    const session = { source: "evaluation", inputs: { question: id }, metadata };
    const started = await project.ok("POST /session/start", { session });
    const sessionId = started["session_id"] as string;
    await project.ok("PUT /events", {
      event_id: sessionId,
      outputs: { answer: `${id}!` },
      metrics: { quality },
      feedback: { ground_truth: { answer: id } },
    });
    sessions.push(sessionId);
  }
  return { runId: runId as string, sessions };
}

test("an evaluation has every field of the spec", async () => {
  const project = await givenAMetricProject(service);
  const { runId, sessions } = await givenARun(project);
  const [one, two] = sessions;

  const evaluation = await project.ok(`GET /evaluations/${runId}`);

  expect(evaluation).toEqual({
    id: runId,
    name: "a run",
    description: "Of two",
    task: "demo",
    user: expect.stringMatching(/^key /) as string,
    created_at: aTime,
    datasetName: "",
    dataset: ["d1", "d2"].map((id, index) => ({
      datapoint_id: id,
      session_id: sessions[index],
      inputs: { question: id },
      ground_truth: { answer: id },
    })),
    prompts: [{ prompt: "Say it" }],
    generations: [
      { session_id: one, datapoint_id: "d1", outputs: { answer: "d1!" } },
      { session_id: two, datapoint_id: "d2", outputs: { answer: "d2!" } },
    ],
    metrics: [
      [{ name: "quality", value: 1, passed: true }],
      [{ name: "quality", value: 0, passed: false }],
    ],
    results: [
      { datapoint_id: "d1", session_id: one, passed: true, metrics: { quality: 1 } },
      { datapoint_id: "d2", session_id: two, passed: false, metrics: { quality: 0 } },
    ],
    summary: [
      {
        metric_name: "quality",
        metric_type: "CLIENT_SIDE",
        event_name: "unknown",
        event_type: "session",
        average: 0.5,
        count: 2,
        passed: 1,
        failed: 1,
      },
    ],
    accepted: [false, false],
    comments: [],
  });
});

test("reviewers accept results and comment on them", async () => {
  const project = await givenAMetricProject(service);
  const { runId } = await givenARun(project);
  const route = `PUT /v1/evaluations/${runId}/review`;

  await project.ok(route, { accepted: [true, false] });
  const reviewed = await project.ok(route, { comments: [{ text: "Too short", result: 1 }] });

  expect(reviewed["accepted"]).toEqual([true, false]);
  const author = expect.stringMatching(/^key /) as string;
  const comments = [{ text: "Too short", author, created_at: aTime, result: 1 }];
  expect(reviewed["comments"]).toEqual(comments);
  expect(await project.ok(`GET /v1/evaluations/${runId}`)).toEqual(reviewed);
});

test.each([
  [{ accepted: [true] }, "accepted: must have one value for each of the 2 results"],
  [{ comments: [{ text: " " }] }, "comments[0].text: must be 1 to 10000 characters"],
  [
    { comments: [{ text: "a", result: 2 }] },
    "comments[0].result: must be the index of one of 2 results",
  ],
])("a review %j is refused by name", async (body, message) => {
  const project = await givenAMetricProject(service);
  const { runId } = await givenARun(project);

  const answer = await project.call(`PUT /v1/evaluations/${runId}/review`, body);

  expect(answer).toMatchObject({ status: 400, json: { message } });
  const { comments, accepted } = await project.ok(`GET /evaluations/${runId}`);
  expect({ comments, accepted }).toEqual({ comments: [], accepted: [false, false] });
});

test("a client gives the report of results that it has", async () => {
  const project = await givenAMetricProject(service);
  const report = {
    name: "given",
    datasetName: "questions",
    dataset: [{ question: "a" }],
    prompts: [{ template: "b" }],
    generations: [{ answer: "c" }],
    metrics: [[1, "d"]],
    results: [{ score: 1 }],
    summary: [{ mean: 1 }],
    accepted: [true],
    comments: [{ text: "e" }],
  };
  const body = { ...report, task: "other", metrics_to_compute: ["quality"] };

  const { id, success } = await project.ok("POST /evaluations", body);

  expect(success).toBe(true);
  const evaluation = await project.ok(`GET /evaluations/${id as string}`);
  expect(evaluation).toMatchObject({ ...report, id, task: "demo" });
  const { evaluation: run } = await project.ok(`GET /v1/runs/${id as string}`);
  expect(run).toMatchObject({ name: "given", status: "completed" });
});

test("an absent evaluation is the 404", async () => {
  const project = await givenAMetricProject(service);

  expect((await project.call("GET /evaluations/absent")).status).toBe(404);
});
