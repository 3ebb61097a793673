// /openapi.json is true: it is well formed, names every route, and real answers fit its schemas.

import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { givenStarted } from "../support/given.ts";
import { startService, type TestService } from "../support/service.ts";

type Parameter = { readonly name: string; readonly in: string; readonly required?: boolean };

type Operation = {
  readonly operationId?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body | { readonly $ref: string }>>;
};
type Body = { readonly content?: Readonly<Record<string, { readonly schema?: object }>> };
type Document = {
  readonly openapi: string;
  readonly info: object;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly security: readonly object[];
  readonly components: {
    readonly securitySchemes: object;
    readonly schemas: Readonly<Record<string, object>>;
    readonly responses: Readonly<Record<string, Body>>;
  };
};

const jsonType = "application/json";
const tracesBytesMax = 5_000;

const service = givenStarted(() => startService({ "body-traces-max": String(tracesBytesMax) }));
let document: Document;
beforeAll(async () => {
  document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
});

/** Returns what is wrong with a value by a schema of the document. */
function faults(schema: object, value: unknown): unknown {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const validate = ajv.compile({ ...schema, components: document.components });
  return validate(value) ? [] : validate.errors;
}

function operationOf(method: string, path: string): Operation {
  const operation = document.paths[path]?.[method.toLowerCase()];
  if (!operation) throw new Error(`no ${method} ${path} in the document`);
  return operation;
}

/** Returns what the document says of an answer, behind a reference or not. */
function answerOf(method: string, path: string, status: number): Body {
  const answer = operationOf(method, path).responses[String(status)];
  if (!answer) throw new Error(`no ${String(status)} of ${method} ${path} in the document`);
  if (!("$ref" in answer)) return answer;
  const name = answer.$ref.split("/").at(-1) ?? "";
  return document.components.responses[name] ?? {};
}

