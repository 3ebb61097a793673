// Addresses of the annotation queues: the list, one queue, and the page where a person reviews.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { projectRoute } from "../../shell/root-routes.tsx";

export const queuesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "queues",
  component: lazyRouteComponent(() => import("./queues-page.tsx"), "QueuesPage"),
});

export const queueRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "queues/$queueId",
  component: lazyRouteComponent(() => import("./queue-page.tsx"), "QueuePage"),
});

export const annotateRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "queues/$queueId/annotate",
  component: lazyRouteComponent(() => import("./annotate-page.tsx"), "AnnotatePage"),
});
