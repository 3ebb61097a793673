// Charts over the whole service: stored charts under both kinds of keys, and questions with faults.
// Source: docs/spec.md, "Charts"; docs/decisions.md, 47.1, 47.2; docs/charts.md.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { callRoute } from "../support/call-route.ts";
import { givenStarted } from "../support/given.ts";
import { givenAMetricProject, type MetricProject } from "../support/metrics.ts";
import { startService } from "../support/service.ts";
import { withKey } from "../support/tenants.ts";

const service = givenStarted(startService);

type Json = Readonly<Record<string, unknown>>;

/** Returns a function that calls the paths under the project with a data plane key. */
async function caller({ projectId, ...tenant }: MetricProject) {
  const options = { kind: "data_plane", root: "project" } as const;
  const credential = await withKey(service.database, { projectId, ...tenant }, options);
  const by = { url: service.url, headers: credential };
  return (method: string, path: string, body?: Json) =>
    callRoute(by, `${method} /v1/projects/${projectId}/charts${path}`, body);
}

test("a chart made with one kind of key is seen and changed with the other", async () => {
  const project = await givenAMetricProject(service);
  const call = await caller(project);

  const made = await call("POST", "", { name: "of the data plane", metric: "event_count" });
  const { id } = made.json["data"] as { id: string };
  const seen = await project.ok(`GET /v1/charts/${id}`);
  await project.ok(`PUT /v1/charts/${id}`, { description: "by the project" });
  const changed = await call("PATCH", `/${id}`, { name: "renamed" });

  expect(made.status).toBe(200);
  expect(seen["data"]).toMatchObject({ name: "of the data plane", bucketing: "day", query: [] });
  expect(changed.json["data"]).toMatchObject({ name: "renamed", description: "by the project" });
  expect((await call("GET", "")).json["data"]).toMatchObject([{ id }]);
  expect(await call("DELETE", `/${id}`)).toMatchObject({ status: 200, json: { success: true } });
  expect((await project.call(`GET /v1/charts/${id}`)).status).toBe(404);
});

test("only the older paths are deprecated, and name the current one", async () => {
  const project = await givenAMetricProject(service);
  const call = await caller(project);
  const { data } = await project.ok("POST /v1/charts", { name: "x", metric: "cost" });
  const { id } = data as { id: string };
  const authorization = `Bearer ${project.key}`;

  const old = await fetch(`${service.url}/v1/charts/${id}`, { headers: { authorization } });
  const current = await call("GET", `/${id}`);

  const path = `/v1/projects/${project.projectId}/charts/${id}`;
  expect(old.headers.get("deprecation")).toMatch(/^@\d+$/);
  expect(old.headers.get("link")).toBe(`<${path}>; rel="successor-version"`);
  expect([current.headers.get("deprecation"), current.headers.get("link")]).toEqual([null, null]);
});

test("an empty list ends the filters of a chart, and an absent one keeps them", async () => {
  const project = await givenAMetricProject(service);
  const query = [{ field: "event_type", operator: "is", value: "tool" }];
  const { data } = await project.ok("POST /v1/charts", { name: "x", metric: "cost", query });
  const { id } = data as { id: string };
  const change = async (body: Json) => (await project.ok(`PUT /v1/charts/${id}`, body))["data"];

  expect(await change({ name: "y" })).toMatchObject({ query });
  expect(await change({ query: null })).toMatchObject({ query });
  expect(await change({ query: [] })).toMatchObject({ name: "y", query: [] });
  await change({ query });
  expect(await change({ emptied_lists: ["query"] })).toMatchObject({ query: [] });
  const other = await project.call(`PUT /v1/charts/${id}`, { emptied_lists: ["name"] });
  expect([other.status, other.json["message"]]).toEqual([
    400,
    'emptied_lists[0]: must be one of query, not "name"',
  ]);
});

test.each([
  { query: [{ field: "", operator: "exists" }], want: "query[0].field: no such field" },
  { query: Array(101).fill({ field: "error", operator: "exists" }), want: "query: at most 100" },
])("a fault of a stored chart's filters names them: $want", async ({ query, want }) => {
  const project = await givenAMetricProject(service);

  const got = await project.call("POST /v1/charts", { name: "x", metric: "cost", query });

  expect([got.status, String(got.json["message"]).slice(0, want.length)]).toEqual([400, want]);
});

