// Addresses of charts: `charts` shows a dashboard, `charts/edit` builds one chart. The question is
// in the address, so that it can be sent as a link.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { parseTimeRange, type TimeRange } from "../../design/time-range.ts";
import { flag, knownSearch, text } from "../../shell/known-search.ts";
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
  validateSearch: knownSearch<ChartsSearch>({
    range: parseTimeRange,
    dashboard: text,
    arrange: flag,
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
  validateSearch: knownSearch<ChartEditSearch>({
    range: parseTimeRange,
    chart: text,
    dashboard: text,
    name: text,
    question: parseQuestion,
  }),
  component: lazyRouteComponent(() => import("./chart-edit-page.tsx"), "ChartEditPage"),
});
