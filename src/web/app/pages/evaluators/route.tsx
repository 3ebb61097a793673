// Addresses of evaluators: the list, and one evaluator with its tabs; `new` for one to be made.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { parseTimeRange, type TimeRange } from "../../design/time-range.ts";
import { knownSearch, oneOf, text } from "../../shell/known-search.ts";
import { projectRoute } from "../../shell/root-routes.tsx";

export const evaluatorsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "evaluators",
  component: lazyRouteComponent(() => import("./evaluators-page.tsx"), "EvaluatorsPage"),
});

const evaluatorTabs = [
  "edit",
  "scores",
  "versions",
  "backfills",
  "reliability",
  "consistency",
  "why",
] as const;
export type EvaluatorTab = (typeof evaluatorTabs)[number];

export type EvaluatorSearch = {
  readonly tab?: EvaluatorTab;
  /** Version whose changes are shown. */
  readonly version?: string;
  /** Event that is explained. */
  readonly event?: string;
  /** Range of the scores. */
  readonly range?: TimeRange;
};

export const evaluatorRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "evaluators/$metricId",
  validateSearch: knownSearch<EvaluatorSearch>({
    tab: oneOf(evaluatorTabs),
    version: text,
    event: text,
    range: parseTimeRange,
  }),
  component: lazyRouteComponent(() => import("./evaluator-page.tsx"), "EvaluatorPage"),
});