test("an empty range returns a chart to the default one, and an absent range stays", async () => {
  const project = await givenAMetricProject(service);
  const dateRange = { relative: "30d" };
  const { data } = await project.ok("POST /v1/charts", { name: "x", metric: "cost", dateRange });
  const { id } = data as { id: string };
  const change = async (body: Json) => (await project.ok(`PUT /v1/charts/${id}`, body))["data"];

  expect(await change({ name: "y" })).toMatchObject({ dateRange });
  expect(await change({ dateRange: {} })).toMatchObject({ dateRange: null });
  expect(await change({ dateRange })).toMatchObject({ dateRange });
  expect(await change({ dateRange: { relative: "" } })).toMatchObject({ dateRange: null });
});

test("a stored chart is answered over its range, without sessions", async () => {
  const project = await givenAMetricProject(service);
  const hour = 3_600_000;
  const events = Array.from({ length: 10 }, (_, n) => ({
    event_type: "model",
    source: "test",
    inputs: {},
    session_id: `s${n}`,
    start_time: Date.now() - n * hour,
    config: { model: n < 8 ? "a" : "b" },
    metadata: { total_tokens: 10 },
  }));
  await project.ok("POST /events/batch", { events });
  const { data } = await project.ok("POST /v1/charts", {
    name: "tokens",
    metric: "total_tokens",
    groupBy: "model",
    bucketing: "hour",
    dateRange: { relative: "5h" },
  });
  const { id } = data as { id: string };

  const answer = await project.ok(`GET /v1/charts/${id}/data`);

  const result = answer["data"] as {
    readonly data: { readonly series: readonly { readonly values: readonly number[] }[] };
    readonly meta: Json;
  };
  // The sixth event is just outside, or just inside if the test runs within a millisecond.
  expect([5, 6]).toContain(result.meta["matched_event_count"]);
  expect(result).toMatchObject({ kind: "time_series", meta: { effective_bucket: "hour" } });
  const [values = []] = result.data.series.map((series) => series.values);
  const sum = values.reduce((left, right) => left + right, 0);
  expect(sum).toBe(10 * Number(result.meta["matched_event_count"]));
});

test("every list and chart of older clients obeys each form of a date range", async () => {
  const project = await givenAMetricProject(service);
  const day = 86_400_000;
  const events = [0, 2].map((days) => ({
    event_type: "model",
    source: "test",
    inputs: {},
    session_id: `session of ${days}`,
    start_time: Date.now() - days * day - 1_000,
  }));
  await project.ok("POST /events/batch", { events });
  for (const run_id of ["r1", "r2"]) await project.ok("POST /v1/runs", { run_id, name: run_id });
  const since = new Date(Date.now() - day).toISOString();
  const forms = [
    `dateRange=${encodeURIComponent(JSON.stringify({ $gte: since }))}`,
    `dateRange[$gte]=${since}`,
    `dateRange[start_time]=${since}`,
    `dateRange.gte=${since}`,
    `dateRange=${encodeURIComponent('{"relative":"1d"}')}`,
    "dateRange[relative]=24h",
  ];
  const counts = async (query: string) => {
    const chart = await project.ok(`GET /v1/events/chart?${query}`);
    const listed = await project.ok(`GET /events?limit=10&${query}`);
    const sessions = await project.ok(`GET /v1/sessions?${query}`);
    const runs = await project.ok(`GET /v1/runs?${query}`);
    const { total } = runs["pagination"] as { total: number };
    const listedSessions = sessions["sessions"] as readonly unknown[];
    return [chart["totalEvents"], listed["totalEvents"], listedSessions.length, total];
  };

  for (const form of forms) expect([form, ...(await counts(form))]).toEqual([form, 1, 2, 1, 2]);
  const past = `dateRange[$gte]=${since}&dateRange[$lte]=${since}`;
  expect(await counts(past)).toEqual([0, 0, 0, 0]);
  const body = { filters: [], dateRange: { relative: "1d" } };
  expect((await project.ok("POST /v1/events/export", body))["totalEvents"]).toBe(2);
});

