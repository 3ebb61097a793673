// Address of a comparison: `/app/p/<project_id>/traces/compare?a=<session_id>&b=<session_id>`.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { knownSearch, text } from "../../shell/known-search.ts";
import { projectRoute } from "../../shell/root-routes.tsx";

export type CompareSearch = {
  readonly a?: string;
  readonly b?: string;
  /** Key of the chosen row. */
  readonly row?: string;
};

export const compareRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "traces/compare",
  validateSearch: knownSearch<CompareSearch>({ a: text, b: text, row: text }),
  component: lazyRouteComponent(() => import("./compare-page.tsx"), "ComparePage"),
});
