// A worker that is told to stop while its Temporal does not answer.

import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { skipWhereMissing } from "../clients/environment.ts";
import { createTestDatabase } from "../support/database.ts";
import { runWorker, terminate } from "../support/deployment.ts";
import { patience } from "../support/patience.ts";
import { startOwnTemporal } from "../support/temporal-server.ts";

/** Kubernetes kills a container 30 s after it was told to stop. */
const graceMs = 25_000;

test("a worker ends in time, and leaves the list of servers", async (context) => {
  const temporal = await startOwnTemporal();
  onTestFinished(() => temporal.stop());
  skipWhereMissing(context, temporal.missing);
  if (temporal.missing !== undefined) return;
  const testDatabase = await createTestDatabase();
  onTestFinished(() => testDatabase.drop());
  const { url, database } = testDatabase;
  const worker = runWorker(url, temporal.server);
  await vi.waitUntil(() => worker.output().includes("Temporal is reached"), patience);
  const { pid } = temporal.server;
  onTestFinished(() => void process.kill(pid, "SIGCONT"));
  process.kill(pid, "SIGSTOP");

  const code = await Promise.race([terminate(worker), delay(graceMs, "killed")]);

  expect(code).toBe(0);
  const [row] = await database.sql()<{ count: number }[]>`
    select count(*)::integer as count from servers`;
  expect(row).toEqual({ count: 0 });
}, 180_000);
