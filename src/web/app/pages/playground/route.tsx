// Address of the playground: `/app/p/<project_id>/playground`; `event` opens a model event in it,
// `prompt` a saved prompt.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { knownSearch, text } from "../../shell/known-search.ts";
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
  validateSearch: knownSearch<PlaygroundSearch>({ event: text, prompt: text }),
  component: lazyRouteComponent(() => import("./playground-page.tsx"), "PlaygroundPage"),
});
