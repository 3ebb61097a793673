// With Temporal away: archiving and revoking answer and end access at once, and finish when
// Temporal is back. Work that runs on an archived project ends.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startTemporal, type EmbeddedTemporal } from "../../src/embedded/temporal.ts";
import { searchAttributesOf } from "../../src/workflows/search-attributes.ts";
import { sayMissing, skipTestsWhere } from "../clients/environment.ts";
import { openTestClusters } from "../support/database.ts";
import { patience } from "../support/patience.ts";
import { startService, type TestService } from "../support/service.ts";
import { aFreePort } from "../support/socket.ts";
import { startTestTemporal } from "../support/temporal.ts";
import { temporalFrom } from "../support/temporal-server.ts";
import { fingerprintOf, givenEvents, openClient, targetOf } from "../support/workflows.ts";
import { recordHistory } from "./histories.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";

let folder: string;
let service: TestService;
let missing: string | undefined;
const started: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  // Where the shared server runs, the program is there.
  const shared = await startTestTemporal();
  ({ missing } = shared);
  sayMissing("Temporal away and back", shared);
  if (shared.missing === undefined) await shared.stop();
  folder = await mkdtemp(join(tmpdir(), "waggle-outage-"));
  service = await startService();
}, 600_000);
afterAll(async () => {
  for (const stop of started.toReversed()) await stop();
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});
skipTestsWhere(() => missing);

test("access ends without Temporal, and the rest is done when it is back", async () => {
  const port = await aFreePort();
  const target = targetOf({ address: `127.0.0.1:${port}`, namespace: "default" });
  const { project, otherProject, database } = service;
  await startApp(target);
  await givenEvents(database, project.projectId, 500);
  const before = await fingerprintOf(database, "events", [project.projectId]);
  const otherKeyId = await keyIdOf(otherProject.projectId);

  const archived = await request(
    "DELETE",
    `/v1/projects/${project.projectId}`,
    service.controlPlaneKey,
  );
  const revoked = await request(
    "DELETE",
    `/v1/projects/${otherProject.projectId}/project_api_keys/${otherKeyId}`,
    otherProject.dataPlaneKey,
  );

  expect(archived.status, await archived.text()).toBe(200);
  expect(revoked.status, await revoked.text()).toBe(200);
  for (const key of [service.projectKey, otherProject.projectKey]) {
    expect((await request("GET", "/v1/events/none", key)).status).toBe(404);
  }
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  await vi.waitUntil(async () => (await outbox()).every(({ attempts }) => attempts > 0), patience);
  expect(await outbox()).toMatchObject([
    { workflow: "archiveProject", isStarted: false, failed: true },
    { workflow: "revokeKey", isStarted: false, failed: true },
  ]);

  const temporal = await start(port);
  const client = openClient(temporal);
  started.push(() => client.close());
  await client.client.workflow.start("somethingElse", {
    workflowId: "something-else",
    taskQueue: "nobody works here",
    typedSearchAttributes: searchAttributesOf({
      orgId: project.orgId,
      scopeId: project.projectId,
      actor: "a test",
      input: {},
    }),
  });
  const archiveId = `archive-project-${project.projectId}`;
  const revokeId = `revoke-key-${otherKeyId}`;
  await vi.waitUntil(
    async () => {
      const states = [archiveId, revokeId].map((id) => client.stateOf(id).catch(() => ""));
      return (await Promise.all(states)).every((state) => state === "COMPLETED");
    },
    { timeout: 180_000, interval: 500 },
  );

  expect(await client.progressOf(archiveId)).toEqual({ state: "done", done: 500, left: 0 });
  expect(await fingerprintOf(database, "archived_events", [project.projectId])).toEqual(before);
  expect((await fingerprintOf(database, "events", [project.projectId])).count).toBe(0);
  expect(await isConfirmed(otherKeyId)).toBe(true);
  expect(await outbox()).toMatchObject([
    { isStarted: true, failed: false },
    { isStarted: true, failed: false },
  ]);
  expect(await client.stateOf("something-else")).toBe("TERMINATED");
  await recordHistory(client.client, archiveId, "archive-project");
}, 300_000);

async function startApp(target: ReturnType<typeof targetOf>): Promise<TestWorker> {
  const { database } = service;
  const clusters = openTestClusters(database);
  const app = await startWorker({ target, database, clusters });
  started.push(() => app.stop());
  return app;
}

async function start(port: number): Promise<EmbeddedTemporal> {
  const { signal } = new AbortController();
  const onRestart = () => undefined;
  const temporal = await startTemporal({ ...temporalFrom(), folder, signal, onRestart, port });
  started.unshift(() => temporal.stop());
  return temporal;
}

function request(method: string, path: string, key: string): Promise<Response> {
  return fetch(`${service.url}${path}`, { method, headers: { authorization: `Bearer ${key}` } });
}

async function keyIdOf(projectId: string): Promise<string> {
  const [row] = await service.database.sql()<{ keyId: string }[]>`
    select key_id as "keyId" from api_keys where project_id = ${projectId} and kind = 'project'`;
  return row?.keyId ?? "";
}

async function isConfirmed(keyId: string): Promise<boolean> {
  const [row] = await service.database.sql()<{ confirmed: boolean }[]>`
    select revocation_confirmed_at is not null as confirmed
    from api_keys
    where key_id = ${keyId}`;
  return row?.confirmed ?? false;
}

function outbox() {
  return service.database.sql()<
    { workflow: string; attempts: number; isStarted: boolean; failed: boolean }[]
  >`
    select
      workflow_type as workflow,
      attempts,
      started_at is not null as "isStarted",
      last_error is not null as failed
    from outbox
    order by workflow_type`;
}