test.each([
  { query: "dateRange[relative]=soon", want: "dateRange.relative: must be a number and h, d" },
  { query: "dateRange[relative]=1d&dateRange[$gte]=5", want: "dateRange: must be relative or" },
  { query: "dateRange[$gt]=5", want: "dateRange[$gt]: is not a known name" },
  { query: 'dateRange={"from":5}', want: "dateRange.from: is not a known key" },
  { query: "dateRange[$gte]=soon", want: "dateRange.$gte: must be" },
])("lists and charts of older clients refuse $query", async ({ query, want }) => {
  const project = await givenAMetricProject(service);

  for (const path of ["/v1/events/chart", "/events", "/v1/sessions", "/v1/runs"]) {
    const answer = await project.call(`GET ${path}?${query}`);
    expect([path, answer.status, answer.json["message"]]).toEqual([
      path,
      400,
      expect.stringContaining(want),
    ]);
  }
});

test("a stored chart keeps what it shows, until one without a kind ends it", async () => {
  const project = await givenAMetricProject(service);
  const events = ["search", "search", "fetch"].map((name) => ({
    event_type: "tool",
    event_name: name,
    source: "test",
    inputs: {},
  }));
  await project.ok("POST /events/batch", { events });
  const shown = {
    kind: "categorical",
    measures: [{ metric: "event_count" }, { metric: "duration", aggregation: "p95" }],
    split_by: "event_name",
    split_ranking: { limit: 5 },
  };
  const { data } = await project.ok("POST /v1/charts", {
    name: "tools",
    metric: "event_count",
    shown,
    query: [{ field: "event_type", operator: "is", value: "tool" }],
  });
  const { id } = data as { id: string };

  const renamed = await project.ok(`PUT /v1/charts/${id}`, { name: "by tool" });
  const answer = await project.ok(`GET /v1/charts/${id}/data`);
  const ended = await project.ok(`PUT /v1/charts/${id}`, { shown: { kind: "" } });
  const faulty = await project.call(`PUT /v1/charts/${id}`, {
    shown: { ...shown, measures: [{ metric: "nothing" }] },
  });

  expect(renamed["data"]).toMatchObject({ name: "by tool", shown: { kind: "categorical" } });
  expect(answer["data"]).toMatchObject({
    kind: "categorical",
    data: { buckets: ["search", "fetch"], series: [{ values: [2, 1] }, { measure: "m2" }] },
  });
  expect(ended["data"]).not.toHaveProperty("shown");
  expect(faulty.status).toBe(400);
  expect(JSON.stringify(faulty.json)).toContain("shown.measures[0].metric");
});

test("tokens and cost of a session are those of its events", async () => {
  const project = await givenAMetricProject(service);
  const events = [1, 2, 3].map((n) => ({
    event_type: "model",
    source: "test",
    inputs: {},
    session_id: "one",
    metadata: { total_tokens: n, cost: n / 2 },
  }));
  await project.ok("POST /events/batch", { events });
  const measures = [{ metric: "total_tokens" }, { metric: "cost" }];

  const answer = await project.ok("POST /v1/charts/query", {
    filters: [{ field: "event_type", operator: "is", value: "session" }],
    query: { kind: "scalar", measures },
  });

  expect(answer["data"]).toMatchObject({
    data: { series: [{ values: [6] }, { values: [3] }] },
    meta: { matched_event_count: 1 },
  });
});

