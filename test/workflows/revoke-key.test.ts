// A key's revocation, followed to the last server: on the service, a worker and Temporal as they
// are.

import { describe, expect, test, vi } from "vitest";
import { msToTs } from "@temporalio/common/lib/time.js";
import { createUuid } from "../../src/base/ids.ts";
import { revokeKeyEntry } from "../../src/outbox/entry.ts";
import { createWorkflowClient, isAboutSearchAttributes } from "../../src/workflows/client.ts";
import { givenStarted } from "../support/given.ts";
import { givenWorker } from "../support/given-worker.ts";
import { givenAKey } from "../support/keys.ts";
import { patience } from "../support/patience.ts";
import { startService } from "../support/service.ts";
import { targetOf } from "../support/workflows.ts";
import { recordHistory } from "./histories.ts";

const service = givenStarted(startService);

const workflows = givenWorker("following revocations", () => service.database);

async function revokeAKey(): Promise<string> {
  const { key } = await givenAKey(service.database, service.project, { kind: "project" });
  const { projectId } = service;
  const path = `/v1/projects/${projectId}/project_api_keys/${key.id}`;
  const response = await fetch(`${service.url}${path}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${service.dataPlaneKey}` },
  });
  expect(response.status, await response.text()).toBe(200);
  return key.id;
}

async function isConfirmed(keyId: string): Promise<boolean> {
  const [row] = await service.database.sql()<{ isConfirmed: boolean }[]>`
    select revocation_confirmed_at is not null as "isConfirmed"
    from api_keys
    where key_id = ${keyId}`;
  return row?.isConfirmed ?? false;
}

async function givenADeadServer(silentMs: number): Promise<void> {
  await service.database.sql()`
    insert into servers (server_id, name, seen_at, change_id)
    values (${createUuid()}, 'dead', now() - ${silentMs} * interval '1 millisecond', 0)`;
}

describe("revokeKey", () => {
  test("records that every server has confirmed, with the servers as progress", async () => {
    // The service, and the worker, which remembers evaluators and providers.
    const keyId = await revokeAKey();

    await vi.waitUntil(() => isConfirmed(keyId), patience);

    const workflowId = `revoke-key-${keyId}`;
    const handle = workflows.operator.client.workflow.getHandle(workflowId);
    expect(await handle.result()).toEqual({ state: "done", done: 2, left: 0 });
    expect(await workflows.operator.progressOf(workflowId)).toEqual({
      state: "done",
      done: 2,
      left: 0,
    });
    await recordHistory(workflows.operator.client, workflowId, "revoke-key");
  });

  test("is found by organization, scope and actor, and says what it is about", async () => {
    const keyId = await revokeAKey();
    const { orgId, projectId } = service.project;
    const query = `WaggleOrganization = '${orgId}' AND WaggleScope = '${projectId}'`;

    const found = await vi.waitUntil(async () => {
      for await (const one of workflows.operator.client.workflow.list({ query })) {
        if (one.workflowId === `revoke-key-${keyId}`) return one;
      }
      return undefined;
    }, patience);

    expect(found.type).toBe("revokeKey");
    expect(found.memo).toMatchObject({ key: keyId, organization: orgId, scope: projectId });
    const description = await workflows.operator.client.workflow
      .getHandle(found.workflowId)
      .describe();
    expect(await description.staticSummary()).toBe(`follow the revocation of key ${keyId}`);
    const names = description.typedSearchAttributes.getAll().map(({ key: { name } }) => name);
    expect(names).toEqual(
      expect.arrayContaining(["WaggleOrganization", "WaggleScope", "WaggleActor"]),
    );
  });

  test("waits for a server that died only until its memory has aged out", async () => {
    // It may remember keys for another eight seconds.
    await givenADeadServer(62_000);
    const keyId = await revokeAKey();
    const workflowId = `revoke-key-${keyId}`;

    const progress = await vi.waitUntil(async () => {
      const now = await workflows.operator.progressOf(workflowId).catch(() => undefined);
      return now?.done === 2 ? now : undefined;
    }, patience);
    expect(progress).toMatchObject({ done: 2, left: 1 });
    expect(await isConfirmed(keyId)).toBe(false);

    await vi.waitUntil(() => isConfirmed(keyId), patience);
  });
});

test("an entry that two processes start is one workflow, also after its end", async () => {
  const ids = { keyId: createUuid(), orgId: createUuid(), scopeId: createUuid() };
  const entry = revokeKeyEntry({ ...ids, changeId: 1, actor: "a test" });
  const starters = await Promise.all(
    [1, 2].map(() => createWorkflowClient(targetOf(workflows.temporal))),
  );

  await Promise.all(starters.map((starter) => starter.start(entry)));
  await workflows.operator.client.workflow.getHandle(entry.workflowId).result();
  await Promise.all(starters.map((starter) => starter.start(entry)));

  const query = `WorkflowId = '${entry.workflowId}'`;
  expect((await workflows.operator.client.workflow.count(query)).count).toBe(1);
  await Promise.all(starters.map((starter) => starter.close()));
});

test("a namespace without our search attributes gets its workflows all the same", async () => {
  const namespace = `bare-${createUuid()}`;
  const { connection } = workflows.operator.client;
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs("1 day"),
  });
  const starter = await createWorkflowClient(targetOf({ ...workflows.temporal, namespace }));
  const ids = { keyId: createUuid(), orgId: createUuid(), scopeId: createUuid() };
  const entry = revokeKeyEntry({ ...ids, changeId: 1, actor: "a test" });
  try {
    // A namespace is there some moments after it was registered.
    await vi.waitFor(() => starter.start(entry), patience);

    expect(await starter.getState(entry.workflowId)).toBe("running");
    const listed = starter.listRunning(ids.scopeId, { exceptTypes: ["revokeKey"], limit: 10 });
    const fault = await listed.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(isAboutSearchAttributes(fault)).toBe(true);
  } finally {
    await starter.close();
    await connection.operatorService.deleteNamespace({ namespace });
  }
});
