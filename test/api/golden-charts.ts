// The cases of golden.test.ts on charts.
// Source: the published clients of this API; docs/spec.md, "Charts"; docs/decisions.md, 47.1, 47.2.

import type { JsonObject } from "@bufbuild/protobuf";
import { ChartService } from "../../gen/waggle/v1/chart_pb.js";
import { type Case, golden, type Request } from "./golden-case.ts";

const chart = ChartService.method;

const hour = 3_600_000;
const start = 1_700_000_000_000;
const types = ["tool", "model", "model", "model"];
const events: readonly Request[] = types.map((type, at) => ({
  route: "POST /v1/events",
  body: {
    event_id: `e7e17000-0000-4000-8000-0000000000c${at}`,
    event_type: type,
    source: "sdk",
    inputs: {},
    start_time: start + at * hour,
    duration: 100 * at,
    config: { model: `m${at % 2}` },
    metadata: { cost: at / 4 },
  },
}));
const notSessions = { field: "event_type", operator: "is not", value: "session" };
const dateRange = { start_time: start, end_time: start + 5 * hour, timezone: "Europe/Paris" };

function question(query: JsonObject): JsonObject {
  return { date_range: dateRange, filters: [notSessions], query };
}

const byModel = { split_by: "model", split_ranking: { limit: 1 } };
const questions: Readonly<Record<string, JsonObject>> = {
  "time-series": question({
    kind: "time_series",
    bucket: { unit: "hour" },
    ...byModel,
    measures: [{ metric: "cost", id: "cost" }],
  }),
  categorical: question({ kind: "categorical", measures: [{ metric: "event_count" }], ...byModel }),
  table: question({
    kind: "table",
    split_by: "event_type",
    measures: [{ metric: "duration", aggregation: "p95" }, { metric: "cost" }],
  }),
  scalar: question({ kind: "scalar", measures: [{ metric: "duration", func: "max" }] }),
  histogram: question({
    kind: "histogram",
    bucket: { max_points: 3 },
    measures: [{ metric: "duration" }],
  }),
  scatter: question({ kind: "scatter", measures: [{ metric: "cost" }] }),
  "no-event-type": { query: { kind: "scalar", measures: [{ metric: "cost" }] } },
  "unknown-measure": question({ kind: "scalar", measures: [{ metric: "price" }] }),
  "by-decimals": question({
    kind: "table",
    split_by: "metadata.cost",
    measures: [{ metric: "event_count" }],
  }),
};

const fields: JsonObject = {
  name: "Cost by model",
  description: "Of all calls",
  metric: "cost",
  func: "sum",
  groupBy: "model",
  bucketing: "day",
  dateRange: { relative: "7d" },
  query: [notSessions],
  owner_id: "me",
};
const aChart: Request = { route: "POST /v1/charts", body: fields };
const one = "/v1/charts/{chart_id}";
const ofOne: JsonObject = { chart_id: "{chart_id}" };

export const chartCases: readonly Case[] = [
  ...Object.entries(questions).map(([name, body]) =>
    golden(`post-v1-charts-query/${name}`, "POST /v1/charts/query", chart.queryChart, {
      given: events,
      body,
    }),
  ),
  golden("post-v1-charts/created", "POST /v1/charts", chart.createChart, {
    body: fields,
    message: { chart: fields },
  }),
  golden("post-v1-charts/no-metric", "POST /v1/charts", chart.createChart, {
    body: { name: "x" },
    message: { chart: { name: "x" } },
  }),
  golden("get-v1-charts/listed", "GET /v1/charts", chart.listCharts, { given: [aChart] }),
  golden("get-v1-chart/one", `GET ${one}`, chart.getChart, { given: [aChart], message: ofOne }),
  golden("get-v1-chart/no-uuid", "GET /v1/charts/x", chart.getChart, {
    message: { chart_id: "x" },
  }),
  golden("put-v1-chart/renamed", `PUT ${one}`, chart.updateChart, {
    given: [aChart],
    body: { name: "Renamed", func: "" },
    message: { ...ofOne, chart: { name: "Renamed", func: "" } },
  }),
  golden("delete-v1-chart/deleted", `DELETE ${one}`, chart.deleteChart, {
    given: [aChart],
    message: ofOne,
  }),
  golden(
    "get-v1-events-chart/points",
    `GET /v1/events/chart?metric=cost&bucket=day&dateRange=${encodeURIComponent(
      JSON.stringify({ $gte: start, $lte: start + 5 * hour }),
    )}`,
    chart.getEventChart,
    {
      given: events,
      message: {
        metric: "cost",
        bucket: "day",
        dateRange: { $gte: start, $lte: start + 5 * hour },
      },
    },
  ),
];
