// Addresses of the datasets: `/app/p/<project_id>/datasets` and one dataset below it.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { knownSearch, oneOf, ordinal, text } from "../../shell/known-search.ts";
import { projectRoute } from "../../shell/root-routes.tsx";

export const datasetsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "datasets",
  component: lazyRouteComponent(() => import("./datasets-page.tsx"), "DatasetsPage"),
});

export type DatasetSearch = {
  /** Id of the datapoint that is open. */
  readonly datapoint?: string;
  readonly tab?: "versions";
  /** An older version, to read. */
  readonly version?: number;
};

export const datasetRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "datasets/$datasetId",
  validateSearch: knownSearch<DatasetSearch>({
    datapoint: text,
    tab: oneOf(["versions"]),
    version: ordinal,
  }),
  component: lazyRouteComponent(() => import("./dataset-page.tsx"), "DatasetPage"),
});
