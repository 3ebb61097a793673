// POST /v1/metrics/run and its other path over the whole service: an evaluator run on one event by
// hand. Source: docs/spec.md, "Metrics and evaluations" and "Errors"; docs/decisions.md, 8.2, 22.1,
// 23.

import { ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.js";
import { EvaluatorService } from "../../gen/waggle/v1/evaluator_pb.js";
import { givenStarted } from "../support/given.ts";
import { callRoute } from "../support/call-route.ts";
import { providerKey, startChatService } from "../support/chats.ts";

const chats = givenStarted(() =>
  startChatService({ "provider-attempts": "1", "evaluator-time-limit-ms": "3000" }),
);

beforeAll(async () => {
  // The first run ever on a machine makes what later ones start from.
  await run({ metric: python("result = 1"), event });
}, 300_000);

beforeEach(() => chats.standIn.clear());
type Json = Record<string, unknown>;
type Headers = Record<string, string>;

function call(route: string, body?: unknown, headers: Headers = {}) {
  const { url, projectKey } = chats.service;
  const all = { authorization: `Bearer ${projectKey}`, ...headers };
  return callRoute({ url, headers: all }, route, body);
}

const run = (body: unknown, headers?: Headers) => call("POST /v1/metrics/run", body, headers);

/** Returns the names of the members of an error that /openapi.json describes. */
async function describedMembers(): Promise<readonly string[]> {
  const { json } = await call("GET /openapi.json");
  const { schemas } = json["components"] as { schemas: { Error: { properties: Json } } };
  return Object.keys(schemas.Error.properties);
}

const event = {
  event_type: "model",
  event_name: "answer",
  inputs: { question: "Where?" },
  outputs: { content: "Paris" },
};
const judge = {
  type: "LLM",
  definition: "Judge {{ outputs.content }}. [[{{ inputs.score }}]]",
  model_provider: "openai",
  model_name: "gpt-4o-echo",
  scale: 5,
};

const python = (definition: string, more: Json = {}) => ({ type: "PYTHON", definition, ...more });

async function aMetric(fields: Json): Promise<string> {
  const name = `metric ${Math.random()}`;
  const { status, json, text } = await call("POST /v1/metrics", { name, ...fields });
  expect([status, text]).toEqual([200, expect.any(String)]);
  return json["metric_id"] as string;
}

async function anEvent(fields: Json): Promise<string> {
  const { json } = await call("POST /v1/events", { ...event, source: "test", ...fields });
  return json["event_id"] as string;
}

describe("a run of code", () => {
  test("answers the score and why, on both paths, with every field of the API", async () => {
    const code = `
def evaluate(event):
    print('hi')
    return len(event['outputs']['content']), 'letters'`;
    const body = { metric: python(code), event };

    const one = await call("POST /v1/metrics/run", body);
    const other = await call("POST /v1/metrics/run_metric", body);

    expect(one.status).toBe(200);
    expect(one.json).toEqual({
      success: true,
      loading: false,
      result: 5,
      explanation: "letters",
      passed: null,
      reason: null,
      version: null,
      output: "hi\n",
      judge: null,
      duration: expect.any(Number) as number,
    });
    expect(other.json).toEqual({ ...one.json, duration: other.json["duration"] });
  });

  test("takes the definition by any of its names, older types and what SDKs add", async () => {
    const own = { workspace_id: "w1", ...event };
    const code = "result = event['workspace_id'] == 'w1' and event['metadata'] == {}";

    for (const name of ["definition", "criteria", "code_snippet"]) {
      const metric = {
        type: "custom",
        [name]: code,
        return_type: "boolean",
        needs_ground_truth: true,
      };
      expect((await run({ metric, event: own })).json).toMatchObject({ result: true });
    }
  });

  test("is refused on an event that is too large for any evaluator", async () => {
    const large = { ...event, inputs: { text: "x".repeat(17_000_000) } };
    const ofObjects = { ...event, inputs: { list: Array.from({ length: 600_000 }, () => ({})) } };

    for (const one of [large, ofObjects]) {
      const refused = await run({ metric: python("result = 1"), event: one });

      expect(refused.status).toBe(400);
      expect(refused.json["message"]).toBe(
        "event: it takes more memory than evaluators are given: " +
          "16 MB of text, less where it has many objects",
      );
    }
  });

  test("tells whether the score passes", async () => {
    const of = (definition: string, more: Json) => run({ metric: python(definition, more), event });

    const above = await of("result = 4", { threshold: { min: 5 } });
    const right = await of("result = True", { threshold: { pass_when: true } });
    const category = await of("result = 'GOOD'", {
      return_type: "categorical",
      categories: [{ category: "good", score: 1 }, { category: "bad" }],
      threshold: { passing_categories: ["good"] },
    });

    expect(above.json).toMatchObject({ result: 4, passed: false });
    expect(right.json).toMatchObject({ result: true, passed: true });
    expect(category.json).toMatchObject({ result: "good", passed: true });
  });

  test("stores nothing", async () => {
    const id = await anEvent({});

    expect((await run({ metric: python("result = 1"), event_id: id })).status).toBe(200);

    const { json } = await call(`GET /v1/events/${id}`);
    expect(json["event"]).toMatchObject({ metrics: {} });
  });
});

describe("a run of a judge", () => {
  test("answers the score, the words and the call", async () => {
    const metric = { ...judge, threshold: { min: 4 } };

    const { status, json } = await run({ metric, event: { ...event, inputs: { score: 4 } } });

    expect(status).toBe(200);
    expect(json).toMatchObject({
      success: true,
      result: 4,
      explanation: "Judge Paris.",
      passed: true,
      judge: {
        provider: "openai",
        model: expect.stringContaining("gpt-4o-echo") as string,
        prompt_tokens: expect.any(Number) as number,
        completion_tokens: expect.any(Number) as number,
        answer: "Judge Paris. [[4]]",
      },
    });
    expect(chats.standIn.requests).toHaveLength(1);
  });

  test("makes no event of its call", async () => {
    const search = { filters: [], dateRange: undefined };
    const before = await call("POST /v1/events/search", search);

    await run({ metric: judge, event: { ...event, inputs: { score: 4 } } });

    const after = await call("POST /v1/events/search", search);
    expect(after.json["count"]).toBe(before.json["count"]);
  });
});

describe("ground truth that is read and absent", () => {
  const code = "def evaluate(event):\n    return event['feedback']['ground_truth'] == 'x'";
  const prompt = { ...judge, definition: "{{ feedback.ground_truth }} [[1]]" };

  test.each([
    { name: "code, no feedback", metric: python(code), feedback: undefined },
    { name: "code, null", metric: python(code), feedback: { ground_truth: null } },
    { name: "a prompt, other feedback", metric: prompt, feedback: { rating: 5 } },
  ])("answers no success and no result: $name", async ({ metric, feedback }) => {
    const { status, json } = await run({ metric, event: { ...event, feedback } });

    expect(status).toBe(200);
    expect(json).toMatchObject({ success: false, loading: false, result: null, explanation: null });
    expect(json["reason"]).toContain("ground_truth");
    expect(chats.standIn.requests).toEqual([]);
  });

  test("is a run once it is there", async () => {
    const on = { ...event, feedback: { ground_truth: "x" } };

    expect((await run({ metric: python(code), event: on })).json).toMatchObject({
      success: true,
      result: true,
    });
    expect((await run({ metric: prompt, event: on })).json).toMatchObject({ result: 1 });
  });
});

describe("a run by id", () => {
  test("runs the deployed version, or the one that is named, on the stored event", async () => {
    const metricId = await aMetric({ type: "PYTHON", criteria: "result = 1" });
    await call(`PUT /v1/metrics/${metricId}`, {
      criteria: "result = event['inputs']['x'] + event['project_id']",
      return_type: "string",
    });
    const eventId = await anEvent({ inputs: { x: "at " } });
    const on = { metric_id: metricId, event_id: eventId };

    const deployed = await run(on);
    const first = await run({ ...on, version: "v1" });

    const { projectId } = chats.service;
    expect(deployed.json).toMatchObject({ result: `at ${projectId}`, version: "v2" });
    expect(first.json).toMatchObject({ result: 1, version: "v1" });
  });

  test("is the 404 for what is absent, and for another project's", async () => {
    const metricId = await aMetric({ type: "PYTHON", criteria: "result = 1" });
    const eventId = await anEvent({});
    const own = { metric_id: metricId, event_id: eventId };
    const absent = "00000000-0000-4000-8000-000000000001";
    const other = { authorization: `Bearer ${chats.service.otherProject.projectKey}` };

    const got = await Promise.all([
      run({ ...own, metric_id: absent }),
      run({ ...own, metric_id: "no uuid" }),
      run({ ...own, event_id: absent }),
      run({ ...own, version: "v9" }),
      run({ ...own, version: "nine" }),
      run(own, other),
      run({ metric: python("result = 1"), event_id: eventId }, other),
      run({ metric_id: metricId, event }, other),
    ]);

    expect(got.map(({ status }) => status)).toEqual(got.map(() => 404));
    expect(new Set(got.map(({ text }) => text)).size).toBe(1);
  });
});

describe("an invalid request", () => {
  const one = python("result = 1");
  const id = "00000000-0000-4000-8000-000000000001";

  test.each([
    { name: "no metric", body: { event }, says: "metric:" },
    { name: "no event", body: { metric: one }, says: "event:" },
    { name: "metric and id", body: { metric: one, metric_id: id, event }, says: "metric_id:" },
    { name: "event and id", body: { metric: one, event, event_id: "e" }, says: "event_id:" },
    {
      name: "a version of no metric",
      body: { metric: one, event, version: "v1" },
      says: "version:",
    },
    { name: "no type", body: { metric: { definition: "x" }, event }, says: "metric.type:" },
    { name: "another type", body: { metric: { ...one, type: "R" }, event }, says: "metric.type:" },
    { name: "composite", body: { metric: { ...one, type: "composite" }, event }, says: "removed" },
    { name: "human", body: { metric: { ...one, type: "HUMAN" }, event }, says: "people" },
    { name: "no code", body: { metric: python(""), event }, says: "metric.criteria:" },
    {
      name: "two codes",
      body: { metric: { ...one, criteria: "result = 2" }, event },
      says: "metric.",
    },
    {
      name: "a syntax error",
      body: { metric: python("def evaluate(event):\n    return (1,"), event },
      says: "metric.definition: line 2, column",
    },
    {
      name: "a placeholder of nothing",
      body: { metric: { ...judge, definition: "\n {{ input.x }}" }, event },
      says: "metric.definition: line 2, column 2: a placeholder names `input`",
    },
    {
      name: "no model",
      body: { metric: { ...judge, model_name: "" }, event },
      says: "metric.model_name:",
    },
    {
      name: "a scale of zero",
      body: { metric: { ...one, scale: 0 }, event },
      says: "metric.scale:",
    },
    {
      name: "a return type",
      body: { metric: { ...one, return_type: "int" }, event },
      says: "metric.return_type:",
    },
    {
      name: "no categories",
      body: { metric: { ...one, return_type: "categorical" }, event },
      says: "metric.categories",
    },
    {
      name: "a bound",
      body: { metric: { ...one, threshold: { min: "1" } }, event },
      says: "metric.threshold.min:",
    },
    {
      name: "an unknown bound",
      body: { metric: { ...one, threshold: { least: 1 } }, event },
      says: "metric.threshold.least:",
    },
    { name: "an event that is none", body: { metric: one, event: [] }, says: "event" },
    {
      name: "a bucket that is none",
      body: { metric: one, event: { inputs: "x" } },
      says: "event.inputs:",
    },
    {
      name: "an event type",
      body: { metric: one, event: { event_type: "x" } },
      says: "event.event_type:",
    },
  ])("is a 400 that names the field: $name", async ({ body, says }) => {
    const { status, json } = await run(body);

    expect(json).toMatchObject({ errorCode: "INVALID_ARGUMENT" });
    expect(status).toBe(400);
    expect(json["message"]).toContain(says);
  });

  test("is one for a stored metric that people judge", async () => {
    const metricId = await aMetric({ type: "HUMAN", criteria: "Is it good?" });

    const { status, json } = await run({ metric_id: metricId, event });

    expect(status).toBe(400);
    expect(json["message"]).toContain("metric_id: is of type HUMAN");
  });
});

describe("an evaluator that fails", () => {
  test("is a 422 with the reason and the traceback of its own code", async () => {
    const code = `def half(x):
    return 1 / x
def evaluate(event):
    print('so far')
    return half(0)`;

    const { status, json } = await run({ metric: python(code), event });

    expect(status).toBe(422);
    expect(json).toMatchObject({
      success: false,
      statusCode: 422,
      errorCode: "EVALUATOR_FAILED",
      message: "EXCEPTION: ZeroDivisionError: division by zero",
      failure: "EXCEPTION",
      output: "so far\n",
    });
    expect(json["traceback"]).toContain("line 2, in half");
    expect(json["traceback"]).not.toMatch(/pyodide|\/lib\//);
    expect(await describedMembers()).toEqual(expect.arrayContaining(Object.keys(json)));
  });

  test.each([
    { name: "NaN", code: "result = float('nan')", failure: "RESULT" },
    { name: "None", code: "def evaluate(event):\n    pass", failure: "RESULT" },
    { name: "another kind than it says", code: "result = 'x'", failure: "RESULT", type: "float" },
    { name: "no end", code: "while True:\n    pass\nresult = 1", failure: "TIME_LIMIT" },
  ])("is a 422 for $name", async ({ code, failure, type }) => {
    const { status, json } = await run({ metric: python(code, { return_type: type }), event });

    expect([status, json["failure"]]).toEqual([422, failure]);
  });

  test("keeps a judge's answer", async () => {
    const { status, json } = await run({ metric: { ...judge, definition: "No." }, event });

    expect(status).toBe(422);
    expect(json).toMatchObject({ failure: "NO_SCORE", judge: { answer: "No.", cost: null } });
  });

  test("tells what its provider refuses, without a secret", async () => {
    const { status, text, json } = await run({
      metric: { ...judge, model_name: "gpt-4o-leak-key-400" },
      event,
    });

    expect([status, json["failure"]]).toEqual([422, "PROVIDER_REJECTED"]);
    expect(text).not.toContain(providerKey);
  });

  test.each([
    { model: "gpt-4o-fail-500", status: 502, errorCode: "PROVIDER_FAILED" },
    { model: "gpt-4o-limited-30", status: 503, errorCode: "PROVIDER_LIMITED" },
    { model: "gpt-4o-fail-504", status: 504, errorCode: "PROVIDER_TIMEOUT" },
  ])("is not the cause where a provider does: $model", async ({ model, ...want }) => {
    const { status, json } = await run({ metric: { ...judge, model_name: model }, event });

    expect({ status, errorCode: json["errorCode"] }).toEqual(want);
  });
});

describe("Idempotency-Key", () => {
  const headers = (key: string) => ({ "idempotency-key": key });

  test("gives the first answer again, without another call of the model", async () => {
    const body = { metric: judge, event: { ...event, inputs: { score: 2 } } };

    const first = await run(body, headers("judge"));
    const second = await run(body, headers("judge"));

    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.text).toBe(first.text);
    expect(chats.standIn.requests).toHaveLength(1);
  });

  test("gives a failure again", async () => {
    const body = { metric: python("result = 1 / 0"), event };

    const first = await run(body, headers("failing"));
    const second = await run(body, headers("failing"));

    expect([first.status, second.text]).toEqual([422, first.text]);
  });
});

describe("over gRPC", () => {
  const clientOf = () =>
    createClient(EvaluatorService, createGrpcTransport({ baseUrl: chats.service.url }));
  const options = () => ({ headers: { authorization: `Bearer ${chats.service.projectKey}` } });

  test("answers the score", async () => {
    const metric = { type: "PYTHON", definition: "result = True" };

    const got = await clientOf().runMetric({ metric, event }, options());

    expect(got).toMatchObject({ success: true, result: { kind: { value: true } } });
    expect(got.judge).toBeUndefined();
  });

  test("carries the traceback of a failure, cut to what headers hold", async () => {
    const deep =
      "def f(n):\n    return f(n - 1) if n else 1 / 0\ndef evaluate(event):\n    return f(200)";
    const metric = { type: "PYTHON", definition: deep };

    const failing = await clientOf()
      .runMetric({ metric, event }, options())
      .catch((error: unknown) => ConnectError.from(error));

    if (!(failing instanceof ConnectError)) throw new Error("it did not fail");
    const [info] = failing.findDetails(ErrorInfoSchema);
    expect(failing.rawMessage).toContain("ZeroDivisionError");
    expect(info).toMatchObject({ reason: "EVALUATOR_FAILED", metadata: { failure: "EXCEPTION" } });
    expect(info?.metadata["traceback"]).toContain("in evaluate");
  });
});