test("tokens and cost of events add up to those of their session in every form", async () => {
  const project = await givenAMetricProject(service);
  const sent = [
    { total_tokens: 1, prompt_tokens: 1, cost: 0.5 },
    { total_tokens: "20", prompt_tokens: " 8 ", completion_tokens: "1e1", cost: ".25" },
    { total_tokens: "\u00a0400\u202f", prompt_tokens: "\ufeff7", cost: "0.5\u00a0" },
    { prompt_tokens: 100, completion_tokens: "300" },
    { input_tokens: 1_000, output_tokens: "3000", cost: -0.125 },
    { completion_tokens: 5 },
    // Neither counts nor costs.
    { total_tokens: -7, prompt_tokens: 1.5, completion_tokens: "0x10", cost: "1e999" },
    { total_tokens: "7 tokens", prompt_tokens: true, completion_tokens: {}, cost: "1e16" },
    {},
  ];
  const events = sent.map((metadata) => ({
    event_type: "model",
    source: "test",
    inputs: {},
    session_id: "one",
    metadata,
  }));
  await project.ok("POST /events/batch", { events });
  const names = ["total_tokens", "prompt_tokens", "completion_tokens", "cost"];

  const session = await project.ok("GET /session/one");
  const answers = [];
  for (const value of ["model", "session"]) {
    const { data } = await project.ok("POST /v1/charts/query", {
      filters: [{ field: "event_type", operator: "is", value }],
      query: { kind: "scalar", measures: names.map((metric) => ({ metric })) },
    });
    answers.push(seriesOf(data));
  }

  const totals = session["totals"] as Readonly<Record<string, number>>;
  const want = names.map((name) => totals[name]);
  expect(want).toEqual([4_826, 1_116, 3_315, 1.125]);
  expect(answers).toEqual([want, want]);
});

test("an end before the start is no negative duration, for any reader", async () => {
  const project = await givenAMetricProject(service);
  const base = { event_type: "tool", source: "test", inputs: {}, session_id: "one" };
  await project.ok("POST /events/batch", {
    events: [
      { ...base, event_id: "back", start_time: 2_000, end_time: 1_000 },
      { ...base, event_id: "open", start_time: 2_000 },
    ],
  });
  const isTool = { field: "event_type", operator: "is", value: "tool" };

  const { event } = await project.ok("GET /v1/events/back");
  const session = await project.ok("GET /session/one");
  const below = { field: "duration", operator: "less than", value: 0 };
  const found = await project.ok("POST /v1/events/search", { filters: [below] });
  const known = { field: "duration", operator: "exists" };
  const measured = await project.ok("POST /v1/events/search", { filters: [known, isTool] });
  const { data } = await project.ok("POST /v1/charts/query", {
    date_range: { start_time: 0, end_time: 10_000 },
    filters: [isTool],
    query: { kind: "scalar", measures: [{ metric: "duration", aggregation: "min" }] },
  });

  expect([(event as Json)["duration"], session["duration"]]).toEqual([0, 0]);
  expect([found["count"], measured["count"]]).toEqual([0, 1]);
  expect(seriesOf(data)).toEqual([0]);
});

test("the example of the documentation covers all of November in Paris", async () => {
  const project = await givenAMetricProject(service);
  const page = await readFile("docs/charts.md", "utf8");
  const [, body = ""] = /-d '(\{.+?\})'/s.exec(page) ?? [];
  const base = { event_type: "model", source: "test", inputs: {}, metadata: { cost: 1 } };
  await project.ok("POST /events/batch", {
    events: [
      { ...base, start_time: "2026-11-01T00:00:00+01:00", config: { model: "a" } },
      { ...base, start_time: "2026-11-30T23:59:59.999+01:00", config: { model: "a" } },
      { ...base, start_time: "2026-12-01T00:00:00+01:00", config: { model: "a" } },
    ],
  });

  const { data } = await project.ok("POST /v1/charts/query", JSON.parse(body) as Json);

  expect(data).toMatchObject({ meta: { matched_event_count: 2, timezone: "Europe/Paris" } });
  expect((data as { data: { buckets: unknown[] } }).data.buckets).toHaveLength(30);
});

test("an event of type session inside a session has no part of that session's sums", async () => {
  const project = await givenAMetricProject(service);
  const base = { source: "test", inputs: {}, session_id: "outer" };
  await project.ok("POST /events/batch", {
    events: [
      { ...base, event_type: "session", event_id: "outer" },
      { ...base, event_type: "session", event_id: "inner" },
      { ...base, event_type: "model", metadata: { total_tokens: 7, cost: 0.5 } },
    ],
  });

  const { data } = await project.ok("POST /v1/charts/query", {
    filters: [{ field: "event_type", operator: "is", value: "session" }],
    query: { kind: "scalar", measures: [{ metric: "total_tokens" }, { metric: "cost" }] },
  });

  expect(seriesOf(data)).toEqual([7, 0.5]);
});

function seriesOf(data: unknown): readonly unknown[] {
  const result = data as { data: { series: readonly { values: readonly unknown[] }[] } };
  return result.data.series.map(({ values }) => values[0]);
}

