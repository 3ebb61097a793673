// Exports of the published clients while the database refuses reads of events: the service says
// that it cannot answer, and the clients try again until it can. Source: the published clients.

import { beforeAll, expect, test, vi } from "vitest";
import { givenStarted } from "../support/given.ts";
import { type MetricProject, givenAMetricProject } from "../support/metrics.ts";
import { patience } from "../support/patience.ts";
import { startService } from "../support/service.ts";
import {
  honeyhiveReport,
  installNode,
  installPython,
  nodeReport,
  sayMissing,
} from "./environment.ts";
import { programTimeoutMs } from "./program.ts";

type Report = { readonly total: number; readonly events: number };

const service = givenStarted(startService);
let project: MetricProject;
const sessionId = "5e551000-0000-4000-8000-000000000001";

beforeAll(async () => {
  project = await givenAMetricProject(service);
  // With their session they are three.
  const event = { event_type: "tool", source: "test", session_id: sessionId, inputs: {} };
  await project.ok("POST /events/batch", { events: [event, event] });
});

/** Number of exports that the service has answered with an error. */
async function failedExports(): Promise<number> {
  const metric = await service.metrics.registry.getSingleMetric("waggle_requests_total")?.get();
  const failed = (metric?.values ?? []).filter(
    ({ labels }) => String(labels["rpc"]).includes("Export") && labels["outcome"] !== "OK",
  );
  return failed.reduce((sum, { value }) => sum + value, 0);
}

/** Ends the connections that wait for the lock, as a database that is stopped ends them. */
async function endWaiting(): Promise<void> {
  await service.database.sql()`
    select pg_terminate_backend(pid)
    from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
}

/** Runs `work` and lets reads of events fail until an export has been answered so. */
async function whileReadsFail<T>(work: () => Promise<T>): Promise<T> {
  const before = await failedExports();
  const isLocked = Promise.withResolvers<void>();
  const unlocked = Promise.withResolvers<void>();
  const locked = service.database.transaction(async (sql) => {
    await sql`lock table events in access exclusive mode`;
    isLocked.resolve();
    await unlocked.promise;
  });
  await isLocked.promise;
  try {
    const working = work();
    const failed = vi.waitUntil(
      async () => {
        await endWaiting();
        return (await failedExports()) > before;
      },
      { ...patience, interval: 50 },
    );
    // Where the client ends first, the assertions say so.
    failed.catch(() => undefined);
    await Promise.race([failed, working]);
    unlocked.resolve();
    return await working;
  } finally {
    unlocked.resolve();
    await locked;
  }
}

test(
  "PyPI honeyhive 1.7.0 exports after retries",
  { timeout: programTimeoutMs },
  async (context) => {
    const environment = await installPython("honeyhive.txt");
    sayMissing("PyPI honeyhive 1.7.0", environment);
    if (environment.missing !== undefined) return context.skip(environment.missing);
    const words = [service.url, project.key, sessionId];
    const before = await failedExports();

    const report = await whileReadsFail(() =>
      honeyhiveReport<Report>(environment, "honeyhive_retries.py", words),
    );

    expect(report).toEqual({ total: 3, events: 3 });
    expect(await failedExports()).toBeGreaterThan(before);
  },
);

test(
  "npm honeyhive 1.0.42 exports after retries",
  { timeout: programTimeoutMs },
  async (context) => {
    const environment = await installNode();
    sayMissing("npm honeyhive 1.0.42", environment);
    if (environment.missing !== undefined) return context.skip(environment.missing);
    const words = [service.url, project.key, sessionId];
    const before = await failedExports();

    const report = await whileReadsFail(() =>
      nodeReport<Report>(environment, "honeyhive-retries.mjs", words),
    );

    expect(report).toEqual({ total: 3, events: 3 });
    expect(await failedExports()).toBeGreaterThan(before);
  },
);
