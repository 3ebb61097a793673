// What callers see when a statement takes longer than it may. Source: docs/decisions.md, 10.

import { afterAll, expect, test } from "vitest";
import { createCore } from "../../src/compose/core.ts";
import { createApp } from "../../src/compose/service.ts";
import { createLogger } from "../../src/base/logger.ts";
import { createSandbox } from "../../src/commands/sandbox.ts";
import { readConfig } from "../../src/config.ts";
import { createMetrics } from "../../src/observability/metrics.ts";
import { openDatabase } from "../../src/postgres/database.ts";
import { createTestDatabase, openTestClusters } from "../support/database.ts";
import { givenAKey } from "../support/keys.ts";
import { givenAProject } from "../support/project.ts";

const given = await createTestDatabase();
afterAll(() => given.drop());
const database = openDatabase({ url: given.url, statementTimeoutMs: 200 });
const config = readConfig({ port: "0", "operator-port": "0" }, {});
const logger = createLogger("fatal");
const clusters = openTestClusters(database);
const sandbox = createSandbox(config, logger);
const beside = { logger, metrics: createMetrics("serve"), sandbox };
const core = await createCore({ config, database, clusters, ...beside });
const app = await createApp(core);

const { url } = await app.listen();
const project = await givenAProject(given.database, "demo");
const { secret: key } = await givenAKey(given.database, project, { kind: "project" });
const released = Promise.withResolvers<void>();
const isLocked = Promise.withResolvers<void>();
const locked = given.database.transaction(async (sql) => {
  await sql`lock table events, session_totals, event_fields in access exclusive mode`;
  isLocked.resolve();
  await released.promise;
});
await isLocked.promise;
afterAll(async () => {
  released.resolve();
  await locked;
  await app.close();
  await core.close();
  await database.close();
});

const filters = [{ field: "metadata.a", operator: "exists" }];
const ofTools = [{ field: "event_type", operator: "is", value: "tool" }];
const aCount = { kind: "scalar", measures: [{ metric: "event_count" }] };
const event = { event_type: "tool", source: "test", inputs: {} };

test.each([
  { method: "POST", path: "/events/export", body: { project: "demo", filters: [], page: 900 } },
  { method: "POST", path: "/v1/events/search", body: { filters } },
  { method: "GET", path: "/v1/events/schema", body: undefined },
  { method: "GET", path: "/v1/events/e", body: undefined },
  { method: "POST", path: "/v1/charts/query", body: { filters: ofTools, query: aCount } },
  { method: "GET", path: "/v1/events/chart?metric=cost", body: undefined },
  { method: "GET", path: "/v1/sessions", body: undefined },
  { method: "GET", path: "/v1/sessions/s", body: undefined },
  { method: "POST", path: "/events", body: { event } },
])("$method $path ends at the statement time-out with a 504", async ({ method, path, body }) => {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const errorCode = "DEADLINE_EXCEEDED";

  expect(response.status).toBe(504);
  const answer = (await response.json()) as { message?: string };
  expect(answer).toMatchObject({ success: false, statusCode: 504, errorCode });
  // Writes have no advice to give.
  if (path !== "/events") expect(answer.message).toMatch(/longer than 200 ms; ask for less/);
});
