// Addresses of administration: `/app/settings` for the scopes above projects and
// `/app/p/<project_id>/settings` for one project; `tab` is the open part.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { projectRoute, rootRoute } from "../../shell/root-routes.tsx";

export type ProjectSettingsSearch = { readonly tab?: string };

export type SettingsSearch = ProjectSettingsSearch & {
  /** Level and id of the chosen scope. */
  readonly level?: string;
  readonly id?: string;
  /** Filters of the audit log. */
  readonly log?: unknown;
};

const parse = ({ tab, level, id, log }: Record<string, unknown>): SettingsSearch => ({
  ...(typeof tab === "string" && { tab }),
  ...(typeof level === "string" && { level }),
  ...(typeof id === "string" && { id }),
  ...(log !== undefined && { log }),
});

export const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/app/settings",
  validateSearch: parse,
  component: lazyRouteComponent(() => import("./settings-page.tsx"), "SettingsPage"),
});

export const projectSettingsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "settings",
  validateSearch: ({ tab }: Record<string, unknown>): ProjectSettingsSearch =>
    typeof tab === "string" ? { tab } : {},
  component: lazyRouteComponent(() => import("./project-settings-page.tsx"), "ProjectSettingsPage"),
});
