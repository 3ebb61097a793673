// The worker beside the service of a test file, on the Temporal of the test run.

import { afterAll, beforeAll } from "vitest";
import type { Metrics } from "../../src/observability/metrics.ts";
import type { Database } from "../../src/postgres/database.ts";
import { sayMissing, skipTestsWhere } from "../clients/environment.ts";
import { openTestClusters } from "./database.ts";
import { startTestTemporal, type TestTemporal } from "./temporal.ts";
import { startWorker } from "./worker.ts";
import { openClient, targetOf } from "./workflows.ts";

export type GivenWorker = {
  readonly temporal: TestTemporal;
  readonly operator: ReturnType<typeof openClient>;
  /** Counts of the worker, for Prometheus. */
  readonly metrics: Metrics;
};

/**
 * Registers the hooks that start and stop the worker; call it after those of the service, with the
 * same flags. The tests are skipped where there is no Temporal; the output then says of what.
 */
export function givenWorker(
  what: string,
  databaseOf: () => Database,
  flagsOf: () => Readonly<Record<string, string>> = () => ({}),
): GivenWorker {
  const given = {} as { -readonly [K in keyof GivenWorker]: GivenWorker[K] };
  let missing: string | undefined;
  const stops: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const temporal = await startTestTemporal();
    sayMissing(what, temporal);
    ({ missing } = temporal);
    if (temporal.missing !== undefined) return;
    given.temporal = temporal;
    given.operator = openClient(temporal);
    const database = databaseOf();
    const clusters = openTestClusters(database);
    stops.push(
      () => clusters.close(),
      () => temporal.stop(),
      () => given.operator.close(),
    );
    const target = targetOf(temporal);
    const worker = await startWorker({ target, database, clusters }, flagsOf());
    given.metrics = worker.metrics;
    stops.push(() => worker.stop());
  }, 600_000);
  afterAll(async () => {
    for (const stop of stops.toReversed()) await stop();
  });
  skipTestsWhere(() => missing);
  return given;
}
