// Addresses of charts: `charts` shows a dashboard, `charts/edit` builds one chart. The question is
// in the address, so that it can be sent as a link.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { parseTimeRange, type TimeRange } from "../../design/time-range.ts";
import { projectRoute } from "../../shell/root-routes.tsx";
import { parseQuestion, type Question } from "./question.ts";

export type ChartsSearch = {
  readonly range?: TimeRange;
  /** Id of a dashboard, or `overview`; default: the first of the project. */
  readonly dashboard?: string;
  /** Whether tiles are being arranged. */
  readonly arrange?: boolean;
};

export const chartsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "charts",
  validateSearch: (search: Record<string, unknown>): ChartsSearch => ({
    ...parseTimeRange(search),
    ...textOf("dashboard", search),
    ...(search["arrange"] === true && { arrange: true }),
  }),
  component: lazyRouteComponent(() => import("./charts-page.tsx"), "ChartsPage"),
});

export type ChartEditSearch = {
  readonly range?: TimeRange;
  /** Id of the stored chart that is changed; a new one without it. */
  readonly chart?: string;
  /** Id of the dashboard that gets the chart when it is saved. */
  readonly dashboard?: string;
  readonly name?: string;
  readonly question?: Question;
};

export const chartEditRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "charts/edit",
  validateSearch: (search: Record<string, unknown>): ChartEditSearch => ({
    ...parseTimeRange(search),
    ...textOf("chart", search),
    ...textOf("dashboard", search),
    ...textOf("name", search),
    ...parseQuestion(search),
  }),
  component: lazyRouteComponent(() => import("./chart-edit-page.tsx"), "ChartEditPage"),
});

function textOf<Name extends string>(name: Name, search: Record<string, unknown>) {
  const value = search[name];
  return (typeof value === "string" && value !== "" ? { [name]: value } : {}) as {
    readonly [Key in Name]?: string;
  };
}