const onModels = { field: "event_type", operator: "is", value: "model" };
const aScalar = { kind: "scalar", measures: [{ metric: "event_count" }] };

test.each<readonly [name: string, body: Json, message: RegExp]>([
  ["no query", {}, /query/],
  ["no measure", { query: { kind: "scalar" } }, /^query\.measures: must name a measure/],
  [
    "another kind",
    { query: { ...aScalar, kind: "pie" } },
    /^query\.kind: must be one of .*, not "pie"$/,
  ],
  [
    "an unknown aggregation",
    { query: { ...aScalar, measures: [{ metric: "cost", aggregation: "p42" }] } },
    /^query\.measures\[0\]\.aggregation: must be one of count.*, not "p42"$/,
  ],
  [
    "dates that are none",
    { query: aScalar, date_range: { start_time: "yesterday" } },
    /date_range.start_time/,
  ],
  [
    "dates the wrong way round",
    { query: aScalar, date_range: { start_time: 2_000, end_time: 1_000 } },
    /^date_range: start_time must not be after end_time/,
  ],
  [
    "an unknown zone",
    { query: aScalar, date_range: { timezone: "Mars/Olympus" } },
    /^date_range\.timezone: must be the name of a time zone/,
  ],
  [
    "an offset for a zone",
    { query: aScalar, date_range: { timezone: "+02:00" } },
    /^date_range\.timezone: must be the name/,
  ],
  [
    "too many buckets",
    {
      query: { ...aScalar, kind: "time_series", bucket: { unit: "minute" } },
      date_range: { start_time: 1_700_000_000_000, end_time: 1_710_000_000_000 },
    },
    /^query\.bucket\.unit: the range has more than 1000 buckets of one minute/,
  ],
  [
    "one bucket too many",
    {
      query: { ...aScalar, kind: "time_series", bucket: { unit: "hour" } },
      date_range: { start_time: 0, end_time: 3_600_000_000 },
    },
    /^query\.bucket\.unit: the range has more than 1000 buckets of one hour/,
  ],
  [
    "an unknown unit",
    { query: { ...aScalar, kind: "time_series", bucket: { unit: "fortnight" } } },
    /^query\.bucket\.unit: must be one of minute, hour, day, week, month, not "fortnight"$/,
  ],
  [
    "too many points",
    { query: { ...aScalar, kind: "time_series", bucket: { max_points: 1001 } } },
    /^query\.bucket\.max_points: must be from 1 to 1000$/,
  ],
  [
    "too many splits",
    { query: { ...aScalar, kind: "table", split_by: "model", split_ranking: { limit: 101 } } },
    /^query\.split_ranking\.limit: must be from 1 to 100$/,
  ],
  ["no split", { query: { ...aScalar, kind: "table" } }, /^query\.split_by: must name the field/],
  [
    "a split by the items of a list",
    { query: { ...aScalar, kind: "table", split_by: "inputs" } },
    /^query\.split_by: must be one of event_type.*, or a path of an event, not "inputs"$/,
  ],
  [
    "a run that is no UUID",
    { query: aScalar, product_filters: { experiment_run_id: "the last one" } },
    /^product_filters\.experiment_run_id: must be a UUID$/,
  ],
  [
    "a filter on an unrecorded field",
    { query: aScalar, filters: [onModels, { field: "metadata.x", operator: "is", value: 1 }] },
    /metadata\.x/,
  ],
])("a question with %s is a 400 that names it", async (_, body, message) => {
  const project = await givenAMetricProject(service);

  const got = await project.call("POST /v1/charts/query", { filters: [onModels], ...body });

  expect([got.status, got.json["message"]]).toEqual([400, expect.stringMatching(message)]);
});

test.each([
  ["measure", { kind: "scalar", measures: [{ metric: "metrics.absent" }] }, "metrics.absent"],
  ["split", { ...aScalar, kind: "table", split_by: "metadata.absent" }, "metadata.absent"],
])("a %s that no event has is named apart from the message", async (_, query, name) => {
  const project = await givenAMetricProject(service);
  const ask = (body: object) => project.call("POST /v1/charts/query", body);

  const got = await ask({ query, filters: [onModels] });
  const filtered = await ask({
    query: aScalar,
    filters: [onModels, { field: name, operator: "is", value: 1 }],
  });

  expect(got.json).toMatchObject({ errorCode: "INVALID_ARGUMENT", unrecorded_field: name });
  expect(filtered.json).toMatchObject({ errorCode: "INVALID_FILTER", unrecorded_field: name });
});

