// Datasets, experiment runs and annotation queues, created through the service.

import { createUuid } from "../../src/base/ids.ts";
import type { Database } from "../../src/postgres/database.ts";
import type { TestService } from "./service.ts";
import { type Tenant, withKey } from "./tenants.ts";

export type Service = Pick<TestService, "url" | "database">;

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
export async function addRun(
  service: Service,
  tenant: Tenant,
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const post = await poster(service, tenant);
  return String((await post("/v1/runs", { name: "a run", ...more })).run_id);
}

/** Adds an execution of one datapoint to a run by SQL. */
export async function addExecution(
  database: Database,
  { projectId }: Tenant,
  runId: string,
  state: "running" | "cancelled",
): Promise<void> {
  const configuration = { id: createUuid(), name: "c", version: 1, provider: "p", parameters: {} };
  await database.sql()`
    insert into run_executions (
      project_id, run_id, workflow_id, state, model, dataset_id, dataset_version, concurrency,
      datapoints, created_by, ended_at
    )
    values (
      ${projectId}, ${runId}, ${`execute-${runId}`}, ${state}, ${JSON.stringify({ configuration })},
      ${createUuid()}, 1, 1, 1, 'test', ${state === "running" ? null : new Date()}
    )`;
}

/** Creates an annotation queue with some fields in a tenant's project; returns its id. */
export async function addQueue(service: Service, tenant: Tenant, fields: object): Promise<string> {
  const post = await poster(service, tenant);
  return String((await post("/v1/queues", { name: "a queue", ...fields })).queue?.id);
}

type Answer = {
  readonly data?: { readonly id: string };
  readonly result?: { readonly insertedId: string };
  readonly run_id?: string;
  readonly queue?: { readonly id: string };
};

/** Returns a function that sends bodies with a project key and expects success. */
export async function poster({ url, database }: Service, tenant: Tenant) {
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
