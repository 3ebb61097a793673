// Address of a comparison: `/app/p/<project_id>/traces/compare?a=<session_id>&b=<session_id>`.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { projectRoute } from "../../shell/root-routes.tsx";

export type CompareSearch = {
  readonly a?: string;
  readonly b?: string;
  /** Key of the chosen row. */
  readonly row?: string;
};

const keys = ["a", "b", "row"] as const;

export const compareRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "traces/compare",
  validateSearch: (search: Record<string, unknown>): CompareSearch =>
    Object.fromEntries(
      keys.flatMap((key) => {
        const value = search[key];
        return typeof value === "string" || typeof value === "number" ? [[key, `${value}`]] : [];
      }),
    ),
  component: lazyRouteComponent(() => import("./compare-page.tsx"), "ComparePage"),
});