test.each<readonly [name: string, query: string, message: RegExp]>([
  ["an unknown metric", "metric=price", /^metric: must be one of .*"price"$/],
  ["an unknown aggregation", "metric=cost&aggregation=p42", /^aggregation: must be one of/],
  ["an unknown bucket", "bucket=eon", /^bucket: must be one of minute/],
  ["a run that is no UUID", "evaluation_id=x", /^evaluation_id: must be a UUID$/],
  ["dates that are none", `dateRange=${encodeURIComponent('{"$gte":"soon"}')}`, /\$gte/],
  ["no field to group by", "groupBy=outputs", /^groupBy: must be one of .*"outputs"$/],
  ["a filter by parts", "filters[0][field]=source", /^filters\[0\]\[field\]: must be JSON text/],
  ["a filter by dots", "filters.0.field=source", /^filters\.0\.field: must be JSON text/],
])("points with %s are a 400 that names it", async (_, query, message) => {
  const project = await givenAMetricProject(service);

  const got = await project.call(`GET /v1/events/chart?${query}`);

  expect([got.status, got.json["message"]]).toEqual([400, expect.stringMatching(message)]);
});

test.each([
  { hours: 100, zone: "UTC", from: "2026-03-02T00:00Z", bucket: {}, want: "hour", count: 100 },
  { hours: 101, zone: "UTC", from: "2026-03-02T00:00Z", bucket: {}, want: "day", count: 5 },
  // An hour in Kathmandu begins at a quarter past one of UTC, so the range touches one more.
  { hours: 100, zone: "Asia/Kathmandu", from: "2026-03-02T00:00Z", bucket: {}, want: "day" },
  // The clocks of Paris go forward inside these hundred days, which last 2,399 hours.
  { hours: 2_399, zone: "Europe/Paris", from: "2026-01-31T23:00Z", bucket: {}, want: "day" },
  { hours: 2_400, zone: "Europe/Paris", from: "2026-01-31T23:00Z", bucket: {}, want: "week" },
  { hours: 1_000, zone: "UTC", from: "2026-03-02T00:00Z", bucket: { unit: "hour" }, count: 1_000 },
  { hours: 700, zone: "UTC", from: "2026-03-02", bucket: { max_points: 5 }, want: "week" },
])(
  "$hours hours in $zone have as many buckets as they touch, and no larger unit for one less",
  async ({ hours, zone, from, bucket, want = "hour", count }) => {
    const project = await givenAMetricProject(service);
    const startMs = Date.parse(from);

    const { data } = await project.ok("POST /v1/charts/query", {
      date_range: {
        start_time: startMs,
        end_time: startMs + hours * 3_600_000 - 1,
        timezone: zone,
      },
      filters: [{ field: "event_type", operator: "is", value: "tool" }],
      query: { ...aScalar, kind: "time_series", bucket },
    });

    const { meta, data: shown } = data as { meta: Json; data: { buckets: readonly string[] } };
    expect(meta["effective_bucket"]).toBe(want);
    if (count !== undefined) expect(shown.buckets).toHaveLength(count);
  },
);

