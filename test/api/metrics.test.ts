// Metrics over the whole service, with the real parser of Python: stored and answered fields, under
// today's names and older ones, and refusals. access.test.ts tests permissions.

import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { beforeAll, describe, expect, test } from "vitest";
import { MetricService } from "../../gen/waggle/v1/metric_pb.js";
import { givenStarted } from "../support/given.ts";
import { anEvaluator, givenAMetricProject, warmSandbox } from "../support/metrics.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(() => startService({ "evaluator-code-max": "2000" }));

beforeAll(async () => {
  await warmSandbox(service);
});

const judge = {
  name: "tone",
  type: "LLM",
  criteria: "Rate {{ outputs.content }} from 1 to 5 as [[x]].",
  model_provider: "openai",
  model_name: "gpt-4o-mini",
};

describe("POST /v1/metrics", () => {
  test("stores what is required, with the documented defaults", async () => {
    const project = await givenAMetricProject(service);

    const made = await project.call("POST /v1/metrics", anEvaluator);
    const id = String(made.json["metric_id"]);
    const got = await project.call(`GET /v1/metrics/${id}`);

    expect(made).toMatchObject({ status: 200, json: { inserted: true, metric_id: id } });
    expect(got.json).toEqual({
      id,
      ...anEvaluator,
      description: "",
      return_type: "float",
      enabled_in_prod: false,
      needs_ground_truth: false,
      sampling_percentage: 10,
      model_provider: null,
      model_name: null,
      scale: null,
      threshold: null,
      categories: [],
      filters: { filterArray: [] },
      created_at: expect.any(String) as string,
      updated_at: null,
      version: "v1",
      disabled_reason: null,
    });
  });

  test("stores all that may be said, as it was said", async () => {
    const project = await givenAMetricProject(service);
    const said = {
      ...judge,
      description: "How it sounds.",
      return_type: "categorical",
      enabled_in_prod: true,
      sampling_percentage: 33.5,
      scale: 5,
      threshold: { passing_categories: ["good"] },
      categories: [
        { category: "good", score: 1 },
        { category: "bad", score: null },
      ],
      filters: {
        filterArray: [
          { field: "event_type", operator: "is", value: "model", type: "string" },
          { field: "metadata.cost", operator: "greater than", value: 0.5, type: "number" },
          { field: "metadata.not.seen.yet", operator: "exists" },
          { field: "error", operator: "is", value: null },
        ],
      },
    };

    const got = await project.call(`GET /v1/metrics/${await project.make(said)}`);

    expect(got.json).toMatchObject(said);
  });

  test("keeps the scale of a Python metric, which published clients send", async () => {
    const project = await givenAMetricProject(service);
    const id = await project.make({ ...anEvaluator, scale: 5 });

    const got = await project.call(`GET /v1/metrics/${id}`);

    expect(got.json).toMatchObject({ type: "PYTHON", scale: 5 });
  });

  test("shows each filter with a value and a type, as clients want them", async () => {
    const project = await givenAMetricProject(service);
    const given = [
      { field: "outputs.content", operator: "exists" },
      { field: "error", operator: "is", value: null },
      { field: "event_type", operator: "is", value: "model" },
      { field: "event_name", operator: "is", value: 5 },
      { field: "metadata.cost", operator: "greater than", value: "0.5" },
      { field: "metadata.cost", operator: "is", value: 1 },
      { field: "metadata.isBeta", operator: "is not", value: true },
      { field: "metadata.tags", operator: "contains", value: 1 },
      { field: "duration", operator: "is", value: 1 },
      { field: "start_time", operator: "greater than", value: 1 },
      { field: "metadata.at", operator: "before", value: "2026-01-01" },
    ];
    const id = await project.make({ ...anEvaluator, filters: { filterArray: given } });

    const { json } = await project.call(`GET /v1/metrics/${id}`);
    await project.call(`PUT /v1/metrics/${id}`, { filters: json["filters"] });
    const versions = await project.call(`GET /v1/metrics/${id}/versions`);

    const types = ["string", "string", "string", "string", "number", "number", "boolean"];
    types.push("string", "number", "datetime", "datetime");
    const whole = given.map((filter, index) => ({ value: null, ...filter, type: types[index] }));
    expect(json["filters"]).toEqual({ filterArray: whole });
    expect(versions.json["data"]).toMatchObject([{ content: { filters: json["filters"] } }]);
  });

  test.each([
    { name: "attribute of the code", criteria: "result = event['feedback']['ground_truth'] == 1" },
    { ...judge, name: "a prompt", criteria: "{{ outputs.content }} {{ feedback.ground_truth }}" },
  ])("finds by itself that $name reads ground truth, whatever is said", async (said) => {
    const project = await givenAMetricProject(service);
    const body = { ...anEvaluator, ...said, needs_ground_truth: false };

    const got = await project.call(`GET /v1/metrics/${await project.make(body)}`);

    expect(got.json["needs_ground_truth"]).toBe(true);
  });

  const python = (more: object) => ({ ...anEvaluator, ...more });
  const llm = (more: object) => ({ ...judge, ...more });
  const filtered = (filter: object) => python({ filters: { filterArray: [filter] } });
  test.each([
    { body: {}, want: "type: is required" },
    { body: { type: "PYTHON" }, want: "name: is required" },
    { body: python({ criteria: "" }), want: "criteria: is required" },
    { body: python({ criteria: " \n" }), want: "criteria: must not be blank" },
    { body: python({ name: " x" }), want: "name: must neither begin nor end with a blank" },
    { body: python({ name: "a\nb" }), want: "name: must not hold control" },
    { body: python({ name: "x".repeat(201) }), want: "name: must be at most 200" },
    { body: python({ name: "x_failure" }), want: "name: must not end in _failure" },
    { body: python({ name: "x_explanation" }), want: "name: must not end in _explanation" },
    { body: python({ type: "RUBY" }), want: "type: must be PYTHON, LLM or HUMAN" },
    { body: python({ type: "constructor" }), want: "type: must be PYTHON" },
    { body: python({ type: "COMPOSITE" }), want: "type: composite evaluators were removed; make" },
    { body: python({ child_metrics: [{}] }), want: "child_metrics: composite evaluators" },
    { body: python({ criteria: "x = (" }), want: "criteria: line 1, column 5: " },
    {
      body: { name: "x", type: "custom", code_snippet: "result = 1\n\n  y" },
      want: "code_snippet: line 3, column 2: IndentationError: unexpected indent",
    },
    { body: python({ criteria: "x = 1 #\0" }), want: "criteria: must hold neither NUL" },
    { body: python({ criteria: `# ${"x".repeat(2_000)}` }), want: "criteria: must be at most" },
    {
      body: python({ criteria: `# ${"é".repeat(1_500)}` }),
      want: "criteria: has 3002 bytes; at most 2000",
    },
    { body: python({ prompt: "other" }), want: "prompt: says something else than criteria" },
    { body: llm({ criteria: "Rate {{ nothing.x }}" }), want: "criteria: line 1, column 6: " },
    { body: llm({ criteria: "a\n{{ outputs" }), want: "criteria: line 2, column 1: " },
    { body: llm({ model_provider: "" }), want: "model_provider: is required for type LLM" },
    { body: llm({ model_name: null }), want: "model_name: is required for type LLM" },
    { body: llm({ scale: 0 }), want: "scale: must be a whole number from 1 to 1000" },
    { body: llm({ scale: 2.5 }), want: "scale" },
    { body: python({ scale: 0 }), want: "scale: must be a whole number from 1 to 1000" },
    { body: python({ return_type: "int" }), want: "return_type: must be float, boolean, string" },
    { body: python({ sampling_percentage: 101 }), want: "sampling_percentage: must be from 0" },
    { body: python({ sampling_percentage: "all" }), want: "sampling_percentage" },
    { body: python({ threshold: { min: 2, max: 1 } }), want: "threshold.min: must not be above" },
    { body: python({ threshold: { pass_when: true } }), want: "threshold.pass_when: does not fit" },
    { body: python({ threshold: { pass_when: [1] } }), want: "threshold.pass_when: does not fit" },
    { body: python({ threshold: { least: 1 } }), want: "threshold.least" },
    {
      body: python({ return_type: "boolean", threshold: { min: 1 } }),
      want: "threshold.min: is for floats; for booleans give true or false as pass_when",
    },
    { body: python({ return_type: "categorical" }), want: "categories: are required" },
    { body: python({ categories: [{ category: "a" }] }), want: "categories: are only for" },
    {
      body: python({
        return_type: "categorical",
        categories: [{ category: "Good" }, { category: "good " }],
      }),
      want: "categories[1].category: is given twice",
    },
    {
      body: python({
        return_type: "categorical",
        categories: [{ category: "good" }],
        threshold: { passing_categories: ["great"] },
      }),
      want: 'threshold.passing_categories: holds "great", which is none of categories',
    },
    { body: filtered({ field: "nowhere", operator: "exists" }), want: "nowhere: no such field" },
    {
      body: filtered({ field: "source", operator: "like", value: 1 }),
      want: "source: the operator",
    },
    {
      body: filtered({ field: "metadata.x", operator: "is", value: "a\0b" }),
      want: "filters.filterArray[0].value: must hold neither NUL",
    },
    {
      body: filtered({ field: "metadata.x", operator: "is", value: "x".repeat(60_000) }),
      want: "filters.filterArray[0].value: must be at most",
    },
    { body: python({ event_type: "span" }), want: "event_type: must be model, tool" },
    { body: python({ pass_when: true, threshold: { pass_when: 1 } }), want: "pass_when: says" },
    { body: python({ sampling: 5 }), want: "sampling: is not a known key" },
  ])("refuses $body, saying $want, and stores nothing", async ({ body, want }) => {
    const project = await givenAMetricProject(service);

    const got = await project.call("POST /v1/metrics", body);
    const listed = await project.call("GET /v1/metrics");

    expect(got.status).toBe(400);
    expect(got.json["message"]).toContain(want);
    expect(listed.json).toEqual({ metrics: [] });
  });

  test("a `pass_when` that does not fit is refused under the name that was sent", async () => {
    const project = await givenAMetricProject(service);

    const got = await project.call("POST /v1/metrics", python({ pass_when: true }));

    expect(got.json["message"]).toMatch(/^pass_when: does not fit return_type float/);
  });

  test("of a name that another metric has is a conflict until that is deleted", async () => {
    const project = await givenAMetricProject(service);
    const id = await project.make(anEvaluator);

    const taken = await project.call("POST /v1/metrics", anEvaluator);
    await project.call(`DELETE /v1/metrics/${id}`);
    const free = await project.call("POST /v1/metrics", anEvaluator);

    expect(taken).toMatchObject({ status: 409, json: { errorCode: "NAME_TAKEN" } });
    expect(free.status).toBe(200);
  });

  test("at the same time under one name makes one", async () => {
    const project = await givenAMetricProject(service);

    const answers = await Promise.all(
      Array.from({ length: 6 }, () => project.call("POST /v1/metrics", anEvaluator)),
    );

    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([200, 409, 409, 409, 409, 409]);
  });

  test("made twice with one Idempotency-Key is made once", async () => {
    const project = await givenAMetricProject(service);
    const headers = { "idempotency-key": "once" };

    const first = await project.call("POST /v1/metrics", anEvaluator, headers);
    const second = await project.call("POST /v1/metrics", anEvaluator, headers);

    expect(first.status).toBe(200);
    expect(second.text).toBe(first.text);
  });
});

