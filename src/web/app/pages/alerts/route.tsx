// Addresses of alerts: the list, one alert with its history, and the form for a new or changed one.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { knownSearch, oneOf, text } from "../../shell/known-search.ts";
import { projectRoute } from "../../shell/root-routes.tsx";

export type AlertsSearch = { readonly state?: string };

export const alertsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "alerts",
  validateSearch: knownSearch<AlertsSearch>({ state: text }),
  component: lazyRouteComponent(() => import("./alerts-page.tsx"), "AlertsPage"),
});

export type AlertSearch = { readonly tab?: "checks" | "deliveries" };

export const alertRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "alerts/$alertId",
  validateSearch: knownSearch<AlertSearch>({ tab: oneOf(["checks", "deliveries"]) }),
  component: lazyRouteComponent(() => import("./alert-page.tsx"), "AlertPage"),
});

export type AlertEditSearch = {
  /** Id of the alert that is changed; a new one without it. */
  readonly alert?: string;
};

export const alertEditRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "alerts/edit",
  validateSearch: knownSearch<AlertEditSearch>({ alert: text }),
  component: lazyRouteComponent(() => import("./alert-edit-page.tsx"), "AlertEditPage"),
});