test("a split by decimals is a 400, and runs with their metrics are a dimension", async () => {
  const project = await givenAMetricProject(service);
  const runs = ["a", "b"].map((name) => `00000000-0000-4000-8000-00000000000${name}`);
  const events = runs.flatMap((run, at) =>
    [1, 2].map((score) => ({
      event_type: "model",
      source: "evaluation",
      inputs: {},
      metadata: { run_id: run, part: 0.5 },
      metrics: { quality: score * (at + 1) },
    })),
  );
  const other = { event_type: "model", source: "test", inputs: {} };
  await project.ok("POST /events/batch", { events: [...events, other] });
  const ask = (query: Json, more: Json = {}) =>
    project.call("POST /v1/charts/query", { filters: [onModels], query, ...more });
  const quality = [{ metric: "metrics.quality", aggregation: "avg" }];

  const byRun = { kind: "table", measures: quality, split_by: "metadata.run_id" };
  const all = await ask(byRun, { product_filters: { only_experiments: true } });
  const one = await ask(byRun, { product_filters: { experiment_run_id: runs[0] } });
  const decimal = await ask({ ...byRun, split_by: "metadata.part" });

  expect(all.json["data"]).toMatchObject({
    data: { buckets: [runs[1], runs[0]], series: [{ values: [3, 1.5] }] },
    meta: { matched_event_count: 4, exact: true, split_count: 2 },
  });
  expect(one.json["data"]).toMatchObject({ data: { series: [{ values: [1.5] }] } });
  expect([decimal.status, decimal.json["message"]]).toEqual([
    400,
    'query.split_by: "metadata.part" holds decimals, which make no groups',
  ]);
});

test.each<readonly [name: string, body: Json, message: RegExp]>([
  ["no name", { metric: "cost" }, /^name: is required/],
  ["no metric", { name: "x" }, /^metric: must be event_count/],
  ["an unknown metric", { name: "x", metric: "price" }, /^metric: must be event_count/],
  [
    "an unknown func",
    { name: "x", metric: "cost", func: "p42" },
    /^func: must be one of .*, not "p42"$/,
  ],
  ["an unknown bucketing", { name: "x", metric: "cost", bucketing: "eon" }, /^bucketing: must be/],
  ["an unknown group", { name: "x", metric: "cost", groupBy: "y" }, /^groupBy: is not a field/],
  [
    "a range in other words",
    { name: "x", metric: "cost", dateRange: { relative: "last week" } },
    /^dateRange\.relative: must be a number and/,
  ],
])("a chart with %s is a 400 that names it", async (_, body, message) => {
  const project = await givenAMetricProject(service);

  const got = await project.call("POST /v1/charts", body);

  expect([got.status, got.json["message"]]).toEqual([400, expect.stringMatching(message)]);
});

const aYear = { $gte: "2025-01-01", $lte: "2025-12-31" };
const twoCosts = [{ metric: "cost" }, { metric: "duration" }];

test.each<readonly [name: string, body: Json, message: RegExp]>([
  [
    "bounds the wrong way round",
    { dateRange: { $gte: 2_000, $lte: 1_000 } },
    /^dateRange: \$gte must not be after \$lte$/,
  ],
  ["too many buckets", { bucketing: "minute", dateRange: aYear }, /^bucketing: the range has more/],
  ["sums of events", { metric: "event_count", func: "sum" }, /^func: must be count for/],
  [
    "a table without a split",
    { shown: { kind: "table", measures: [{ metric: "cost" }] } },
    /^shown\.split_by: /,
  ],
  [
    "a histogram with a split",
    { shown: { kind: "histogram", measures: [{ metric: "cost" }], split_by: "model" } },
    /^shown\.split_by: is not for a histogram$/,
  ],
  [
    "a histogram of two measures",
    { shown: { kind: "histogram", measures: twoCosts } },
    /^shown\.measures: must be one for a histogram$/,
  ],
  [
    "two measures of one id",
    { shown: { kind: "scalar", measures: twoCosts.map((one) => ({ ...one, id: "a" })) } },
    /^shown\.measures: two have the id "a"$/,
  ],
  [
    "sums of events among others",
    { shown: { kind: "scalar", measures: [{ metric: "event_count", aggregation: "sum" }] } },
    /^shown\.measures\[0\]\.aggregation: must be count/,
  ],
  [
    "minutes of a year",
    {
      dateRange: aYear,
      shown: { kind: "time_series", measures: [{ metric: "cost" }], bucket: { unit: "minute" } },
    },
    /^shown\.bucket\.unit: the range has more/,
  ],
])("a stored chart of %s is a 400, made or changed", async (_, body, message) => {
  const project = await givenAMetricProject(service);
  const chart = { name: "x", metric: "cost" };
  const { data } = await project.ok("POST /v1/charts", chart);
  const { id } = data as { id: string };

  const made = await project.call("POST /v1/charts", { ...chart, ...body });
  const changed = await project.call(`PUT /v1/charts/${id}`, body);

  for (const got of [made, changed]) {
    expect([got.status, got.json["message"]]).toEqual([400, expect.stringMatching(message)]);
  }
});

