// Versions of metrics over the whole service: what makes one, how they are compared, and what
// deploying and restoring them does.

import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { beforeAll, describe, expect, test } from "vitest";
import { MetricVersionService } from "../../gen/waggle/v1/metric_version_pb.js";
import { givenStarted } from "../support/given.ts";
import {
  anEvaluator,
  givenAMetricProject,
  type MetricProject,
  warmSandbox,
} from "../support/metrics.ts";
import { startService } from "../support/service.ts";

const service = givenStarted(startService);

beforeAll(async () => {
  await warmSandbox(service);
});

const question = { name: "kind", type: "HUMAN", criteria: "Is it kind?" } as const;

type Version = {
  readonly name: string;
  readonly full_sha: string;
  readonly message: string;
  readonly deployed: boolean;
  readonly content: Readonly<Record<string, unknown>>;
};

/** Returns the versions of a metric, as the list answers them. */
async function versionsOf(project: MetricProject, id: string): Promise<readonly Version[]> {
  const { json } = await project.call(`GET /v1/metrics/${id}/versions`);
  return json["data"] as readonly Version[];
}

describe("GET /v1/metrics/{id}/versions", () => {
  test("tells how a metric became what it is, the oldest first", async () => {
    const project = await givenAMetricProject(service);
    const id = await project.make(question);
    await project.call(`PUT /v1/metrics/${id}`, { criteria: "Is it true?", threshold: {} });
    await project.call(`PUT /v1/metrics/${id}`, { return_type: "boolean", pass_when: true });

    const got = await project.call(`GET /v1/metrics/${id}/versions`);

    const sha = expect.stringMatching(/^[0-9a-f]{64}$/) as string;
    const version = (name: string, message: string, content: object) => ({
      name,
      full_sha: sha,
      message,
      deployed: name === "v3",
      date: expect.any(String) as string,
      created_by: expect.stringMatching(/^key a key \(/) as string,
      content: {
        ...question,
        description: "",
        return_type: "float",
        enabled_in_prod: false,
        sampling_percentage: 10,
        model_provider: null,
        model_name: null,
        scale: null,
        threshold: null,
        categories: null,
        filters: { filterArray: [] },
        needs_ground_truth: false,
        ...content,
      },
    });
    const criteria = "Is it true?";
    expect(got.json).toEqual({
      success: true,
      data: [
        version("v1", "created", {}),
        version("v2", "updated criteria", { criteria }),
        version("v3", "updated return_type, threshold", {
          criteria,
          return_type: "boolean",
          threshold: { pass_when: true },
        }),
      ],
    });
  });

  test("answers pages, and one version by its name", async () => {
    const project = await givenAMetricProject(service);
    const id = await project.make(question);
    for (const description of ["a", "b"]) {
      await project.call(`PUT /v1/metrics/${id}`, { description });
    }

    const first = await project.call(`GET /v1/metrics/${id}/versions?limit=2`);
    const cursor = String(first.json["next_cursor"]);
    const rest = await project.call(`GET /v1/metrics/${id}/versions?limit=2&cursor=${cursor}`);
    const one = await project.call(`GET /v1/metrics/${id}/versions/v2`);

    expect(first.json["data"]).toMatchObject([{ name: "v1" }, { name: "v2" }]);
    expect(rest.json["data"]).toMatchObject([{ name: "v3" }]);
    expect(rest.json).not.toHaveProperty("next_cursor");
    expect(one.json).toMatchObject({ success: true, data: { name: "v2", deployed: false } });
  });

  test.each(["v0", "v4", "v01", "latest", "v99999999999999999999", "v1%00"])(
    "has no version %s",
    async (name) => {
      const project = await givenAMetricProject(service);
      const id = await project.make(question);
      const path = `/v1/metrics/${id}/versions/${name}`;

      const answers = [
        await project.call(`GET ${path}`),
        await project.call(`GET ${path}/compare/v1`),
        await project.call(`POST ${path}/deploy`, {}),
        await project.call(`POST ${path}/restore`, {}),
      ];

      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    },
  );
});

describe("POST /v1/metrics/{id}/versions", () => {
  test("makes a version that runs once it is deployed", async () => {
    const project = await givenAMetricProject(service);
    const id = await project.make(anEvaluator);
    const criteria = "result = feedback.get('ground_truth') == outputs.get('content')";
    const body = { message: "Compares.", content: criteria };

    const made = await project.call(`POST /v1/metrics/${id}/versions`, body);
    const before = await project.call(`GET /v1/metrics/${id}`);
    const deployed = await project.call(`POST /v1/metrics/${id}/versions/v2/deploy`);
    const after = await project.call(`GET /v1/metrics/${id}`);

    expect(made.json).toMatchObject({
      success: true,
      data: { name: "v2", message: "Compares.", deployed: false, content: { criteria } },
    });
    expect(before.json).toMatchObject({ ...anEvaluator, version: "v1" });
    expect(deployed.json).toMatchObject({ success: true, data: { name: "v2", deployed: true } });
    expect(after.json).toMatchObject({ criteria, needs_ground_truth: true, version: "v2" });
  });

  test("takes fields on top of the version that runs, and whole metrics", async () => {
    const project = await givenAMetricProject(service);
    const id = await project.make({ ...question, description: "old", pass_when: 1 });
    const { json: metric } = await project.call(`GET /v1/metrics/${id}`);
    const content = { ...metric, threshold: null, name: null, description: "new" };
    const body = { message: "m", content, deploy_immediately: true };

    const made = await project.call(`POST /v1/metrics/${id}/versions`, body);
    const got = await project.call(`GET /v1/metrics/${id}`);

    expect(made.json).toMatchObject({ data: { name: "v2", deployed: true } });
    expect(got.json).toMatchObject({ ...question, description: "new", threshold: null });
  });

  const refusals: readonly { readonly body: unknown; readonly want: string }[] = [
    { body: { content: "x" }, want: "message" },
    { body: { message: " ", content: "x" }, want: "message: must not be blank" },
    { body: { message: "m" }, want: "content" },
    { body: { message: "m", content: null }, want: "content: must be an object" },
    { body: { message: "m", content: [] }, want: "content: must be an object" },
    { body: { message: "m", content: "x = (" }, want: "content.criteria: line 1, column 5: " },
    { body: { message: "m", content: { colour: 1 } }, want: "content.colour: is not a field" },
    { body: { message: "m", content: { __proto__x: 1 } }, want: "content.__proto__x: is not" },
    { body: { message: "m", content: { constructor: 1 } }, want: "content.constructor: is not" },
    { body: { message: "m", content: { name: 5 } }, want: "content.name: must be a string" },
    { body: { message: "m", content: { scale: "5" } }, want: "content.scale: must be a number" },
    { body: { message: "m", content: { enabled_in_prod: 1 } }, want: "must be true or false" },
    { body: { message: "m", content: { type: "composite" } }, want: "content.type: composite" },
    { body: { message: "m", content: { type: "LLM" } }, want: "content.model_provider: is req" },
    {
      body: { message: "m", content: { threshold: { least: 1 } } },
      want: "content.threshold.least: is not a known key",
    },
    {
      body: { message: "m", content: { filters: { filterArray: [{ field: 1 }] } } },
      want: "content.filters.filterArray[0].field: must be a string",
    },
    {
      body: { message: "m", content: { filters: { filterArray: [{ field: "x" }] } } },
      want: "content.x: the operator must be one of",
    },
    {
      body: {
        message: "m",
        content: { filters: { filterArray: [{ field: "x", operator: "like\n" }] } },
      },
      want: ', not "like\\n"',
    },
    {
      body: { message: "m", content: { categories: [{ category: "a", score: "b" }] } },
      want: "content.categories[0].score: must be a number",
    },
  ];
  test.each(refusals)("refuses $body, saying $want, and makes none", async ({ body, want }) => {
    const project = await givenAMetricProject(service);
    const id = await project.make(anEvaluator);

    const got = await project.call(`POST /v1/metrics/${id}/versions`, body);

    expect(got.status).toBe(400);
    expect(got.json["message"]).toContain(want);
    expect(await versionsOf(project, id)).toHaveLength(1);
  });
});

describe("compare", () => {
  test("says field by field what differs, and nothing of what does not", async () => {
    const project = await givenAMetricProject(service);
    const id = await project.make({ ...question, threshold: { min: 1 } });
    const filter = { field: "source", operator: "is", value: "prod", type: "string" };
    await project.call(`PUT /v1/metrics/${id}`, {
      criteria: "Is it true?",
      threshold: {},
      filters: { filterArray: [filter] },
    });

    const got = await project.call(`GET /v1/metrics/${id}/versions/v1/compare/v2`);
    const same = await project.call(`GET /v1/metrics/${id}/versions/v2/compare/v2`);

    expect(got.json).toEqual({
      success: true,
      data: {
        from: "v1",
        to: "v2",
        changes: [
          { field: "criteria", before: "Is it kind?", after: "Is it true?" },
          { field: "threshold", before: { min: 1 }, after: null },
          { field: "filters", before: { filterArray: [] }, after: { filterArray: [filter] } },
        ],
      },
    });
    expect(same.json).toMatchObject({ data: { changes: [] } });
  });
});

describe("restore", () => {
  test("makes a new version with the content, and the hash, of the old one", async () => {
    const project = await givenAMetricProject(service);
    const id = await project.make({ ...question, threshold: { max: 5, min: 1 } });
    await project.call(`PUT /v1/metrics/${id}`, { name: "renamed", threshold: {} });

    const got = await project.call(`POST /v1/metrics/${id}/versions/v1/restore`, {});
    const metric = await project.call(`GET /v1/metrics/${id}`);
    const versions = await versionsOf(project, id);

    expect(got.json).toMatchObject({
      success: true,
      data: { name: "v3", message: "restored v1", deployed: true },
    });
    expect(metric.json).toMatchObject({ ...question, threshold: { min: 1, max: 5 } });
    expect(versions[2]?.full_sha).toBe(versions[0]?.full_sha);
    expect(versions[1]?.full_sha).not.toBe(versions[0]?.full_sha);
  });

  test.each(["deploy", "restore"])(
    "%s refuses a version whose name another metric has by now",
    async (verb) => {
      const project = await givenAMetricProject(service);
      const id = await project.make(question);
      await project.call(`PUT /v1/metrics/${id}`, { name: "renamed" });
      await project.make(question);

      const got = await project.call(`POST /v1/metrics/${id}/versions/v1/${verb}`, {});

      expect(got).toMatchObject({ status: 409, json: { errorCode: "NAME_TAKEN" } });
      expect(await versionsOf(project, id)).toHaveLength(2);
    },
  );
});

test("versions are answered over RPC, where numbers that JSON has not are refused", async () => {
  const project = await givenAMetricProject(service);
  const id = await project.make(question);
  const transport = createConnectTransport({
    baseUrl: service.url,
    httpVersion: "1.1",
    useBinaryFormat: true,
  });
  const client = createClient(MetricVersionService, transport);
  const headers = new Headers({ authorization: `Bearer ${project.key}` });
  const contentOf = (scale: number) => ({
    kind: {
      case: "structValue",
      value: { fields: { scale: { kind: { case: "numberValue", value: scale } } } },
    },
  });

  const { data } = await client.getMetricVersion({ id, name: "v1" }, { headers });
  const refused = client.createMetricVersion(
    { id, message: "m", content: contentOf(NaN) as never },
    { headers },
  );

  expect(data).toMatchObject({ name: "v1", deployed: true, content: question });
  await expect(refused).rejects.toThrow("content: must hold finite numbers only");
});

test("another project's versions are absent to every call", async () => {
  const [owner, other] = [await givenAMetricProject(service), await givenAMetricProject(service)];
  const path = `/v1/metrics/${await owner.make(question)}/versions`;

  const answers = [
    await other.call(`GET ${path}`),
    await other.call(`GET ${path}/v1`),
    await other.call(`GET ${path}/v1/compare/v1`),
    await other.call(`POST ${path}`, { message: "m", content: "x" }),
    await other.call(`POST ${path}/v1/deploy`, {}),
    await other.call(`POST ${path}/v1/restore`, {}),
  ];

  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
});
