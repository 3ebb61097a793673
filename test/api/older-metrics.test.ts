// Metrics of older clients, which send `criteria`, `code_snippet` and `prompt` side by side.
// Source: docs/decisions.md, 22.9.

import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { givenStarted } from "../support/given.ts";
import { givenAMetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

const texts = {
  criteria: "Is the answer polite?",
  code_snippet: "def evaluate(event):\n    return 1",
  prompt: "Rate {{ outputs.content }} from 1 to 5, as [[x]].",
};
const model = { model_provider: "openai", model_name: "gpt-4o-mini" };

type Project = Awaited<ReturnType<typeof givenAMetricProject>>;

async function make(project: Project, body: JsonObject): Promise<string> {
  const { status, json } = await project.call("POST /metrics", { name: "polite", ...body });
  expect([status, json["message"]]).toEqual([200, undefined]);
  return String(json["metric_id"]);
}

/** Returns a metric as older clients list it. */
async function listOnly(project: Project): Promise<JsonObject> {
  const { json } = await project.call("GET /metrics");
  const [only] = json as unknown as readonly JsonObject[];
  if (only === undefined) throw new Error("no metric is listed");
  return only;
}

describe("POST /metrics", () => {
  test.each([
    { body: { type: "custom" }, want: texts.code_snippet },
    { body: { type: "model", ...model }, want: texts.prompt },
    { body: { type: "human" }, want: texts.criteria },
  ])(
    "takes the definition of type $body.type from its field, and keeps the others",
    async (row) => {
      const project = await givenAMetricProject(service);

      const id = await make(project, { ...row.body, ...texts });

      const got = await project.call(`GET /v1/metrics/${id}`);
      expect(got.json).toMatchObject({ criteria: row.want });
      expect(await listOnly(project)).toMatchObject(texts);
    },
  );

  test.each([
    { name: "criteria", given: { criteria: "result = 1" }, want: { code_snippet: "result = 1" } },
    {
      name: "criteria beside an empty code",
      given: { criteria: "result = 1", code_snippet: "", prompt: "" },
      want: { code_snippet: "result = 1" },
    },
    {
      name: "the same text twice",
      given: { criteria: "result = 1", code_snippet: "result = 1" },
      want: { code_snippet: "result = 1" },
    },
  ])("takes $name as the definition", async ({ given, want }) => {
    const project = await givenAMetricProject(service);

    await make(project, { type: "custom", ...given });

    const listed = await listOnly(project);
    expect(listed).toMatchObject(want);
    expect(listed).not.toHaveProperty("criteria");
    expect(listed).not.toHaveProperty("prompt");
  });

  test.each([
    { given: {}, want: "criteria: is required" },
    { given: { ...texts, code_snippet: "def" }, want: "code_snippet: line 1, column 4" },
    { given: { ...texts, prompt: "a\0" }, want: "prompt: must hold neither NUL" },
    { given: { ...texts, prompt: "p".repeat(100_001) }, want: "prompt: must be at most" },
    { given: { ...texts, definition: "result = 2" }, want: "code_snippet: says something else" },
  ])("refuses a text by its field: $want", async ({ given, want }) => {
    const project = await givenAMetricProject(service);
    const body = { name: "polite", type: "custom", ...given };

    const { status, json } = await project.call("POST /metrics", body);

    expect(status).toBe(400);
    expect(json["message"]).toContain(want);
  });
});

describe("PUT /metrics", () => {
  test("changes each text alone, and makes no version of what was read", async () => {
    const project = await givenAMetricProject(service);
    const id = await make(project, { type: "custom", ...texts });
    const put = (body: JsonObject) => project.call("PUT /metrics", { metric_id: id, ...body });

    const same = await put(await listOnly(project));
    expect([same.status, same.json["message"]]).toEqual([200, undefined]);
    const before = await project.call(`GET /v1/metrics/${id}`);
    await put({ criteria: "Is it kind?" });
    await put({ prompt: "" });

    const { prompt: _, ...kept } = { ...texts, criteria: "Is it kind?" };
    const listed = await listOnly(project);
    expect(listed).toMatchObject(kept);
    expect(listed).not.toHaveProperty("prompt");
    const after = await project.call(`GET /v1/metrics/${id}`);
    expect([before.json["version"], after.json["version"]]).toEqual(["v1", "v3"]);
    expect(after.json).toMatchObject({ criteria: texts.code_snippet });
  });
});

describe("a metric with texts side by side", () => {
  test("keeps them over a change by PUT /v1/metrics, and in its versions", async () => {
    const project = await givenAMetricProject(service);
    const id = await make(project, { type: "custom", ...texts });
    const { code_snippet: _, ...others } = texts;

    await project.call("PUT /v1/metrics", { id, criteria: "result = 2" });
    expect(await listOnly(project)).toMatchObject({ ...others, code_snippet: "result = 2" });
    const { json } = await project.call(`GET /v1/metrics/${id}/versions`);
    const [first] = json["data"] as readonly { readonly content: JsonObject }[];
    expect(first?.content).toMatchObject({ criteria: texts.code_snippet, older_texts: others });

    const copy = await project.call(`POST /v1/metrics/${id}/versions`, {
      message: "as it was",
      content: first?.content ?? null,
    });
    expect(copy.json).toMatchObject({ data: { content: first?.content } });
    const cleared = await project.call(`POST /v1/metrics/${id}/versions`, {
      message: "without",
      content: { older_texts: null },
      deploy_immediately: true,
    });
    expect(cleared.status).toBe(200);
    expect(await listOnly(project)).not.toHaveProperty("prompt");
  });

  test("is refused where POST /v1/metrics creates it", async () => {
    const project = await givenAMetricProject(service);
    const body = { name: "polite", type: "custom", ...texts };

    const { status, json } = await project.call("POST /v1/metrics", body);

    expect(status).toBe(400);
    expect(json["message"]).toContain("says something else than criteria");
  });
});
