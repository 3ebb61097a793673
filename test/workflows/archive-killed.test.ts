// Archiving a data plane while the worker and Temporal are killed: nothing lost, nothing doubled.
// The worker is a process of its own, as in production.

import { expect, onTestFinished, test, vi } from "vitest";
import { givenOwnTemporal } from "../support/given-temporal.ts";
import { givenStarted } from "../support/given.ts";
import { givenAKey } from "../support/keys.ts";
import { patience } from "../support/patience.ts";
import { runWorker } from "../support/process.ts";
import { startService } from "../support/service.ts";
import {
  fingerprintOf,
  givenADataplane,
  givenEvents,
  openClient,
  type TestDataplane,
} from "../support/workflows.ts";
import { recordHistory } from "./histories.ts";

const eventsTotal = 100_000;
const often = { timeout: 240_000, interval: 500 };

const service = givenStarted(() => startService({ "dataplane-assignment": "manual" }));
const own = givenOwnTemporal("archiving");

test("a data plane is archived exactly once though worker and Temporal are killed", async () => {
  const temporal = own.server;
  const { database } = service;
  const size = { workspaces: 3, projectsEach: 3 };
  const dataplane = await givenADataplane(database, service.project.orgId, size);
  const { dataplaneId, projects } = dataplane;
  for (const [index, { projectId }] of projects.entries()) {
    const share = Math.floor(eventsTotal / projects.length);
    await givenEvents(database, projectId, index === 0 ? eventsTotal - 8 * share : share);
  }
  const projectIds = projects.map(({ projectId }) => projectId);
  const before = await fingerprintOf(database, "events", projectIds);
  const keys = await Promise.all(
    projects.map((project) => givenAKey(database, project, { kind: "project" })),
  );
  const temporalClient = openClient(temporal);
  const workflowId = `archive-dataplane-${dataplaneId}`;
  const held = await holdLastEvent(projectIds.at(-1) ?? "");
  let worker = await runWorker(service.database, temporal);

  expect(await statuses(keys.map(({ secret }) => secret))).toEqual([200]);
  const archived = await archive(dataplane);
  expect(archived.status, await archived.text()).toBe(200);
  const refused = await Promise.all(keys.map(({ secret }) => listEvents(secret)));
  const bodies = await Promise.all(refused.map((response) => response.text()));
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([404]));
  expect(new Set(bodies)).toEqual(new Set([await aFixed404()]));

  const seen: number[] = [];
  const look = async () => {
    const progress = await temporalClient.progressOf(workflowId).catch(() => undefined);
    if (progress) seen.push(progress.done);
    return progress;
  };
  await vi.waitUntil(async () => (await countArchived(projectIds)) > 0, patience);
  worker.kill("SIGKILL");
  process.kill(temporal.pid, "SIGKILL");
  await worker.ended();
  expect(await countArchived(projectIds)).toBeLessThan(eventsTotal);
  worker = await runWorker(service.database, temporal);

  await vi.waitUntil(async () => ((await look())?.done ?? 0) > 0, often);
  expect(seen.at(-1)).toBeLessThan(eventsTotal);
  await held.release();
  await vi.waitUntil(async () => (await look())?.state === "done", often);
  const handle = temporalClient.client.workflow.getHandle(workflowId);
  expect(await handle.result()).toMatchObject({
    state: "done",
    done: eventsTotal,
    left: 0,
    projects: 9,
    children_done: 3,
  });
  expect(seen.toSorted((a, b) => a - b)).toEqual(seen);
  expect(await fingerprintOf(database, "archived_events", projectIds)).toEqual(before);
  expect((await fingerprintOf(database, "events", projectIds)).count).toBe(0);
  expect(await countDerived(projectIds)).toBe(0);
  expect(await countActive(dataplane)).toBe(0);
  expect(await countAuditRows(dataplane)).toEqual({ dataplane: 1, workspace: 3, project: 9 });
  const query = `WaggleOrganization = '${dataplane.orgId}'`;
  expect((await temporalClient.client.workflow.count(query)).count).toBe(13);

  const [workspaceId = ""] = dataplane.workspaceIds;
  await recordHistory(temporalClient.client, workflowId, "archive-dataplane");
  await recordHistory(
    temporalClient.client,
    `archive-workspace-${workspaceId}`,
    "archive-workspace",
  );

  worker.kill("SIGTERM");
  expect((await worker.ended()).code).toBe(0);
  await temporalClient.close();
}, 600_000);

