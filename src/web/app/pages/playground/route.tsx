// Address of the playground: `/app/p/<project_id>/playground`; `event` opens a model event in it,
// `prompt` a saved prompt.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { projectRoute } from "../../shell/root-routes.tsx";

export type PlaygroundSearch = {
  /** Id of a model event. */
  readonly event?: string;
  /** Id of a saved prompt. */
  readonly prompt?: string;
};

export const playgroundRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "playground",
  validateSearch: ({ event, prompt }: Record<string, unknown>): PlaygroundSearch => ({
    ...(typeof event === "string" && { event }),
    ...(typeof prompt === "string" && { prompt }),
  }),
  component: lazyRouteComponent(() => import("./playground-page.tsx"), "PlaygroundPage"),
});
