// Experiment runs over the whole service, in the shapes that published clients send and read.
// Source: the published clients of this API; docs/experiments.md; docs/decisions.md, 27, 39.3.

import { describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

type Json = Readonly<Record<string, unknown>>;
type Listed = readonly Json[];

const aTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string;

const createRun = async (project: MetricProject, body: Json): Promise<string> =>
  (await project.ok("POST /v1/runs", body))["run_id"] as string;

/** Stores a session of a run and a chain event with scores in it, as evaluate() does. */
async function giveScores(
  project: MetricProject,
  {
    runId,
    datapoint,
    metrics,
    name = "answer",
  }: {
    readonly runId: string;
    readonly datapoint: string;
    readonly metrics: Json;
    readonly name?: string;
  },
): Promise<string> {
  const metadata = { run_id: runId, datapoint_id: datapoint };
  const started = await project.ok("POST /session/start", {
    session: { session_name: `on ${datapoint}`, source: "evaluation", metadata },
  });
  const sessionId = String(started["session_id"]);
  const chain = { event_type: "chain", event_name: name, source: "evaluation", inputs: {} };
  const event = { ...chain, session_id: sessionId, metadata, metrics };
  await project.ok("POST /events", { event });
  return sessionId;
}

describe("runs", () => {
  test("keep the client's id and all that it sent", async () => {
    const project = await givenAMetricProject(service);
    const sent = {
      run_id: "b3f1c1de-0000-4000-8000-000000000001",
      name: "first",
      status: "pending",
      metadata: { offline_dataset_id: "EXT-1" },
      event_ids: [],
      configuration: { function: "f", evaluators: ["e"], max_workers: 10 },
      datapoint_ids: ["EXT-a"],
      passing_ranges: { quality: { min: 0.5 } },
    };

    const { evaluation, run_id: runId } = await project.ok("POST /v1/runs", sent);

    const run = {
      ...sent,
      id: sent.run_id,
      project: project.projectId,
      results: {},
      session_ids: [],
      evaluators: [],
      is_active: true,
      dataset_id: null,
      scope_type: "project",
      scope_id: project.projectId,
      created_at: aTime,
    };
    expect([runId, evaluation]).toEqual([sent.run_id, run]);
    expect(await project.ok(`GET /v1/runs/${sent.run_id}`)).toEqual({
      evaluation: run,
      run_id: runId,
    });

    const same = await project.ok(`PUT /v1/runs/${sent.run_id}`, { name: run.name });
    expect(same["evaluation"]).toEqual(run);

    const change = {
      name: "renamed",
      status: "completed",
      event_ids: ["s1", "s2"],
      metadata: { more: 1 },
    };
    await project.ok(`PUT /v1/runs/${sent.run_id}`, change);
    const metadata = { offline_dataset_id: "EXT-1", more: 1 };
    const changed = { ...run, ...change, metadata, updated_at: aTime };
    expect(await project.ok(`GET /v1/runs/${sent.run_id}`)).toEqual({
      evaluation: changed,
      run_id: runId,
    });
    const older = Object.entries(changed).filter(([, value]) => value !== null);
    expect(await project.ok(`GET /runs/${sent.run_id}`)).toEqual({
      evaluation: Object.fromEntries(older),
      run_id: runId,
    });

    expect(await project.ok(`DELETE /v1/runs/${sent.run_id}`)).toEqual({
      id: runId,
      deleted: true,
    });
    expect((await project.call(`GET /v1/runs/${sent.run_id}`)).status).toBe(404);
    expect((await project.call(`PUT /v1/runs/${sent.run_id}`, {})).status).toBe(404);
  });

  test("lose a list or the bounds by an update that gives them empty", async () => {
    const project = await givenAMetricProject(service);
    const lists = {
      event_ids: ["s1"],
      session_ids: ["s2"],
      datapoint_ids: ["d1"],
      evaluators: ["e1"],
    };
    const passing = { passing_ranges: { quality: { min: 0.5 } } };
    const runId = await createRun(project, { name: "one", ...lists, ...passing });
    const update = async (change: Json): Promise<unknown> =>
      (await project.ok(`PUT /v1/runs/${runId}`, change))["evaluation"];

    expect(await update({ event_ids: null, name: "two" })).toMatchObject({ ...lists, ...passing });
    const empty = { event_ids: [], session_ids: [], datapoint_ids: [], evaluators: [] };
    expect(await update(empty)).toMatchObject({ ...empty, ...passing });
    expect(await update({ passing_ranges: {} })).toMatchObject({ passing_ranges: {} });
    const other = await project.call(`PUT /v1/runs/${runId}`, { emptied_lists: ["name"] });
    expect(other).toMatchObject({ status: 400 });
    // Published clients create a run once more with an empty list.
    await update({ event_ids: ["s3"] });
    await createRun(project, { run_id: runId, event_ids: [] });
    expect(await update({})).toMatchObject({ event_ids: ["s3"] });
  });

  test("of one id are one run, however often they are created", async () => {
    const project = await givenAMetricProject(service);
    const body = { run_id: "r1", name: "once", metadata: { a: 1 } };

    await Promise.all(Array.from({ length: 5 }, () => createRun(project, body)));

    const { evaluations } = await project.ok("GET /v1/runs");
    expect(evaluations).toMatchObject([{ run_id: "r1", name: "once", metadata: { a: 1 } }]);
  });

  test("name the version of their dataset", async () => {
    const project = await givenAMetricProject(service);
    const { result } = await project.ok("POST /v1/datasets", { name: "questions" });
    const { insertedId: datasetId } = result as { insertedId: string };
    await project.ok("POST /v1/datapoints", { linked_datasets: [datasetId] });

    const { evaluation } = await project.ok("POST /v1/runs", { dataset_id: datasetId });
    await project.ok("POST /v1/datapoints", { linked_datasets: [datasetId] });
    const { run_id: runId } = evaluation as { run_id: string };
    await project.ok(`PUT /v1/runs/${runId}`, { status: "completed" });

    const dataset = { dataset_id: datasetId, dataset_name: "questions", dataset_version: 2 };
    expect(await project.ok(`GET /v1/runs/${runId}`)).toMatchObject({ evaluation: dataset });
  });

  test("are listed in pages, by part of the name, status and dataset", async () => {
    const project = await givenAMetricProject(service);
    for (const n of [0, 1, 2]) {
      await createRun(project, {
        run_id: `r${n}`,
        name: `test_list_run_${n === 2 ? "b" : "a"}_${n}`,
        status: n === 0 ? "completed" : "pending",
        dataset_id: n === 1 ? "d1" : "d2",
      });
    }
    const idsBy = async (query: string): Promise<unknown> => {
      const { evaluations } = await project.ok(`GET /v1/runs?${query}`);
      return (evaluations as Listed).map(({ run_id: id }) => id);
    };

    const page = await project.ok("GET /v1/runs?limit=2&page=1");
    expect(page).toMatchObject({
      pagination: {
        page: 1,
        limit: 2,
        total: 3,
        total_unfiltered: 3,
        total_pages: 2,
        has_next: true,
        has_prev: false,
      },
      metrics: [],
    });
    expect(await idsBy("limit=2")).toEqual(["r2", "r1"]);
    expect(await idsBy("limit=2&page=2")).toEqual(["r0"]);
    expect(await idsBy("name=LIST_run_a")).toEqual(["r1", "r0"]);
    expect(await idsBy("status=completed")).toEqual(["r0"]);
    expect(await idsBy("dataset_id=d2&sort_by=name&sort_order=asc")).toEqual(["r0", "r2"]);
    expect(await idsBy("run_ids[]=r0&run_ids[]=r2")).toEqual(["r2", "r0"]);
    expect(await idsBy("run_ids=r1&run_ids=r2&sort_order=asc")).toEqual(["r1", "r2"]);
    const { evaluations } = await project.ok("GET /runs?project=any");
    expect(evaluations).toHaveLength(3);
  });

  test.each(["created_at", "updated_at", "name", "status"])(
    "are listed by cursors, whatever is created meanwhile, by %s",
    async (sortBy) => {
      const project = await givenAMetricProject(service);
      const ids = Array.from({ length: 7 }, (_, n) => `r${n}`);
      for (const id of ids) await createRun(project, { run_id: id, name: `été ${id}` });
      const order = `sort_by=${sortBy}&sort_order=desc`;

      const found: string[] = [];
      const pages: unknown[] = [];
      let cursor: string | undefined;
      do {
        const from = cursor === undefined ? "" : `&cursor=${cursor}`;
        const page = await project.ok(`GET /v1/runs?limit=3&${order}${from}`);
        found.push(...(page["evaluations"] as Listed).map(({ run_id: id }) => String(id)));
        const { page: number, has_next: next } = page["pagination"] as Json;
        pages.push([number, next]);
        cursor = page["next_cursor"] as string | undefined;
        // The list begins with this run.
        const status = "running";
        await createRun(project, { run_id: `s${pages.length}`, name: "ü", status });
      } while (cursor !== undefined);

      expect(found).toEqual(ids.toReversed());
      expect(pages).toEqual([
        [1, true],
        [2, true],
        [3, false],
      ]);
    },
  );

  test("refuse a cursor of another list, and one that was changed", async () => {
    const project = await givenAMetricProject(service);
    for (const id of ["r0", "r1"]) await createRun(project, { run_id: id });
    const { next_cursor: cursor } = await project.ok("GET /v1/runs?limit=1&sort_by=name");
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const messageOf = async (query: string): Promise<unknown> => {
      const { status, json } = await project.call(`GET /v1/runs?${query}`);
      return [status, json["message"]];
    };

    expect(await messageOf(`cursor=${String(cursor)}`)).toEqual([
      400,
      "cursor: it is of a list with another sort_by or sort_order",
    ]);
    expect(await messageOf(`sort_by=name&page=2&cursor=${String(cursor)}`)).toEqual([
      400,
      "page: must be absent where cursor is given",
    ]);
    for (const changed of [
      ["created_at", false, 2, "now", "r0"],
      ["created_at", false, 2, "9".repeat(17), "r0"],
      ["name", false, 2, "a\0", "r0"],
      ["name", false, 2, "\ud800", "r0"],
      ["cost", false, 2, "1", "r0"],
      ["name", false, 2, "1", "a\nb"],
      ["name", false, 1.5, "1", "r0"],
      ["name", false, -5, "1", "r0"],
      {},
    ]) {
      const query = `sort_by=name&cursor=${encode(changed)}`;
      expect(await messageOf(query)).toEqual([400, "cursor: it is not a next_cursor"]);
    }
  });

  test.each([
    ["POST /v1/runs", { run_id: "a\nb" }, "run_id: must be 1 to 128 printable characters"],
    [
      "POST /v1/runs",
      { status: "done" },
      'status: must be one of pending, running, completed, failed, cancelled, not "done"',
    ],
    [
      "POST /v1/runs",
      { passing_ranges: { q: { min: 2, max: 1 } } },
      "passing_ranges.q: min must not be above max",
    ],
    [
      "POST /v1/runs",
      { passing_ranges: { q: { minimum: 2 } } },
      "passing_ranges.q.minimum: is not a known key",
    ],
    ["GET /v1/runs?limit=101", undefined, "limit: must be from 1 to 100"],
    [
      "GET /v1/runs?sort_by=cost",
      undefined,
      'sort_by: must be one of created_at, updated_at, name, status, not "cost"',
    ],
  ])("refuse by name: %s %j", async (route, body, message) => {
    const project = await givenAMetricProject(service);

    const { status, json } = await project.call(route, body);

    expect({ status, message: json["message"] }).toEqual({ status: 400, message });
  });
});

describe("the usage of a run", () => {
  /** Stores a session of a run with a model call in it. */
  async function giveCall(
    project: MetricProject,
    { runId, duration, ...call }: Json & { readonly runId: string; readonly duration: number },
  ): Promise<string> {
    const metadata = { run_id: runId };
    const times = { start_time: 1_764_000_000_000, end_time: 1_764_000_000_000 + duration };
    const started = await project.ok("POST /session/start", {
      session: { session_name: "one", source: "evaluation", metadata, ...times },
    });
    const sessionId = String(started["session_id"]);
    const model = { event_type: "model", event_name: "call", source: "evaluation", inputs: {} };
    await project.ok("POST /events", {
      event: { ...model, ...times, session_id: sessionId, ...call },
    });
    return sessionId;
  }

  test("sums the calls of its sessions, and no others", async () => {
    const project = await givenAMetricProject(service);
    const runId = await createRun(project, { name: "used" });
    const other = await createRun(project, { name: "other" });
    const tokens = { prompt_tokens: 10, completion_tokens: 5 };
    await giveCall(project, { runId, duration: 100, metadata: { ...tokens, cost: 0.25 } });
    await giveCall(project, { runId, duration: 300, metadata: { ...tokens, cost: 0.5 } });
    const failed = { duration: 500, metadata: tokens, error: "timeout" };
    await giveCall(project, { runId, ...failed });
    // GPT-4o costs $2.50 for a million prompt tokens, and this call has no cost of its own.
    const config = { model: "gpt-4o", provider: "openai" };
    const sent = { prompt_tokens: 1_000_000, completion_tokens: 0 };
    await giveCall(project, { runId, duration: 300, config, metadata: sent });
    await giveCall(project, { runId, duration: 300, config, metadata: { ...tokens, cost: 1 } });
    await giveCall(project, { runId: other, duration: 9_000, metadata: { cost: 7 } });

    expect(await project.ok(`GET /v1/runs/${runId}/usage`)).toEqual({
      sessions: 5,
      totals: {
        num_events: 5,
        num_model_events: 5,
        num_errors: 1,
        prompt_tokens: 1_000_040,
        completion_tokens: 20,
        total_tokens: 1_000_060,
        cost: 1.75,
        has_feedback: false,
      },
      estimated_cost: 2.5,
      duration_p50: 300,
      duration_p95: 460,
    });
  });

  test("has the sessions that the run lists, those that are stored", async () => {
    const project = await givenAMetricProject(service);
    const other = await createRun(project, { name: "other" });
    const listed = await giveCall(project, { runId: other, duration: 100, metadata: { cost: 1 } });
    const runId = await createRun(project, { event_ids: [listed, "absent"] });

    expect(await project.ok(`GET /v1/runs/${runId}/usage`)).toMatchObject({
      sessions: 1,
      totals: { num_events: 1, cost: 1 },
      duration_p50: 100,
    });
  });

  test("of a run without sessions has no cost and no durations", async () => {
    const project = await givenAMetricProject(service);
    const runId = await createRun(project, { name: "empty" });

    const usage = await project.ok(`GET /v1/runs/${runId}/usage`);

    expect(usage).toMatchObject({ sessions: 0, totals: { num_events: 0, total_tokens: 0 } });
    expect(usage["totals"]).not.toHaveProperty("cost");
    expect(Object.keys(usage)).toEqual(["sessions", "totals"]);
    expect((await project.call("GET /v1/runs/absent/usage")).status).toBe(404);
  });
});

describe("the result of a run", () => {
  test("has what was acknowledged a moment ago", async () => {
    const project = await givenAMetricProject(service);
    const passing = { passing_ranges: { quality: { min: 0.5 } } };
    const runId = await createRun(project, { name: "a run", ...passing });
    const [one, two] = [
      await giveScores(project, { runId, datapoint: "d1", metrics: { quality: 1 } }),
      await giveScores(project, {
        runId,
        datapoint: "d2",
        metrics: { quality: 0.25, quality_explanation: "short" },
      }),
    ];
    await giveScores(project, { runId: "another", datapoint: "d1", metrics: { quality: 9 } });

    const result = await project.ok(`GET /v1/runs/${runId}/result?aggregate_function=average`);

    expect(result).toMatchObject({
      status: "pending",
      success: false,
      passed: ["d1"],
      failed: ["d2"],
      metrics: {
        aggregation_function: "average",
        details: [
          {
            metric_name: "quality",
            metric_type: "CLIENT_SIDE",
            event_name: "answer",
            event_type: "chain",
            aggregate: 0.625,
            values: [1, 0.25],
            passing_range: { min: 0.5 },
            datapoints: { passed: ["d1"], failed: ["d2"] },
          },
        ],
      },
      datapoints: [
        {
          datapoint_id: "d1",
          session_id: one,
          passed: true,
          metrics: [{ name: "quality", event_name: "answer", value: 1, passed: true }],
        },
        { datapoint_id: "d2", session_id: two, passed: false },
      ],
      run_object: { run_id: runId, name: "a run" },
    });
    expect((result["event_details"] as Listed).map((one) => one["event_type"])).toEqual([
      "chain",
      "session",
      "session",
    ]);
  });

  test("leaves out what has an entry for each datapoint, if asked", async () => {
    const project = await givenAMetricProject(service);
    const runId = await createRun(project, { passing_ranges: { quality: { min: 0.5 } } });
    for (const [datapoint, quality] of Object.entries({ d1: 1, d2: 0.25 })) {
      await giveScores(project, { runId, datapoint, metrics: { quality, tone: "warm" } });
    }
    const path = `GET /v1/runs/${runId}/result`;

    const whole = await project.ok(path);
    const short = await project.ok(`${path}?without_datapoints=true`);

    const { details = [], ...metrics } = whole["metrics"] as { details?: Listed };
    const none = { values: [], texts: undefined, datapoints: { passed: [], failed: [] } };
    expect(short).toEqual({
      ...whole,
      passed: [],
      failed: [],
      datapoints: [],
      metrics: {
        ...metrics,
        details: details.map((detail) => ({ ...detail, ...none })),
      },
    });
    expect(details.map(({ aggregate }) => aggregate)).toEqual([0.625, null]);
    expect(short["success"]).toBe(false);
  });

  test("has the sessions that the run lists, whose events name no run", async () => {
    const project = await givenAMetricProject(service);
    const started = await project.ok("POST /session/start", { session: { session_name: "s" } });
    const sessionId = started["session_id"] as string;
    const runId = await createRun(project, { name: "older", event_ids: [sessionId] });
    await project.ok("PUT /events", {
      event_id: sessionId,
      metrics: { quality: 0.5, passed: true },
      metadata: { datapoint_id: "EXT-1" },
    });

    const result = await project.ok(`GET /runs/${runId}/result?project_id=any`);

    expect(result).toMatchObject({
      success: true,
      passed: ["EXT-1"],
      metrics: {
        details: [
          { metric_name: "passed", values: [1], aggregate: 1 },
          { metric_name: "quality", values: [0.5], event_type: "session" },
        ],
      },
    });
  });

  test("takes filters and aggregates", async () => {
    const project = await givenAMetricProject(service);
    const runId = await createRun(project, {});
    for (const [datapoint, name, quality] of [
      ["d1", "one", 1],
      ["d2", "one", 3],
      ["d3", "two", 9],
    ] as const) {
      await giveScores(project, { runId, datapoint, name, metrics: { quality } });
    }
    const filters = [{ field: "event_name", operator: "is", value: "one", type: "string" }];
    const query = `aggregate_function=max&filters=${encodeURIComponent(JSON.stringify(filters))}`;

    const result = await project.ok(`GET /v1/runs/${runId}/summary?${query}`);

    expect(result["metrics"]).toMatchObject({
      aggregation_function: "max",
      details: [{ event_name: "one", aggregate: 3, values: [1, 3] }],
    });
    const refused = await project.call(`GET /v1/runs/${runId}/result?aggregate_function=mode`);
    expect(refused).toMatchObject({
      status: 400,
      json: {
        message: expect.stringMatching(
          /^aggregate_function: must be one of average, sum, count, min, max.*, not "mode"$/,
        ) as string,
      },
    });
  });

  test("has texts as scores, except for older clients, which refuse them", async () => {
    const project = await givenAMetricProject(service);
    const runId = await createRun(project, { name: "texts" });
    const metrics = { grade: "good", length: 3, right: true };
    await giveScores(project, { runId, datapoint: "d", metrics });
    const scoresOf = async (path: string) => {
      const { datapoints } = await project.ok(`GET ${path}/runs/${runId}/result`);
      const [{ metrics: scores } = {}] = datapoints as { readonly metrics: Listed }[];
      return scores?.map(({ name, value }) => [name, value]);
    };

    expect(await scoresOf("/v1")).toEqual([
      ["grade", "good"],
      ["right", true],
      ["length", 3],
    ]);
    expect(await scoresOf("")).toEqual([
      ["grade", undefined],
      ["right", true],
      ["length", 3],
    ]);
  });

  test("fails a datapoint whose session has an error, without a score too", async () => {
    const project = await givenAMetricProject(service);
    const runId = await createRun(project, {});
    const events = ["d1", "d2"].map((datapoint_id) => ({
      event_type: "session",
      event_id: `${runId} ${datapoint_id}`,
      session_id: `${runId} ${datapoint_id}`,
      source: "evaluation",
      inputs: {},
      error: datapoint_id === "d2" ? "the model is away" : "",
      metadata: { run_id: runId, datapoint_id },
    }));
    await project.ok("POST /events/batch", { events });

    const result = await project.ok(`GET /v1/runs/${runId}/result`);

    expect(result).toMatchObject({
      success: false,
      passed: ["d1"],
      failed: ["d2"],
      datapoints: [
        { datapoint_id: "d1", passed: true, metrics: [] },
        { datapoint_id: "d2", passed: false, metrics: [] },
      ],
    });
  });

  test("of a run without events is empty", async () => {
    const project = await givenAMetricProject(service);
    const runId = await createRun(project, {});

    const result = await project.ok(`GET /v1/runs/${runId}/result`);

    expect(result).toMatchObject({
      success: true,
      passed: [],
      failed: [],
      metrics: { details: [] },
      datapoints: [],
      event_details: [],
    });
  });
});

/** Returns the same JSON without members that are null, as older clients read it. */
function withoutNulls(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, inner: unknown) => inner ?? undefined));
}

