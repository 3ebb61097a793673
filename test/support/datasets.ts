// A dataset with a datapoint, created through the service.

import type { TestService } from "./service.ts";
import { type Tenant, withKey } from "./tenants.ts";

/** Creates a dataset with one datapoint in a tenant's project; returns their ids. */
export async function addDataset(
  { url, database }: Pick<TestService, "url" | "database">,
  tenant: Tenant,
): Promise<{ readonly datasetId: string; readonly datapointId: string }> {
  const credential = await withKey(database, tenant, { kind: "project", root: "project" });
  const post = async (path: string, body: unknown): Promise<string> => {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { ...credential, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return (JSON.parse(text) as { result: { insertedId: string } }).result.insertedId;
  };
  const datasetId = await post("/v1/datasets", { name: "a dataset" });
  const datapoint = { inputs: { question: "Where to?" }, linked_datasets: [datasetId] };
  return { datasetId, datapointId: await post("/v1/datapoints", datapoint) };
}
