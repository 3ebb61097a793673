// Charts, views and dashboards for tests.

import { poster, type Service } from "./datasets.ts";
import type { Tenant } from "./tenants.ts";

/** Stores a chart and returns its id. */
export function addChart(service: Service, tenant: Tenant): Promise<string> {
  return add(service, tenant, "charts", { name: "a chart", metric: "event_count" });
}

/** Saves a view that all readers of the project see, and returns its id. */
export function addView(service: Service, tenant: Tenant): Promise<string> {
  return add(service, tenant, "views", { name: "a view", page: "sessions", shared: true });
}

/** Creates a dashboard and returns its id. */
export function addDashboard(service: Service, tenant: Tenant): Promise<string> {
  return add(service, tenant, "dashboards", { name: "a dashboard" });
}

async function add(
  service: Service,
  tenant: Tenant,
  resources: string,
  body: object,
): Promise<string> {
  const post = await poster(service, tenant);
  return String((await post(`/v1/${resources}`, body)).data?.id);
}
