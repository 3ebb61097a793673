// Addresses of the API reference, `/reference`, and of the docs beside it,
// `/reference/docs/<name>`. They ask for no sign-in.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../../shell/root-routes.tsx";

export const referenceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/reference",
  component: lazyRouteComponent(() => import("./reference-page.tsx"), "ReferencePage"),
});

export const docRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/reference/docs/$name",
  component: lazyRouteComponent(() => import("./doc-page.tsx"), "DocPage"),
});