describe("PUT /v1/metrics", () => {
  test.each([
    { name: "the path", route: (id: string) => `PUT /v1/metrics/${id}`, ids: () => ({}) },
    { name: "id", route: () => "PUT /v1/metrics", ids: (id: string) => ({ id }) },
    { name: "metric_id", route: () => "PUT /metrics", ids: (id: string) => ({ metric_id: id }) },
  ])("changes what is given of the metric that $name names", async ({ route, ids }) => {
    const project = await givenAMetricProject(service);
    const id = await project.make(anEvaluator);
    const change = { description: "Characters.", threshold: { min: 1 }, sampling_percentage: 100 };

    const put = await project.call(route(id), { ...ids(id), ...change, criteria: null });
    const got = await project.call(`GET /v1/metrics/${id}`);

    expect(put).toMatchObject({ status: 200, json: { updated: true } });
    expect(got.json).toMatchObject({ ...anEvaluator, ...change, version: "v2" });
    expect(got.json["updated_at"]).toEqual(expect.any(String));
  });

  test("that changes nothing makes no version", async () => {
    const project = await givenAMetricProject(service);
    const said = { ...anEvaluator, threshold: { max: 3, min: 1 }, event_type: "model" };
    const id = await project.make(said);

    await project.call(`PUT /v1/metrics/${id}`, { ...said, name: anEvaluator.name });
    const got = await project.call(`GET /v1/metrics/${id}`);

    expect(got.json).toMatchObject({ version: "v1", updated_at: null });
  });

  test("of the return type drops the categories, and {} the threshold", async () => {
    const project = await givenAMetricProject(service);
    const id = await project.make({
      ...anEvaluator,
      return_type: "categorical",
      categories: [{ category: "good" }],
      threshold: { passing_categories: ["good"] },
    });

    const kept = await project.call(`PUT /v1/metrics/${id}`, { return_type: "boolean" });
    const put = await project.call(`PUT /v1/metrics/${id}`, {
      return_type: "boolean",
      threshold: {},
      pass_when: true,
    });
    const got = await project.call(`GET /v1/metrics/${id}`);

    expect(kept.json["message"]).toContain("threshold.passing_categories: is for categories");
    expect(put.status).toBe(200);
    expect(got.json).toMatchObject({ categories: [], threshold: { pass_when: true } });
  });

  test("with [] empties the categories, which only a categorical metric must have", async () => {
    const project = await givenAMetricProject(service);
    const categories = [{ category: "good", score: 1 }];
    const id = await project.make({ ...anEvaluator, return_type: "categorical", categories });
    const put = (change: object) => project.call(`PUT /v1/metrics/${id}`, change);

    const refused = await put({ categories: [] });
    const kept = await project.call(`GET /v1/metrics/${id}`);
    const changed = await put({ categories: [], child_metrics: [], return_type: "string" });
    const other = await put({ emptied_lists: ["name"] });

    expect([refused.status, refused.json["message"]]).toEqual([
      400,
      "categories: are required for return_type categorical",
    ]);
    expect(kept.json).toMatchObject({ categories });
    expect(changed.status).toBe(200);
    expect(other.status).toBe(400);
  });

  test("of the type parses the text that was there, and drops what only judges have", async () => {
    const project = await givenAMetricProject(service);
    const id = await project.make({ ...judge, scale: 5 });

    const asCode = await project.call(`PUT /v1/metrics/${id}`, { type: "PYTHON" });
    const asQuestion = await project.call(`PUT /v1/metrics/${id}`, { type: "human" });
    const got = await project.call(`GET /v1/metrics/${id}`);

    expect(asCode.json["message"]).toContain("criteria: line 1, column");
    expect(asQuestion.status).toBe(200);
    expect(got.json).toMatchObject({ type: "HUMAN", model_provider: null, scale: 5 });
  });

  test.each([
    { body: {}, status: 400, want: "id: is required, here or as metric_id" },
    { body: { id: "a", metric_id: "b" }, status: 400, want: "metric_id: is another one than id" },
    { body: { id: "not-a-uuid", name: "x" }, status: 404, want: "Not found" },
    { body: { id: crypto.randomUUID(), name: "x" }, status: 404, want: "Not found" },
  ])("answers $status to $body", async ({ body, status, want }) => {
    const project = await givenAMetricProject(service);

    const got = await project.call("PUT /v1/metrics", body);

    expect(got.status).toBe(status);
    expect(got.json["message"]).toContain(want);
  });

  test("refuses a name that another metric has", async () => {
    const project = await givenAMetricProject(service);
    await project.make(anEvaluator);
    const id = await project.make({ ...anEvaluator, name: "other" });

    const got = await project.call(`PUT /v1/metrics/${id}`, { name: anEvaluator.name });

    expect(got).toMatchObject({ status: 409, json: { errorCode: "NAME_TAKEN" } });
  });

  test("at the same time changes everything that was asked for", async () => {
    const project = await givenAMetricProject(service);
    const id = await project.make(anEvaluator);
    const changes = [
      { description: "one" },
      { sampling_percentage: 20 },
      { threshold: { min: 2 } },
      { enabled_in_prod: true },
    ];

    await Promise.all(changes.map((change) => project.call(`PUT /v1/metrics/${id}`, change)));
    const got = await project.call(`GET /v1/metrics/${id}`);

    expect(got.json).toMatchObject({ ...Object.assign({}, ...changes), version: "v5" });
  });
});

