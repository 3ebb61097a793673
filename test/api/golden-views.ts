// The cases of golden.test.ts on saved views and dashboards.
// Source: docs/decisions.md, 57.1, 57.2.

import type { JsonObject } from "@bufbuild/protobuf";
import { DashboardService } from "../../gen/waggle/v1/dashboard_pb.js";
import { ViewService } from "../../gen/waggle/v1/view_pb.js";
import { type Case, golden, type Request } from "./golden-case.ts";

const view = ViewService.method;
const dashboard = DashboardService.method;

const fields: JsonObject = {
  name: "Slow calls",
  page: "events",
  shared: true,
  state: {
    filters: [{ field: "duration", operator: "greater than", value: 1000 }],
    date_range: { relative: "7d" },
    columns: ["event_name", "metadata.user"],
    sort: { field: "duration", direction: "desc" },
    settings: { density: "compact" },
  },
};
const aView: Request = { route: "POST /v1/views", body: fields };
const oneView = "/v1/views/{view_id}";
const ofView: JsonObject = { view_id: "{view_id}" };
const another: JsonObject = { state: { date_range: { relative: "24h" } } };
const outwards: JsonObject = { ...fields, state: { sort: { field: "x", direction: "outwards" } } };

export const viewCases: readonly Case[] = [
  golden("post-v1-views/created", "POST /v1/views", view.createView, {
    body: fields,
    message: { view: fields },
  }),
  golden("post-v1-views/bad-sort", "POST /v1/views", view.createView, {
    body: outwards,
    message: { view: outwards },
  }),
  golden("get-v1-views/of-a-page", "GET /v1/views?page=events", view.listViews, {
    given: [aView],
    message: { page: "events" },
  }),
  golden("get-v1-views/of-another-page", "GET /v1/views?page=sessions", view.listViews, {
    given: [aView],
    message: { page: "sessions" },
  }),
  golden("get-v1-view/one", `GET ${oneView}`, view.getView, { given: [aView], message: ofView }),
  golden("put-v1-view/another-state", `PUT ${oneView}`, view.updateView, {
    given: [aView],
    body: another,
    message: { ...ofView, view: another },
  }),
  golden("delete-v1-view/deleted", `DELETE ${oneView}`, view.deleteView, {
    given: [aView],
    message: ofView,
  }),
];

const aChart: Request = { route: "POST /v1/charts", body: { name: "Cost", metric: "cost" } };
const grid: JsonObject = {
  name: "Daily",
  description: "For the morning",
  layout: { tiles: [{ chart_id: "{chart_id}", x: 0, y: 0, w: 6, h: 4 }] },
};
const aDashboard: Request = { route: "POST /v1/dashboards", body: grid };
const oneDashboard = "/v1/dashboards/{dashboard_id}";
const ofDashboard: JsonObject = { dashboard_id: "{dashboard_id}" };
const wide: JsonObject = {
  name: "Wide",
  layout: { tiles: [{ chart_id: "{chart_id}", x: 6, y: 0, w: 7, h: 1 }] },
};

export const dashboardCases: readonly Case[] = [
  golden("post-v1-dashboards/created", "POST /v1/dashboards", dashboard.createDashboard, {
    given: [aChart],
    body: grid,
    message: { dashboard: grid },
  }),
  golden("post-v1-dashboards/too-wide", "POST /v1/dashboards", dashboard.createDashboard, {
    given: [aChart],
    body: wide,
    message: { dashboard: wide },
  }),
  golden("get-v1-dashboards/listed", "GET /v1/dashboards", dashboard.listDashboards, {
    given: [aChart, aDashboard],
  }),
  golden("get-v1-dashboard/one", `GET ${oneDashboard}`, dashboard.getDashboard, {
    given: [aChart, aDashboard],
    message: ofDashboard,
  }),
  golden("put-v1-dashboard/emptied", `PUT ${oneDashboard}`, dashboard.updateDashboard, {
    given: [aChart, aDashboard],
    body: { layout: {} },
    message: { ...ofDashboard, dashboard: { layout: {} } },
  }),
  golden("delete-v1-dashboard/deleted", `DELETE ${oneDashboard}`, dashboard.deleteDashboard, {
    given: [aChart, aDashboard],
    message: ofDashboard,
  }),
];
