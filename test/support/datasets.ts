// Datasets and experiment runs, created through the service.

import type { TestService } from "./service.ts";
import { type Tenant, withKey } from "./tenants.ts";

type Service = Pick<TestService, "url" | "database">;

/** Creates a dataset with one datapoint in a tenant's project; returns their ids. */
export async function addDataset(
  service: Service,
  tenant: Tenant,
): Promise<{ readonly datasetId: string; readonly datapointId: string }> {
  const post = await poster(service, tenant);
  const dataset = await post("/v1/datasets", { name: "a dataset" });
  const datasetId = String(dataset.result?.insertedId);
  const datapoint = { inputs: { question: "Where to?" }, linked_datasets: [datasetId] };
  const { result } = await post("/v1/datapoints", datapoint);
  return { datasetId, datapointId: String(result?.insertedId) };
}

/** Creates a run in a tenant's project; returns its id. */
export async function addRun(service: Service, tenant: Tenant): Promise<string> {
  const post = await poster(service, tenant);
  return String((await post("/v1/runs", { name: "a run" })).run_id);
}

type Answer = { readonly result?: { readonly insertedId: string }; readonly run_id?: string };

/** Returns a function that sends bodies with a project key and expects success. */
async function poster({ url, database }: Service, tenant: Tenant) {
  const credential = await withKey(database, tenant, { kind: "project", root: "project" });
  return async (path: string, body: unknown): Promise<Answer> => {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { ...credential, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return JSON.parse(text) as Answer;
  };
}