function answerSchema(method: string, path: string, status: number): object {
  return answerOf(method, path, status).content?.[jsonType]?.schema ?? { not: {} };
}

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${service.projectKey}`, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const contentType = response.headers.get("content-type") ?? "";
  return { status: response.status, contentType, text: await response.text() };
}

describe("/openapi.json", () => {
  test("refers only to what is there and names each operation once", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)];
    for (const [, path = ""] of references) {
      let target: unknown = document;
      for (const key of path.split("/")) target = (target as Record<string, unknown>)[key];
      expect(target, path).toBeDefined();
    }
    const ids = Object.values(document.paths)
      .flatMap((routes) => Object.values(routes))
      .map(({ operationId }) => operationId);
    expect(ids).not.toContain(undefined);
    expect(new Set(ids).size).toBe(ids.length);
    expect(document.openapi).toBe("3.1.0");
  });

  test("names each header that takes a key", async () => {
    const bearer = { type: "http", scheme: "bearer" };
    const apiKey = { type: "apiKey", in: "header", name: "x-api-key" };
    expect(document.components.securitySchemes).toEqual({ bearer, apiKey });
    expect(document.security).toEqual([{ bearer: [] }, { apiKey: [] }]);

    const url = `${service.url}/v1/datasets`;
    const got = await fetch(url, { headers: { "x-api-key": service.projectKey } });
    expect(got.status).toBe(200);
  });

  test("has no schema that nothing refers to", () => {
    const text = JSON.stringify(document);
    const unused = Object.keys(document.components.schemas).filter(
      (name) => !text.includes(`"#/components/schemas/${name}"`),
    );
    expect(unused).toEqual([]);
  });

  test("names each parameter once, and none that the path decides", () => {
    const twice = Object.entries(document.paths).flatMap(([path, routes]) =>
      Object.values(routes).flatMap(({ parameters = [] }) => {
        const names = parameters.map(({ name }) => name);
        return new Set(names).size === names.length ? [] : [path];
      }),
    );
    const { parameters } = operationOf("GET", "/v1/projects/{project_id}/members");

    expect(twice).toEqual([]);
    expect(parameters?.map(({ name }) => name)).toEqual(["project_id", "limit", "cursor"]);
  });

  test("has in a body no scope that the path decides", () => {
    const { requestBody } = operationOf("POST", "/v1/orgs/{org_id}/members");
    const schema = requestBody?.content?.[jsonType]?.schema as { readonly properties: object };

    expect(Object.keys(schema.properties)).toEqual(["org_id", "email", "role"]);
  });

  test.each(["EventInput", "EventInputStrict"])("%s has no key of answers alone", (name) => {
    expect(document.components.schemas[name]).toMatchObject({ properties: { inputs: {} } });
    expect(document.components.schemas[name]).not.toHaveProperty("properties.cost_estimate");
    expect(document.components.schemas["Event"]).toHaveProperty("properties.cost_estimate");
  });

  test.each([
    ["/v1/events/fields/values", "field"],
    ["/v1/feedback", "generation_id"],
  ])("GET %s requires %s in its query", (path, name) => {
    const { parameters = [] } = operationOf("GET", path);

    expect(parameters.filter(({ required }) => required).map((one) => one.name)).toEqual([name]);
  });

  test.each([
    { path: "/v1/events/export", body: { dateRange: { until: 1 } }, status: 400 },
    { path: "/v1/charts/query", body: { date_range: { until: 1 }, query: {} }, status: 400 },
    { path: "/v1/alerts", body: { thresholds: { warning: {} } }, status: 400 },
    { path: "/v1/events/search", body: { until: 1 }, status: 400 },
    { path: "/v1/events/export", body: { until: 1 }, status: 200 },
  ])("says whether $path takes the unknown key of $body", async ({ path, body, status }) => {
    const got = await call("POST", path, body);
    const schema = operationOf("POST", path).requestBody?.content?.[jsonType]?.schema ?? {};

    expect([got.status, got.text]).toEqual([
      status,
      expect.stringMatching(/not a known key|events/),
    ]);
    expect(faults(schema, body)).toHaveLength(status === 400 ? 1 : 0);
  });

  test("describes the refusal of a whole batch", () => {
    expect(document.components.schemas["Error"]).toMatchObject({
      properties: { event_ids: { type: "array" }, errors: { type: "array" } },
    });
  });

  test("says nothing that generators of clients cannot read", () => {
    const text = JSON.stringify(document);

    // An object as a constant, and a body without a schema.
    expect(text.match(/"const":\{|"application\/[a-z.-]+":\{\}/g)).toBeNull();
  });

  test("only the records of an answer lack what a projection leaves out", () => {
    const { schemas } = document.components;

    expect(schemas["ExportEventsResponseProjected"]).toMatchObject({
      required: ["events", "totalEvents", "count"],
    });
    expect(schemas["EventProjected"]).not.toHaveProperty("required");
  });

  test("marks what docs/spec.md calls deprecated", () => {
    const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({ path, method, operation })),
    );
    const marked = routes.filter(({ operation }) => "deprecated" in operation);

    expect(marked.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
      "delete /v1/charts/{chart_id}",
      "get /v1/charts",
      "get /v1/charts/{chart_id}",
      "patch /v1/charts/{chart_id}",
      "post /v1/charts",
      "put /v1/charts/{chart_id}",
    ]);
    for (const name of ["CreateMetricRequest", "UpdateMetricRequestStrict"]) {
      expect(document.components.schemas[name]).toMatchObject({
        properties: { needs_ground_truth: { deprecated: true } },
      });
    }
  });

  test("calls a CSV file a text, and a Parquet file bytes", () => {
    const { content } = answerOf("GET", "/v1/datasets/{dataset_id}/export", 200);

    expect(content).toMatchObject({
      "text/csv": { schema: { type: "string" } },
      "application/vnd.apache.parquet": { schema: { type: "string", format: "binary" } },
    });
    expect(content?.["text/csv"]?.schema).not.toHaveProperty("format");
  });

  test("tells the limits of every call, by the names of docs/limits.md", () => {
    const { info, paths, components } = document;

    const counts = { containersMax: 2_000_000, valuesMax: 6_000_000, listItemsMax: 100_000 };
    expect(info).toMatchObject({ "x-limits": { ...counts, requestMemoryBytesMax: 200_000_000 } });
    expect(paths["/events"]?.["post"]).toMatchObject({ "x-body-bytes-max": 7_340_032 });
    expect(paths["/v1/events"]?.["post"]).toMatchObject({ "x-body-bytes-max": 64_000_000 });
    expect(paths["/v1/traces"]?.["post"]).toMatchObject({ "x-body-bytes-max": tracesBytesMax });
    const bodies = Object.values(paths).flatMap((path) => Object.values(path));
    for (const operation of bodies) {
      if ("requestBody" in operation) expect(operation).toHaveProperty("x-body-bytes-max");
    }
    expect(components.schemas["CreateEventBatchRequest"]).toMatchObject({
      properties: { events: { maxItems: 100_000 } },
    });
  });

  test("carries the comments of the protos", () => {
    expect(operationOf("POST", "/events")).toMatchObject({
      summary: "Creates one event, or merges it into the event that has its id.",
    });
  });

  test("leaves out what the comments of the protos say to the linter", () => {
    expect(JSON.stringify(document).match(/buf:lint/g)).toBeNull();
  });

  const event = { event_id: "e1", session_id: "s1", event_type: "model", inputs: { a: [1] } };
  // docs/spec.md says "string or null" of both, and its example sends them so.
  const nulls = { parent_id: null, error: null };
  test.each([
    { method: "POST", path: "/session/start", body: { session: { session_id: "s1", ...nulls } } },
    { method: "POST", path: "/v1/sessions", body: { session_id: "s1", start_time: "2026-01-01" } },
    { method: "POST", path: "/events", body: { event: { ...event, error: "bad" } } },
    { method: "POST", path: "/events", body: { event: { ...event, ...nulls } } },
    { method: "POST", path: "/v1/events", body: { ...event, start_time: 5 } },
    { method: "POST", path: "/events/batch", body: { events: [{ ...event, source: "x" }, {}] } },
    { method: "PUT", path: "/events", body: { event_id: "e1", metadata: { cost: 1 } } },
    { method: "PUT", path: "/v1/events/{event_id}", url: "/v1/events/e1", body: { duration: 5 } },
    { method: "GET", path: "/v1/events/{event_id}", url: "/v1/events/e1" },
    { method: "POST", path: "/events/export", body: { project: "demo", filters: [] } },
    { method: "POST", path: "/v1/events/export", body: { projections: ["inputs"], limit: 2 } },
    { method: "POST", path: "/v1/events/search", body: { dateRange: { start_time: 0 } } },
    { method: "GET", path: "/events", url: "/events?limit=1" },
    { method: "POST", path: "/feedback", body: { generation_id: "e1", task: "x" } },
    { method: "GET", path: "/v1/feedback", url: "/v1/feedback?generation_id=e1" },
    { method: "GET", path: "/v1/events/schema" },
    { method: "GET", path: "/session/{session_id}", url: "/session/s1" },
    { method: "GET", path: "/v1/sessions/{session_id}", url: "/v1/sessions/s1" },
    {
      method: "GET",
      path: "/v1/sessions/{session_id}",
      url: "/v1/sessions/s1?view=skeleton",
    },
    { method: "GET", path: "/v1/sessions" },
    { method: "DELETE", path: "/v1/sessions/{session_id}", url: "/v1/sessions/s1" },
  ])("is true of $method $path", async ({ method, path, url = path, body }) => {
    const operation = operationOf(method, path);
    const got = await call(method, url, body);

    expect([got.status, got.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
    const request = operation.requestBody?.content?.["application/json"]?.schema;
    if (request) expect(faults(request, body)).toEqual([]);
    const answer = operation.responses["200"] as Body;
    const schema = answer.content?.["application/json"]?.schema ?? { not: {} };
    expect(faults(schema, JSON.parse(got.text))).toEqual([]);
  });

  const names = { name: "made by a test", description: "with words" };
  const fineGrained = { ...names, permissions: ["project.event.get"], expires_at: "2999-01-01" };
  const cp = "controlPlaneKey";
  const dp = "dataPlaneKey";
  test.each([
    { key: cp, method: "GET", path: "/v1/orgs" },
    { key: cp, method: "GET", path: "/v1/orgs/{org_id}" },
    { key: cp, method: "PUT", path: "/v1/orgs/{org_id}", body: { name: "renamed" } },
    { key: cp, method: "GET", path: "/v1/orgs/{org_id}/virtual_dataplanes" },
    { key: cp, method: "GET", path: "/v1/virtual_dataplanes/{virtual_dataplane_id}" },
    {
      key: cp,
      method: "POST",
      path: "/v1/virtual_dataplanes/{virtual_dataplane_id}/workspaces",
      body: names,
    },
    { key: cp, method: "GET", path: "/v1/virtual_dataplanes/{virtual_dataplane_id}/workspaces" },
    { key: cp, method: "GET", path: "/v1/workspaces/{workspace_id}" },
    { key: cp, method: "PUT", path: "/v1/workspaces/{workspace_id}", body: { description: "d" } },
    { key: cp, method: "POST", path: "/v1/workspaces/{workspace_id}/projects", body: names },
    { key: cp, method: "GET", path: "/v1/workspaces/{workspace_id}/projects" },
    { key: cp, method: "GET", path: "/v1/projects/{project_id}" },
    { key: cp, method: "GET", path: "/v1/orgs/{org_id}/audit_log" },
    { key: cp, method: "GET", path: "/v1/orgs/{org_id}/api_key_policy" },
    {
      key: cp,
      method: "PUT",
      path: "/v1/orgs/{org_id}/api_key_policy",
      body: { permissions: ["*"] },
    },
    { key: dp, method: "POST", path: "/v1/projects/{project_id}/ingestion_api_keys", body: names },
    { key: dp, method: "GET", path: "/v1/projects/{project_id}/ingestion_api_keys" },
    { key: dp, method: "POST", path: "/v1/projects/{project_id}/project_api_keys", body: names },
    {
      key: dp,
      method: "POST",
      path: "/v1/projects/{project_id}/fine_grained_api_keys",
      body: fineGrained,
    },
    { key: dp, method: "GET", path: "/v1/projects/{project_id}/fine_grained_api_keys" },
  ] as const)("is true of $method $path", async ({ key, method, path, ...rest }) => {
    const body = "body" in rest ? rest.body : undefined;
    const { orgId, dataplaneId, workspaceId, projectId } = service.project;
    const url = path
      .replace("{org_id}", orgId)
      .replace("{virtual_dataplane_id}", dataplaneId)
      .replace("{workspace_id}", workspaceId)
      .replace("{project_id}", projectId);

    const got = await call(method, url, body, { authorization: `Bearer ${service[key]}` });

    expect([got.status, got.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
    expect(faults(answerSchema(method, path, 200), JSON.parse(got.text))).toEqual([]);
    const request = operationOf(method, path).requestBody?.content?.[jsonType]?.schema;
    if (request) expect(faults(request, body)).toEqual([]);
  });

  const jsonLines = "application/x-ndjson";
  const parquet = "application/vnd.apache.parquet";
  const dataset = "/v1/datasets/{dataset_id}";
  test.each([
    { call: "POST /chat", types: [jsonType, "text/event-stream"] },
    { call: "POST /chat/stream", types: ["text/event-stream"] },
    { call: "POST /v1/chat/completions", types: [jsonType, "text/event-stream"] },
    { call: "POST /v1/responses", types: [jsonType, "text/event-stream"] },
    { call: "POST /v1/events/stream", types: [jsonLines, parquet] },
    { call: `GET ${dataset}/export`, types: [jsonLines, parquet, "text/csv"] },
    { call: `POST ${dataset}/import`, types: [jsonLines] },
  ])("says in which forms $call is answered", ({ call: route, types }) => {
    const [method = "", path = ""] = route.split(" ");

    expect(Object.keys(answerOf(method, path, 200).content ?? {})).toEqual(types);
  });

  test("says in which forms a file is sent", () => {
    const { content } = operationOf("POST", `${dataset}/import`).requestBody ?? {};

    expect(Object.keys(content ?? {})).toEqual([jsonLines, "text/csv", parquet]);
  });

  test.each([
    { path: "/v1/workspaces/{workspace_id}/projects", required: ["name"] },
    {
      path: "/v1/projects/{project_id}/fine_grained_api_keys",
      required: ["name", "permissions", "expires_at"],
    },
  ])("says what the body of $path must have", ({ path, required }) => {
    const schema = operationOf("POST", path).requestBody?.content?.[jsonType]?.schema;

    expect(schema).toMatchObject({ required });
  });

  test.each([
    { schema: "CreateChatRequest", required: ["project"] },
    { schema: "CreateFeedbackRequest", required: ["generation_id", "task"] },
  ])("says what $schema must have", ({ schema, required }) => {
    expect(document.components.schemas[schema]).toMatchObject({ required });
  });

  test("is true of a stream's lines", async () => {
    await call("POST", "/events", { event });
    const got = await call("POST", "/v1/events/stream", {});
    const answer = operationOf("POST", "/v1/events/stream").responses["200"] as Body;
    const schema = answer.content?.["application/x-ndjson"]?.schema ?? { not: {} };
    for (const line of got.text.trimEnd().split("\n")) {
      expect(faults(schema, JSON.parse(line))).toEqual([]);
    }
  });

  test("is true of errors", async () => {
    const { schemas } = document.components;
    const bad = await call("POST", "/v1/events", { colour: "red" });
    const absent = await call("GET", "/v1/events/none");
    expect([bad.status, absent.status]).toEqual([400, 404]);
    expect(faults(schemas["Error"] ?? { not: {} }, JSON.parse(bad.text))).toEqual([]);
    expect(faults(schemas["NotFound"] ?? { not: {} }, JSON.parse(absent.text))).toEqual([]);
  });

  test.each(["/healthz", "/readyz", "/openapi.json"])("is true of %s", async (path) => {
    const got = await call("GET", path);

    expect(got.status).toBe(200);
    expect(faults(answerSchema("GET", path, 200), JSON.parse(got.text))).toEqual([]);
  });
});

const span = { traceId: "a".repeat(32), spanId: "b".repeat(16), startTimeUnixNano: "1" };
const log = { ...span, eventName: "gen_ai.choice", flags: 1 };

describe.each([
  {
    signal: "traces",
    good: span,
    bodyOf: (...spans: readonly object[]) => ({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
    malformed: { resourceSpans: 7 },
  },
  {
    signal: "logs",
    good: log,
    bodyOf: (...logRecords: readonly object[]) => ({
      resourceLogs: [{ scopeLogs: [{ logRecords }] }],
    }),
    malformed: { resourceLogs: 7 },
  },
])("/openapi.json on $signal", ({ signal, good, bodyOf, malformed }) => {
  describe.each([`/v1/${signal}`, `/opentelemetry/v1/${signal}`])("%s", (path) => {
    test.each([
      { name: "a success", body: bodyOf(good), status: 200 },
      { name: "rejected parts", body: bodyOf(good, { name: "bad" }), status: 200 },
      { name: "a malformed body", body: malformed, status: 400 },
      { name: "a body too large", body: { pad: "x".repeat(tracesBytesMax) }, status: 413 },
    ])("is true of $name", async ({ body, status }) => {
      const got = await call("POST", path, body, { "content-type": jsonType });

      expect([got.status, got.contentType]).toEqual([status, jsonType]);
      expect(faults(answerSchema("POST", path, status), JSON.parse(got.text))).toEqual([]);
    });

    test("names the encoding of an answer to another content type", async () => {
      const got = await call("POST", path, {}, { "content-type": "text/plain" });

      expect(got.status).toBe(400);
      expect(answerOf("POST", path, 400).content).toHaveProperty([got.contentType]);
    });

    test("is true of a wrong key", async () => {
      const headers = { "content-type": jsonType, authorization: "Bearer wrong" };
      const got = await call("POST", path, bodyOf(good), headers);

      expect(got.status).toBe(404);
      expect(faults(answerSchema("POST", path, 404), JSON.parse(got.text))).toEqual([]);
    });
  });
});

describe("/openapi.json on routes of providers' APIs", () => {
  test.each([
    { path: "/v1/chat/completions", form: "OpenAiError" },
    { path: "/v1/responses", form: "OpenAiError" },
    { path: "/v1/embeddings", form: "OpenAiError" },
    { path: "/v1/messages", form: "AnthropicError" },
    { path: "/v1/messages/stream", form: "AnthropicError" },
    { path: "/v1/messages/count_tokens", form: "AnthropicError" },
  ])("is true of a refusal of $path", async ({ path, form }) => {
    const got = await call("POST", path, {}, { "content-type": jsonType });

    expect(got.status).toBe(400);
    const error = JSON.parse(got.text) as object;
    expect(error).toHaveProperty("error.message");
    expect(faults(answerSchema("POST", path, 400), error)).toEqual([]);
    expect(answerSchema("POST", path, 400)).toEqual({ $ref: `#/components/schemas/${form}` });
    const { properties } = document.components.schemas[form] as { readonly properties: object };
    expect(Object.keys(properties)).toEqual(Object.keys(error));
  });
});

describe("/openapi.json without a database", () => {
  let away: TestService;
  beforeAll(async () => {
    away = await startService();
    await away.database.close();
  });
  afterAll(() => away.stop());

  test.each([
    { method: "GET", path: "/readyz" },
    { method: "POST", path: "/v1/traces" },
    { method: "POST", path: "/opentelemetry/v1/traces" },
    { method: "POST", path: "/v1/logs" },
  ])("is true of $method $path", async ({ method, path }) => {
    const response = await fetch(away.url + path, {
      method,
      headers: { authorization: `Bearer ${away.projectKey}`, "content-type": jsonType },
      ...(method === "POST" ? { body: "{}" } : {}),
    });

    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(faults(answerSchema(method, path, 503), await response.json())).toEqual([]);
  });
});