test("a stored chart that events contradict names its own fields", async () => {
  const project = await givenAMetricProject(service);
  const make = async (body: Json) => {
    const { data } = await project.ok("POST /v1/charts", { name: "x", metric: "cost", ...body });
    return (data as { id: string }).id;
  };
  const shown = { kind: "table", measures: [{ metric: "metadata.part" }] };
  const cases = [
    [await make({ groupBy: "metadata.part" }), "groupBy"],
    [await make({ metric: "metadata.name" }), "metric"],
    [await make({ shown: { ...shown, split_by: "metadata.part" } }), "shown.split_by"],
    [
      await make({ shown: { ...shown, kind: "scalar", measures: [{ metric: "metadata.name" }] } }),
      "shown.measures[0].metric",
    ],
  ] as const;
  const metadata = { part: 0.5, name: "a" };
  const event = { event_type: "model", source: "test", inputs: {}, metadata };
  await project.ok("POST /events/batch", { events: [event] });

  for (const [id, field] of cases) {
    const got = await project.call(`GET /v1/charts/${id}/data`);
    expect([got.status, got.json["message"]]).toEqual([400, expect.stringContaining(`${field}: `)]);
  }
  const zone = await project.call(`GET /v1/charts/${cases[0][0]}/data?timezone=Mars`);
  expect(zone.json["message"]).toMatch(/^timezone: must be the name of a time zone/);
});

test("a filter on event_type that leaves every type does not count sessions too", async () => {
  const project = await givenAMetricProject(service);
  const event = { event_type: "model", source: "test", inputs: {}, metadata: { total_tokens: 5 } };
  await project.ok("POST /events/batch", { events: [event, event] });
  const filters = [{ field: "event_type", operator: "exists" }];
  const query = `metric=total_tokens&filters=${encodeURIComponent(JSON.stringify(filters))}`;

  const points = await project.ok(`GET /v1/events/chart?${query}`);
  const asked = await project.call("POST /v1/charts/query", { filters, query: aScalar });

  expect(points["totalEvents"]).toBe(2);
  expect([asked.status, asked.json["message"]]).toEqual([
    400,
    expect.stringMatching(/^filters: one must be on event_type, with is or is not,/),
  ]);
});

test("a short name of a zone has its changes of clocks, and an unknown name is a 400", async () => {
  const project = await givenAMetricProject(service);
  const bucketsIn = async (timezone: string) => {
    const date_range = { start_time: "2024-07-01T00:00Z", end_time: "2024-07-01T12:00Z", timezone };
    const query = { kind: "time_series", measures: [{ metric: "cost" }], bucket: { unit: "day" } };
    const body = { date_range, filters: [onModels], query };
    const { status, json } = await project.call("POST /v1/charts/query", body);
    const { data } = (json["data"] ?? {}) as { data?: { buckets: readonly string[] } };
    return { status, buckets: data?.buckets, message: json["message"] };
  };

  const got = [await bucketsIn("CET"), await bucketsIn("Europe/Paris")];
  // Known to the runtime alone.
  const unknown = await bucketsIn("US/Pacific-New");

  const summer = { status: 200, buckets: ["2024-06-30T22:00:00.000Z"] };
  expect(got).toMatchObject([summer, summer]);
  expect(unknown).toMatchObject({
    status: 400,
    message: expect.stringMatching(/^date_range\.timezone: must be the name/) as string,
  });
});

test("a histogram of the largest numbers has finite bounds", async () => {
  const project = await givenAMetricProject(service);
  const events = [-1e308, 0, 1e308].map((value) => ({
    event_type: "model",
    source: "test",
    inputs: {},
    metadata: { value },
  }));
  await project.ok("POST /events/batch", { events });

  const { data } = await project.ok("POST /v1/charts/query", {
    filters: [onModels],
    query: {
      kind: "histogram",
      measures: [{ metric: "metadata.value" }],
      bucket: { max_points: 2 },
    },
  });

  expect(data).toMatchObject({
    data: {
      buckets: [
        { from: -1e308, to: 0 },
        { from: 0, to: 1e308 },
      ],
      series: [{ values: [1, 2] }],
    },
  });
});
