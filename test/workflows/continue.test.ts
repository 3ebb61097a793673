// Workflows whose history grows long go on as new runs, and know how far they were: on a Temporal
// that calls a short history long.

import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import { findTemporal } from "../../src/embedded/temporal-binary.ts";
import { backfillEntry, evaluateChunkEntry } from "../../src/outbox/entry.ts";
import { openConnection, registerSearchAttributes } from "../../src/workflows/namespace.ts";
import { sayMissing, skipTestsWhere } from "../clients/environment.ts";
import { createTestDatabase, openTestClusters, type TestDatabase } from "../support/database.ts";
import { aChunk, answerOf, startEvaluationWorker, stepsOf } from "../support/evaluation-worker.ts";
import { aFreePort } from "../support/socket.ts";
import { givenAProject } from "../support/project.ts";
import { temporalFrom } from "../support/temporal-server.ts";
import {
  fingerprintOf,
  givenADataplane,
  givenEvents,
  openClient,
  targetOf,
} from "../support/workflows.ts";
import { aControlplane } from "../support/controlplane.ts";
import { patience } from "../support/patience.ts";
import { recordHistory } from "./histories.ts";
import { startWorker } from "../support/worker.ts";

/** Events of a history; a server's own limit is some thousands. */
const longHistory = 60;

let own: TestDatabase;
let folder: string;
let address: string;
let server: ChildProcess | undefined;
let missing: string | undefined;

beforeAll(async () => {
  own = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), "waggle-continue-"));
  const { signal } = new AbortController();
  const binary = await findTemporal({ ...temporalFrom(), folder, signal }).catch(
    (error: unknown) => {
      missing = (error as Error).message;
      sayMissing("long histories", { missing });
    },
  );
  if (binary === undefined) return;
  await vi.waitUntil(
    async () => {
      if (!server || hasEnded(server)) server = await launch(binary);
      return isRegistered();
    },
    { ...patience, interval: 200 },
  );
}, 600_000);
afterAll(async () => {
  server?.kill("SIGKILL");
  await own.drop();
  await rm(folder, { recursive: true, force: true });
});
skipTestsWhere(() => missing);

/** Starts a server on a port that was free a moment ago: one that another program takes ends it. */
async function launch(binary: string): Promise<ChildProcess> {
  const port = await aFreePort();
  address = `127.0.0.1:${port}`;
  const limit = `limit.historyCount.suggestContinueAsNew=${longHistory}`;
  const flags = ["--headless", "--port", String(port), "--log-level", "never"];
  const words = ["server", "start-dev", ...flags, "--dynamic-config-value", limit];
  return spawn(binary, words, { env: { HOME: folder }, stdio: "ignore" });
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function isRegistered(): Promise<boolean> {
  const connection = openConnection(address);
  try {
    await registerSearchAttributes(connection, "default");
    return true;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}

test("a long archive goes on as a new run, and counts on", async () => {
  const { database } = own;
  const { orgId } = await givenAProject(database);
  const size = { workspaces: 1, projectsEach: 55 };
  const { projects, workspaceIds } = await givenADataplane(database, orgId, size);
  const [workspaceId = ""] = workspaceIds;
  const projectIds = projects.map(({ projectId }) => projectId);
  const [largeId = ""] = projectIds;
  await givenEvents(database, largeId, 40_000);
  const before = await fingerprintOf(database, "events", projectIds);
  const { scopes, archives } = await aControlplane({ database });
  const scope = await scopes.find("workspace", workspaceId);
  if (!scope) throw new Error("there is no workspace");
  const actor = { type: "operator", id: "test", name: "a test" } as const;
  const { workflowId } = await archives.archive(scope, { withChildren: true, actor });
  const target = targetOf({ address, namespace: "default" });
  const clusters = openTestClusters(database);
  const app = await startWorker({ target, database, clusters });
  const client = openClient(target);
  try {
    await vi.waitUntil(() => client.stateOf(workflowId).catch(() => undefined), patience);

    const result = (await client.client.workflow.getHandle(workflowId).result()) as unknown;

    expect(result).toMatchObject({ state: "done", done: 40_000, left: 0, projects: 55 });
    expect(result).toMatchObject({ children_done: 55 });
    expect(await fingerprintOf(database, "archived_events", projectIds)).toEqual(before);
    const runsOf = async (id: string) =>
      (await client.client.workflow.count(`WorkflowId = '${id}'`)).count;
    expect(await runsOf(workflowId)).toBeGreaterThan(1);
    expect(await runsOf(`archive-project-${largeId}`)).toBeGreaterThan(1);
    await recordHistory(client.client, workflowId, "archive-workspace-continued");
    await recordHistory(client.client, `archive-project-${largeId}`, "archive-project-continued");
  } finally {
    await app.stop();
    await client.close();
  }
}, 300_000);

test("the long work of an evaluator goes on as new runs, and counts on", async () => {
  const temporal = { address, namespace: "default" };
  const chunks = Array.from({ length: 20 }, () => aChunk());
  const waiting = chunks.values();
  const long = aChunk();
  const longSteps = stepsOf(4);
  const worker = await startEvaluationWorker(temporal, {
    runStep: ({ chunkId }) => (chunkId === long.chunkId ? longSteps() : stepsOf(100)()),
    nextChunk: async () => {
      const { value: chunk } = waiting.next();
      return chunk ? answerOf({ kind: "chunk", chunk }, 0) : answerOf({ kind: "completed" }, 200);
    },
  });
  const operator = openClient(temporal);
  const backfill = backfillEntry({ ...aChunk(), backfillId: createUuid(), run: 1 });
  const entries = [evaluateChunkEntry(long), backfill];
  try {
    for (const entry of entries) await worker.client.start(entry);
    const results: readonly unknown[] = await Promise.all(
      entries.map(({ workflowId }) => operator.client.workflow.getHandle(workflowId).result()),
    );

    const progress = { state: "done", done: 100, left: 0 };
    expect(results).toMatchObject([
      { end: { kind: "done" }, progress },
      { state: "completed", done: 200, left: 0 },
    ]);
    for (const { workflowId } of entries) {
      const { count } = await operator.client.workflow.count(`WorkflowId = '${workflowId}'`);
      expect(count).toBeGreaterThan(1);
    }
    await recordHistory(
      operator.client,
      evaluateChunkEntry(long).workflowId,
      "evaluate-chunk-continued",
    );
    await recordHistory(operator.client, backfill.workflowId, "backfill-continued");
  } finally {
    await worker.stop();
    await operator.close();
  }
}, 300_000);
