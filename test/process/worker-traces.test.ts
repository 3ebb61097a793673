// `waggle worker` exports spans of its activities over OTLP, as `waggle serve` does those of calls.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { ScheduleOverlapPolicy } from "@temporalio/client";
import { expect, onTestFinished, test, vi } from "vitest";
import { skipWhereMissing } from "../clients/environment.ts";
import { createTestDatabase } from "../support/database.ts";
import { terminate } from "../support/deployment.ts";
import { patience } from "../support/patience.ts";
import { run } from "../support/process.ts";
import { startTestTemporal } from "../support/temporal.ts";
import { openClient } from "../support/workflows.ts";

/** Starts a server that keeps what is exported to it, and has no page of a deployment. */
async function startCollector() {
  const exported: Buffer[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      if (request.url === "/v1/traces") exported.push(body);
      response.writeHead(request.url === "/v1/traces" ? 200 : 404).end();
    });
  });
  await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, exported };
}

test("a worker exports a span of each activity", { timeout: 300_000 }, async (context) => {
  const temporal = await startTestTemporal();
  skipWhereMissing(context, temporal.missing);
  if (temporal.missing !== undefined) return;
  onTestFinished(() => temporal.stop());
  const testDatabase = await createTestDatabase();
  onTestFinished(() => testDatabase.drop());
  const operator = openClient(temporal);
  onTestFinished(() => operator.close());
  const collector = await startCollector();
  const worker = run(
    "worker",
    "--database-url",
    testDatabase.url,
    "--operator-port",
    "0",
    "--temporal-address",
    temporal.address,
    "--temporal-namespace",
    temporal.namespace,
    "--otel-exporter-otlp-endpoint",
    collector.url,
  );

  const schedule = operator.client.schedule.getHandle("waggle-retention");
  await vi.waitUntil(() => schedule.describe().catch(() => undefined), patience);
  await schedule.trigger(ScheduleOverlapPolicy.ALLOW_ALL);
  const exported = () => Buffer.concat(collector.exported).toString("latin1");
  await expect.poll(exported, patience).toContain("startDueRetention");

  expect(worker.output()).toContain("the service's own traces are exported");
  expect(exported()).toContain("temporal.workflow.id");
  expect(await terminate(worker)).toBe(0);
});
