// Addresses of alerts: the list, one alert with its history, and the form for a new or changed one.

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { projectRoute } from "../../shell/root-routes.tsx";

export type AlertsSearch = { readonly state?: string };

export const alertsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "alerts",
  validateSearch: (search: Record<string, unknown>): AlertsSearch =>
    typeof search["state"] === "string" ? { state: search["state"] } : {},
  component: lazyRouteComponent(() => import("./alerts-page.tsx"), "AlertsPage"),
});

export type AlertSearch = { readonly tab?: "checks" | "deliveries" };

export const alertRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "alerts/$alertId",
  validateSearch: (search: Record<string, unknown>): AlertSearch =>
    search["tab"] === "deliveries" ? { tab: "deliveries" } : {},
  component: lazyRouteComponent(() => import("./alert-page.tsx"), "AlertPage"),
});

export type AlertEditSearch = {
  /** Id of the alert that is changed; a new one without it. */
  readonly alert?: string;
};

export const alertEditRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "alerts/edit",
  validateSearch: (search: Record<string, unknown>): AlertEditSearch =>
    typeof search["alert"] === "string" ? { alert: search["alert"] } : {},
  component: lazyRouteComponent(() => import("./alert-edit-page.tsx"), "AlertEditPage"),
});
