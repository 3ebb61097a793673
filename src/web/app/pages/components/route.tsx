// Address of the components: `/app/components`, for those who build pages.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../../shell/root-routes.tsx";

export const componentsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/app/components",
  component: lazyRouteComponent(() => import("./components-page.tsx"), "ComponentsPage"),
});