/** Locks a project's last event, so that its archival cannot end before `release`. */
async function holdLastEvent(projectId: string) {
  const locked = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const ended = service.database.transaction(async (sql) => {
    await sql`
      select event_id
      from events
      where project_id = ${projectId}
      order by event_id desc
      limit 1
      for update`;
    locked.resolve();
    await asked.promise;
  });
  await Promise.race([locked.promise, ended]);
  const release = (): Promise<void> => {
    asked.resolve();
    return ended;
  };
  onTestFinished(release);
  return { release };
}

function archive({ dataplaneId }: TestDataplane): Promise<Response> {
  const query = "dangerously_delete_child_scopes=true";
  return fetch(`${service.url}/v1/virtual_dataplanes/${dataplaneId}?${query}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${service.controlPlaneKey}` },
  });
}

function listEvents(key: string): Promise<Response> {
  return fetch(`${service.url}/v1/events/search`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ filters: [], limit: 1 }),
  });
}

async function statuses(keys: readonly string[]): Promise<readonly number[]> {
  const responses = await Promise.all(keys.map(listEvents));
  return [...new Set(responses.map(({ status }) => status))];
}

async function aFixed404(): Promise<string> {
  return (await listEvents("hh_nobody")).text();
}

async function countArchived(projectIds: readonly string[]): Promise<number> {
  const [row] = await service.database.sql()<{ count: number }[]>`
    select count(*)::integer as count
    from archived_events
    where project_id = any(${projectIds}::uuid[])`;
  return row?.count ?? -1;
}

async function countDerived(projectIds: readonly string[]): Promise<number> {
  const [row] = await service.database.sql()<{ count: number }[]>`
    select
      (select count(*) from session_totals where project_id = any(${projectIds}::uuid[]))
      + (select count(*) from event_fields where project_id = any(${projectIds}::uuid[]))
      as count`;
  return row?.count ?? -1;
}

/** Scopes inside that are not marked, and keys that are not revoked. */
async function countActive({ dataplaneId, projects }: TestDataplane): Promise<number> {
  const projectIds = projects.map(({ projectId }) => projectId);
  const [row] = await service.database.sql()<{ count: number }[]>`
    select
      (select count(*) from dataplanes
        where dataplane_id = ${dataplaneId} and archived_at is null)
      + (select count(*) from workspaces
        where dataplane_id = ${dataplaneId} and archived_at is null)
      + (select count(*) from projects
        where project_id = any(${projectIds}::uuid[]) and archived_at is null)
      + (select count(*) from api_keys
        where project_id = any(${projectIds}::uuid[]) and revoked_at is null)
      as count`;
  return row?.count ?? -1;
}

async function countAuditRows({ dataplaneId, workspaceIds, projects }: TestDataplane) {
  const ids = [dataplaneId, ...workspaceIds, ...projects.map(({ projectId }) => projectId)];
  const rows = await service.database.sql()<{ level: string; count: number; actors: number }[]>`
    select
      target_type as level,
      count(*)::integer as count,
      count(distinct (actor_type, actor_id))::integer as actors
    from audit_log
    where target_id = any(${ids}) and action like '%.archive'
    group by target_type`;
  // Every audit row names the caller as its actor.
  expect(new Set(rows.map(({ actors }) => actors))).toEqual(new Set([1]));
  return Object.fromEntries(rows.map(({ level, count }) => [level, count]));
}