describe("DELETE /v1/metrics", () => {
  test.each([
    { route: (id: string) => `DELETE /v1/metrics/${id}` },
    { route: (id: string) => `DELETE /v1/metrics?metric_id=${id}` },
    { route: (id: string) => `DELETE /metrics?metric_id=${id}` },
  ])("by $route deletes once", async ({ route }) => {
    const project = await givenAMetricProject(service);
    const id = await project.make(anEvaluator);

    const deleted = await project.call(route(id));
    const again = await project.call(route(id));
    const listed = await project.call("GET /v1/metrics");

    expect(deleted).toMatchObject({ status: 200, json: { deleted: true } });
    expect(again.status).toBe(404);
    expect(listed.json).toEqual({ metrics: [] });
  });
});

describe("GET /v1/metrics", () => {
  test("lists by name, by type, by id and in pages", async () => {
    const project = await givenAMetricProject(service);
    const other = await givenAMetricProject(service);
    await other.make(anEvaluator);
    const ids = [
      await project.make({ ...judge, name: "b" }),
      await project.make({ ...anEvaluator, name: "C" }),
      await project.make({ ...anEvaluator, name: "ä b" }),
    ];
    const namesOf = async (query: string) => {
      const { json } = await project.call(`GET /v1/metrics${query}`);
      const metrics = json["metrics"] as readonly { readonly name: string }[];
      return { names: metrics.map(({ name }) => name), cursor: json["next_cursor"] };
    };

    const first = await namesOf("?limit=2");
    const rest = await namesOf(`?limit=2&cursor=${String(first.cursor)}`);

    expect((await namesOf("")).names).toEqual(["C", "b", "ä b"]);
    expect(first.names).toEqual(["C", "b"]);
    expect(rest).toEqual({ names: ["ä b"], cursor: undefined });
    expect((await namesOf("?type=model")).names).toEqual(["b"]);
    expect((await namesOf(`?id=${ids[1]}`)).names).toEqual(["C"]);
    expect((await namesOf("?id=nothing")).names).toEqual([]);
  });

  test.each([
    { query: "limit=0", want: "limit" },
    { query: "limit=1001", want: "limit" },
    { query: "cursor=%00", want: "cursor: it is not a next_cursor" },
    // The number 7, as a cursor of a list of versions has it.
    { query: "cursor=Nw", want: "cursor: it is not a next_cursor" },
    { query: "type=ruby", want: "type: must be PYTHON, LLM or HUMAN" },
  ])("refuses $query", async ({ query, want }) => {
    const project = await givenAMetricProject(service);

    const got = await project.call(`GET /v1/metrics?${query}`);

    expect(got.status).toBe(400);
    expect(got.json["message"]).toContain(want);
  });
});

