// Address of the traces: `/app/p/<project_id>/traces`, with the filters and the time range.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { parseTimeRange, type TimeRange } from "../../design/time-range.ts";
import { type FilterRow, parseFilters } from "../../design/filters.ts";
import { projectRoute } from "../../shell/root-routes.tsx";

export type TracesSearch = {
  readonly range?: TimeRange;
  readonly filters?: readonly FilterRow[];
  /** Whether the list renews itself. */
  readonly live?: boolean;
};

export const tracesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "traces",
  validateSearch: (search: Record<string, unknown>): TracesSearch => ({
    ...parseTimeRange(search),
    ...parseFilters(search),
    ...(search["live"] === true && { live: true }),
  }),
  component: lazyRouteComponent(() => import("./traces-page.tsx"), "TracesPage"),
});
