// Calls of the access matrix: path and body of a row in a tenant, after the state that it needs.

import { expect } from "vitest";
import type { ScopeLevel } from "../../src/access/scope.ts";
import { addAlert } from "../support/alerts.ts";
import { addBudget } from "../support/budgets.ts";
import { addConfiguration, addTool } from "../support/configurations.ts";
import { addAlias, addCredential, addPrice } from "../support/credentials.ts";
import { callRoute } from "../support/call-route.ts";
import { addDataset, addExecution, addQueue, addRun, poster } from "../support/datasets.ts";
import { addBackfill, addMetric, aJudge } from "../support/metrics.ts";
import type { TestService } from "../support/service.ts";
import { addKey, addMember, type KeyRoot, type Tenant, withKey } from "../support/tenants.ts";
import { event, nowhere, type Row } from "./access-rows.ts";

const routeLevels: readonly (readonly [RegExp, ScopeLevel])[] = [
  [/ \/v1\/(orgs\/|archivals)/, "org"],
  [/ \/v1\/virtual_dataplanes\//, "dataplane"],
  [/ \/v1\/workspaces\//, "workspace"],
  [/ \/v1\/projects\//, "project"],
];

/** Path and body of a call. */
export type Filled = { readonly path: string; readonly body: string | undefined };

/** Ids by their name in paths and bodies. */
export type Ids = Readonly<Record<string, string>>;

/** Returns the level of the scope that a route names. */
export function routeLevelOf({ route }: Row): ScopeLevel {
  return routeLevels.find(([pattern]) => pattern.test(route))?.[1] ?? "project";
}

/** Makes the state that a row needs in a tenant, and returns the ids for its path and body. */
export async function giveState(service: TestService, tenant: Tenant, row: Row): Promise<Ids> {
  const { need } = row;
  const ids: Record<string, string> = {
    org_id: tenant.orgId,
    virtual_dataplane_id: tenant.dataplaneId,
    workspace_id: tenant.workspaceId,
    project_id: tenant.projectId,
    event_id: "e1",
    session_id: "s1",
    name: "an-alias",
  };
  const level = routeLevelOf(row);
  if (need === "session") await giveSession(service, tenant, event);
  else if (need === "generation")
    await giveSession(service, tenant, { ...event, event_type: "model" });
  else if (need === "member") {
    const role = `${level}_member`;
    ids["user_id"] = await addMember(service.database, tenant, { level, role });
  } else if (need === "credential") {
    ids["credential_id"] = await addCredential(service.database, tenant, level as KeyRoot);
  } else if (need === "metric") {
    ids["id"] = ids["metric_id"] = await addMetric(service.database, tenant);
    ids["name"] = ids["other"] = "v1";
  } else if (need === "metric and event") {
    ids["id"] = await addMetric(service.database, tenant);
    await giveSession(service, tenant, event);
  } else if (need === "metric and human metric") {
    ids["id"] = await addMetric(service.database, tenant, aJudge);
    ids["human_id"] = await addMetric(service.database, tenant);
  } else if (need === "judge" || need === "backfill") {
    const id = await addMetric(service.database, tenant, aJudge);
    ids["id"] = id;
    if (need === "backfill") ids["backfill_id"] = await addBackfill(service.database, tenant, id);
  } else if (need === "dataset") {
    const { datasetId, datapointId } = await addDataset(service, tenant);
    ids["dataset_id"] = datasetId;
    ids["datapoint_id"] = ids["id"] = datapointId;
  } else if (need === "queue") {
    await giveSession(service, tenant, event);
    ids["id"] = await addQueue(service, tenant, { event_ids: ["e1"] });
    ids["metric_id"] = await addMetric(service.database, tenant);
  } else if (typeof need === "object") {
    const post = await poster(service, tenant);
    ids[need.id] = String((await post(need.post, need.body)).data?.id);
  } else if (need === "alert") {
    ids["alert_id"] = await addAlert(service, tenant, nowhere);
  } else if (need === "budget") {
    ids["budget_id"] = await addBudget(service.database, tenant);
  } else if (need === "configuration") {
    ids["id"] = await addConfiguration(service.database, tenant);
    ids["version"] = ids["name"] = "v1";
    ids["other"] = "v2";
  } else if (need === "tool") {
    ids["id"] = await addTool(service.database, tenant);
  } else if (need === "run") {
    const runId = await addRun(service, tenant);
    for (const name of ["id", "run_id", "new_run_id", "old_run_id", "run_id_1", "run_id_2"]) {
      ids[name] = runId;
    }
  } else if (need === "runnable") {
    const { datasetId } = await addDataset(service, tenant);
    ids["run_id"] = await addRun(service, tenant, { dataset_id: datasetId });
    ids["configuration_id"] = await addConfiguration(service.database, tenant);
  } else if (need === "execution" || need === "ended execution") {
    ids["run_id"] = await addRun(service, tenant);
    const state = need === "execution" ? "running" : "cancelled";
    await addExecution(service.database, tenant, ids["run_id"], state);
  } else if (need === "archival") {
    ids["scope_type"] = "project";
    ids["scope_id"] = await addArchival(service, tenant);
  } else if (need === "alias") {
    ids["name"] = await addAlias(service.database, tenant, level as KeyRoot);
  } else if (need === "price") {
    ids["name"] = await addPrice(service.database, tenant, level as KeyRoot);
  } else if (need !== undefined) {
    const root = level as KeyRoot;
    ids["key_id"] = (await addKey(service.database, tenant, { kind: need, root })).keyId;
  }
  return ids;
}

/** Returns the call of a row with these ids; every call has another name in its body. */
export function fillIn({ route, body }: Row, ids: Ids): Filled {
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "?");
  return {
    path: fill(route.split(" ")[1] ?? ""),
    body: body === undefined ? undefined : fill(JSON.stringify(withOwnName(body))),
  };
}

/** Creates a second project and archives it; returns its id. */
async function addArchival(service: TestService, tenant: Tenant): Promise<string> {
  const key = await withKey(service.database, tenant, { kind: "control_plane", root: "org" });
  const by = { url: service.url, headers: key };
  const projects = `POST /v1/workspaces/${tenant.workspaceId}/projects`;
  const { json } = await callRoute(by, projects, { name: "archived" });
  const { id } = json["data"] as { readonly id: string };
  expect((await callRoute(by, `DELETE /v1/projects/${id}`)).status).toBe(200);
  return id;
}

/** Stores an event, with its session. */
async function giveSession(
  service: TestService,
  tenant: Tenant,
  given: typeof event,
): Promise<void> {
  const credential = await withKey(service.database, tenant, { kind: "project", root: "project" });
  const by = { url: service.url, headers: credential };
  const body = { event: { ...given, event_id: "e1", session_id: "s1" } };
  expect((await callRoute(by, "POST /events", body)).status).toBe(200);
}

let names = 0;

/** Organizations are siblings of each other in all tests: each gets a name of its own. */
function withOwnName(body: unknown): unknown {
  if (typeof body !== "object" || body === null || !("name" in body)) return body;
  names += 1;
  return { ...body, name: `name-${names}` };
}