describe("clients of the unversioned forms", () => {
  test("create, list, change and delete in their own names", async () => {
    const project = await givenAMetricProject(service);
    const metric = {
      name: "polite",
      task: "demo",
      type: "custom",
      description: "Is it?",
      return_type: "boolean",
      code_snippet: "result = True",
      pass_when: true,
      enabled_in_prod: false,
      needs_ground_truth: true,
      event_name: "reply",
      event_type: "model",
      threshold: {},
      child_metrics: [],
      something_else: 1,
    };

    const made = await project.call("POST /metrics", metric);
    const listed = await project.call("GET /metrics?project_name=stale");
    const [own] = listed.json as unknown as readonly Record<string, unknown>[];
    const put = await project.call("PUT /metrics", { ...own, metric_id: own?.["_id"] });
    const moved = await project.call("PUT /metrics", {
      metric_id: own?.["_id"],
      event_name: "all",
      event_type: "tool",
    });
    const got = await project.call(`GET /v1/metrics/${String(own?.["_id"])}`);

    expect(made).toMatchObject({ status: 200, json: { inserted: true } });
    expect(listed.json).toEqual([
      {
        _id: made.json["metric_id"],
        name: "polite",
        task: "demo",
        type: "custom",
        description: "Is it?",
        return_type: "boolean",
        code_snippet: "result = True",
        enabled_in_prod: false,
        needs_ground_truth: false,
        threshold: { pass_when: true },
        pass_when: true,
        event_type: "model",
        event_name: "reply",
      },
    ]);
    expect([put.status, moved.status]).toEqual([200, 200]);
    expect(got.json).toMatchObject({
      version: "v2",
      filters: {
        filterArray: [{ field: "event_type", operator: "is", value: "tool", type: "string" }],
      },
    });
  });

  test("read a judge and a question under the names that each has there", async () => {
    const project = await givenAMetricProject(service);
    const { criteria: prompt, ...rest } = judge;
    await project.make({ ...rest, prompt, type: "model" });
    await project.make({ name: "a", type: "HUMAN", criteria: "Is it kind?" });

    const { json } = await project.call("GET /metrics");

    expect(json).toMatchObject([
      { name: "a", type: "human", criteria: "Is it kind?" },
      { name: "tone", type: "model", prompt, model_provider: "openai", model_name: "gpt-4o-mini" },
    ]);
  });
});