describe("two runs", () => {
  async function givenTwoRuns(project: MetricProject) {
    const older = await createRun(project, { name: "older" });
    const newer = await createRun(project, { name: "newer" });
    for (const [datapoint, before, after] of [
      ["d1", 1, 2],
      ["d2", 2, 2],
      ["d3", 3, 1],
    ] as const) {
      await giveScores(project, { runId: older, datapoint, metrics: { quality: before } });
      await giveScores(project, { runId: newer, datapoint, metrics: { quality: after } });
    }
    return { older, newer };
  }

  test("are compared datapoint by datapoint", async () => {
    const project = await givenAMetricProject(service);
    const { older, newer } = await givenTwoRuns(project);

    const compared = await project.ok(`GET /v1/runs/${newer}/compare-with/${older}`);

    expect(compared).toMatchObject({
      metrics: [
        {
          metric_name: "quality",
          old_aggregate: 2,
          found_count: 3,
          improved_count: 1,
          degraded_count: 1,
          same_count: 1,
          improved: ["d1"],
          degraded: ["d3"],
          same: ["d2"],
          old_values: [1, 2, 3],
          new_values: [2, 2, 1],
          better: "greater",
          paired_test: { test: "paired t-test", n: 3, confidence_level: 0.95 },
        },
      ],
      old_run: { run_id: older },
      new_run: { run_id: newer },
    });
    expect((compared["commonDatapoints"] as string[]).toSorted()).toEqual(["d1", "d2", "d3"]);
    const kinds = compared["event_details"] as Listed;
    expect(kinds.every(({ presence }) => presence === "both")).toBe(true);
    expect(await project.ok(`GET /v1/runs/${newer}/compare/${older}`)).toEqual(compared);
    expect(await project.ok(`GET /runs/${newer}/compare-with/${older}`)).toEqual(
      withoutNulls(compared),
    );
    expect((await project.call(`GET /v1/runs/${newer}/compare-with/absent`)).status).toBe(404);
  });

  test("are compared by texts, too", async () => {
    const project = await givenAMetricProject(service);
    const [older, newer] = [await createRun(project, {}), await createRun(project, {})];
    for (const [datapoint, before, after] of [
      ["d1", "glad", "sad"],
      ["d2", "sad", "sad"],
    ] as const) {
      await giveScores(project, { runId: older, datapoint, metrics: { mood: before } });
      await giveScores(project, { runId: newer, datapoint, metrics: { mood: after } });
    }

    const { metrics } = await project.ok(`GET /v1/runs/${newer}/compare-with/${older}`);

    expect(metrics).toMatchObject([
      {
        metric_name: "mood",
        found_count: 2,
        same: ["d2"],
        changed: ["d1"],
        old_texts: { glad: 1, sad: 1 },
        new_texts: { sad: 2 },
      },
    ]);
  });

  test("give pairs of events by datapoint", async () => {
    const project = await givenAMetricProject(service);
    const { older, newer } = await givenTwoRuns(project);
    const query = `run_id_1=${newer}&run_id_2=${older}&event_type=session`;

    const { events, totalEvents } = await project.ok(`GET /v1/runs/compare/events?${query}`);

    expect(totalEvents).toBe(3);
    expect(events).toMatchObject(
      ["d1", "d2", "d3"].map((id) => ({
        datapoint_id: id,
        event_1: { event_type: "session", metadata: { datapoint_id: id, run_id: newer } },
        event_2: { event_type: "session", metadata: { datapoint_id: id, run_id: older } },
      })),
    );
    const path = `/v1/runs/${newer}/compare/${older}/events?event_type=chain&limit=1&page=2`;
    expect(await project.ok(`GET ${path}`)).toMatchObject({
      events: [{ datapoint_id: "d2", event_1: { metrics: { quality: 2 } } }],
      totalEvents: 3,
    });
  });

  test("pair sessions, not the events of type session inside of them", async () => {
    const project = await givenAMetricProject(service);
    const runs: string[] = [];
    for (const name of ["older", "newer"]) {
      const runId = await createRun(project, { name });
      const sessionId = await giveScores(project, { runId, datapoint: "d", metrics: { a: 1 } });
      // It began before its session, so it comes first in the order of time.
      const inner = { event_type: "session", event_name: "inner", source: "evaluation" };
      const ids = { event_id: `inside ${sessionId}`, session_id: sessionId };
      const metadata = { run_id: runId, datapoint_id: "d" };
      await project.ok("POST /events", {
        event: { ...inner, ...ids, inputs: {}, metadata, start_time: 1_000 },
      });
      runs.push(runId);
    }

    const query = `run_id_1=${runs[1]}&run_id_2=${runs[0]}`;
    const { events } = await project.ok(`GET /v1/runs/compare/events?${query}`);

    const outer = { event_type: "session", event_name: "on d" };
    expect(events).toMatchObject([{ datapoint_id: "d", event_1: outer, event_2: outer }]);
  });

  test("have scores as events, and a schema", async () => {
    const project = await givenAMetricProject(service);
    const { older } = await givenTwoRuns(project);

    const { events, totalEvents } = await project.ok(`GET /v1/runs/${older}/metrics`);

    expect(totalEvents).toBe(3);
    expect(events).toMatchObject(
      [1, 2, 3].map((n) => ({
        event_name: "answer",
        event_type: "chain",
        metadata: { datapoint_id: `d${n}` },
        metrics: { quality: n },
      })),
    );
    const schema = {
      fields: [{ name: "metrics.quality", event_type: "chain" }],
      datasets: [],
      mappings: { answer: [{ field_name: "metrics.quality", event_type: "chain" }] },
    };
    expect(await project.ok(`GET /v1/runs/${older}/schema`)).toEqual(schema);
    expect(await project.ok("GET /v1/runs/schema")).toEqual(schema);
  });

  test("have those of a range of time, bounds included", async () => {
    const project = await givenAMetricProject(service);
    const runId = await createRun(project, {});
    const at = 1_760_000_000_000;
    for (const [name, start_time] of [
      ["early", at],
      ["late", at + 1],
    ] as const) {
      const event = { event_type: "chain", event_name: name, source: "evaluation", inputs: {} };
      const scored = { metrics: { [name]: 1 }, metadata: { run_id: runId }, start_time };
      await project.ok("POST /events", { event: { ...event, ...scored } });
    }
    const namesIn = async (range: object) => {
      const query = `dateRange=${encodeURIComponent(JSON.stringify(range))}`;
      const { events } = await project.ok(`GET /v1/runs/${runId}/metrics?${query}`);
      const { mappings } = await project.ok(`GET /v1/runs/${runId}/schema?${query}`);
      const names = (events as { event_name: string }[]).map((event) => event.event_name);
      expect(Object.keys(mappings as object).toSorted()).toEqual(names.toSorted());
      return names;
    };

    expect(await namesIn({ $gte: at, $lte: at + 1 })).toEqual(["early", "late"]);
    expect(await namesIn({ $gte: at + 1 })).toEqual(["late"]);
    expect(await namesIn({ $lte: at })).toEqual(["early"]);
  });
});
