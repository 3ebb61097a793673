// Addresses of administration: `/app/settings` for the scopes above projects and
// `/app/p/<project_id>/settings` for one project; `tab` is the open part.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { knownSearch, oneOf, type Parser, text } from "../../shell/known-search.ts";
import { projectRoute, rootRoute } from "../../shell/root-routes.tsx";

export type ProjectSettingsSearch = {
  readonly tab?: string;
  /** Kind of the keys that are listed. */
  readonly kind?: string;
  /** Hours of the ingestion that is shown. */
  readonly hours?: string;
};

export type SettingsSearch = ProjectSettingsSearch & {
  /** Level and id of the chosen scope. */
  readonly level?: string;
  readonly id?: string;
  /** Filters of the audit log. */
  readonly log?: object;
};

/** The audit log reads its filters itself, so that they do not load at first. */
const object: Parser<object> = (value) =>
  typeof value === "object" && value !== null ? value : undefined;

export const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/app/settings",
  validateSearch: knownSearch<SettingsSearch>({
    tab: text,
    level: oneOf(["org", "dataplane", "workspace", "project"]),
    id: text,
    kind: text,
    hours: text,
    log: object,
  }),
  component: lazyRouteComponent(() => import("./settings-page.tsx"), "SettingsPage"),
});

export const projectSettingsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "settings",
  validateSearch: knownSearch<ProjectSettingsSearch>({ tab: text, kind: text, hours: text }),
  component: lazyRouteComponent(() => import("./project-settings-page.tsx"), "ProjectSettingsPage"),
});
