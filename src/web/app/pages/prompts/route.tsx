// Addresses of the prompts: `/app/p/<project_id>/prompts` and one prompt below it.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { projectRoute } from "../../shell/root-routes.tsx";

export type PromptsSearch = {
  /** Only prompts deployed here. */
  readonly env?: string;
};

export const promptsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "prompts",
  validateSearch: ({ env }: Record<string, unknown>): PromptsSearch => ({
    ...(typeof env === "string" && { env }),
  }),
  component: lazyRouteComponent(() => import("./prompts-page.tsx"), "PromptsPage"),
});

export type PromptSearch = {
  readonly tab?: "versions" | "use";
  /** Versions that are compared. */
  readonly from?: string;
  readonly to?: string;
};

export const promptRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "prompts/$promptId",
  validateSearch: ({ tab, from, to }: Record<string, unknown>): PromptSearch => ({
    ...((tab === "versions" || tab === "use") && { tab }),
    ...(typeof from === "string" && { from }),
    ...(typeof to === "string" && { to }),
  }),
  component: lazyRouteComponent(() => import("./prompt-page.tsx"), "PromptPage"),
});
