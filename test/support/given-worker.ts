// The worker beside the app of a test file, on the Temporal of the test run.

import { afterAll, beforeAll, beforeEach } from "vitest";
import { sayMissing } from "../../clients/environment.ts";
import { openTestClusters } from "../../support/database.ts";
import { startTestTemporal } from "../../support/temporal.ts";
import { startWorker } from "../../support/worker.ts";
import { targetOf } from "../../support/workflows.ts";
import type { TestApp } from "./app.ts";

/**
 * Registers the hooks that start and stop the worker; call it after `givenApp`, with the same
 * flags. The tests are skipped where there is no Temporal.
 */
export function givenWorker(
  app: Pick<TestApp, "service">,
  flags: () => Readonly<Record<string, string>> = () => ({}),
): void {
  let missing: string | undefined;
  const stops: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const temporal = await startTestTemporal();
    sayMissing("workflows in the web app", temporal);
    ({ missing } = temporal);
    if (temporal.missing !== undefined) return;
    stops.unshift(() => temporal.stop());
    const { database } = app.service;
    const clusters = openTestClusters(database);
    stops.unshift(() => clusters.close());
    const worker = await startWorker({ target: targetOf(temporal), database, clusters }, flags());
    stops.unshift(() => worker.stop());
  });
  afterAll(async () => {
    for (const stop of stops) await stop();
  });
  beforeEach(({ skip }) => {
    if (missing !== undefined) skip(missing);
  });
}
