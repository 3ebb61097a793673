// Addresses of the experiments: the list of runs or, with `base` and `new`, the comparison of two;
// and one run below it.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { knownSearch, oneOf, ordinal, text } from "../../shell/known-search.ts";
import { projectRoute } from "../../shell/root-routes.tsx";

export type ExperimentsSearch = {
  /** Ids of the older and of the newer run of a comparison. */
  readonly base?: string;
  readonly new?: string;
  readonly name?: string;
  readonly page?: number;
  /** Id of the datapoint whose outputs are compared. */
  readonly datapoint?: string;
};

export const experimentsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "experiments",
  validateSearch: knownSearch<ExperimentsSearch>({
    base: text,
    new: text,
    name: text,
    page: ordinal,
    datapoint: text,
  }),
  component: lazyRouteComponent(() => import("./experiments-page.tsx"), "ExperimentsPage"),
});

export type RunSearch = { readonly show?: "passed" | "failed" };

export const runRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "experiments/$runId",
  validateSearch: knownSearch<RunSearch>({ show: oneOf(["passed", "failed"]) }),
  component: lazyRouteComponent(() => import("./run-page.tsx"), "RunPage"),
});
