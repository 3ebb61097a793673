// Addresses of the prompts: `/app/p/<project_id>/prompts` and one prompt below it.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { parseTimeRange, type TimeRange } from "../../design/time-range.ts";
import { knownSearch, oneOf, text } from "../../shell/known-search.ts";
import { projectRoute } from "../../shell/root-routes.tsx";

export type PromptsSearch = {
  /** Only prompts deployed here. */
  readonly env?: string;
};

export const promptsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "prompts",
  validateSearch: knownSearch<PromptsSearch>({ env: text }),
  component: lazyRouteComponent(() => import("./prompts-page.tsx"), "PromptsPage"),
});

export type PromptSearch = {
  readonly tab?: "versions" | "use";
  /** Versions that are compared. */
  readonly from?: string;
  readonly to?: string;
  /** Range of the calls. */
  readonly range?: TimeRange;
};

export const promptRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "prompts/$promptId",
  validateSearch: knownSearch<PromptSearch>({
    tab: oneOf(["versions", "use"]),
    from: text,
    to: text,
    range: parseTimeRange,
  }),
  component: lazyRouteComponent(() => import("./prompt-page.tsx"), "PromptPage"),
});