test("numbers that JSON has not are refused over RPC too", async () => {
  const project = await givenAMetricProject(service);
  const transport = createConnectTransport({
    baseUrl: service.url,
    httpVersion: "1.1",
    useBinaryFormat: true,
  });
  const client = createClient(MetricService, transport);
  const headers = new Headers({ authorization: `Bearer ${project.key}` });
  const nan = { kind: { case: "numberValue", value: NaN } } as const;
  const filter = { field: "metadata.x", operator: "is", type: "string", value: nan };
  const faults: string[] = [];
  for (const more of [
    { threshold: { min: NaN } },
    { threshold: { passWhen: nan } },
    { samplingPercentage: NaN },
    { passWhen: { kind: { case: "numberValue", value: Infinity } } as const },
    { filters: { filterArray: [filter] } },
    { returnType: "categorical", categories: [{ category: "a", score: NaN }] },
  ]) {
    const call = client.createMetric({ ...anEvaluator, ...more }, { headers });
    faults.push(await call.then(() => "made", String));
  }

  expect(faults).toEqual([
    expect.stringContaining("[invalid_argument] threshold.min: must be a finite number"),
    expect.stringContaining("[invalid_argument] threshold.pass_when: does not fit"),
    expect.stringContaining("[invalid_argument] sampling_percentage: must be from 0 to 100"),
    expect.stringContaining("[invalid_argument] pass_when: does not fit"),
    expect.stringContaining("[invalid_argument] filters.filterArray[0].value: must be a finite"),
    expect.stringContaining("[invalid_argument] categories[0].score: must be a finite number"),
  ]);
});

test("another project's metric is absent to every call", async () => {
  const [owner, other] = [await givenAMetricProject(service), await givenAMetricProject(service)];
  const id = await owner.make(anEvaluator);

  const routes = ["GET /v1/metrics/", "DELETE /v1/metrics/", "DELETE /metrics?metric_id="];
  const statuses = [];
  for (const route of routes) statuses.push((await other.call(route + id)).status);
  statuses.push((await other.call(`PUT /v1/metrics/${id}`, { name: "taken over" })).status);

  expect(statuses).toEqual([404, 404, 404, 404]);
  expect((await owner.call(`GET /v1/metrics/${id}`)).json).toMatchObject(anEvaluator);
});
