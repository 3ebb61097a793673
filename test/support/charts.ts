// Charts for tests.

import { poster, type Service } from "./datasets.ts";
import type { Tenant } from "./tenants.ts";

/** Stores a chart and returns its id. */
export async function addChart(service: Service, tenant: Tenant): Promise<string> {
  const post = await poster(service, tenant);
  const body = { name: "a chart", metric: "event_count" };
  return String((await post("/v1/charts", body)).data?.id);
}
