// Starts one embedded Postgres for a test run and migrates the template that every test file's
// database is copied from; has a Temporal ready for those that ask, and Python's memory, which
// every sandbox starts from. Called by vitest.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { createLogger } from "../../src/base/logger.ts";
import { createSandbox } from "../../src/commands/sandbox.ts";
import { readConfig } from "../../src/config.ts";
import { startPostgres } from "../../src/embedded/postgres.ts";
import { openDatabase } from "../../src/postgres/database.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { databaseUrl, templateName } from "./database.ts";
import { serveTemporal } from "./temporal-server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    serverUrl: string;
    /** For test/support/temporal.ts. */
    temporalStarterUrl: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "waggle-test-"));
  const serving = serveTemporal();
  const makingSnapshot = makeSnapshot();
  const server = await startPostgres({
    folder,
    // Nothing of a test run has to survive a power cut.
    initdbArguments: ["--no-sync"],
    settings: { fsync: "off", synchronous_commit: "off", full_page_writes: "off" },
  });
  const template = openDatabase({ url: server.url, connectionsMax: 1 });
  await template.sql()`create database ${template.sql()(templateName)}`;
  await template.close();
  const database = openDatabase({ url: databaseUrl(server.url, templateName), connectionsMax: 1 });
  await migrate(database);
  await database.close();
  project.provide("serverUrl", server.url);
  const temporal = await serving;
  await makingSnapshot;
  project.provide("temporalStarterUrl", temporal.url);
  return async () => {
    await Promise.all([server.stop(), temporal.stop()]);
    await rm(folder, { recursive: true, force: true });
  };
}

/** Takes seconds, once on a machine; a test that waited for it would take longer than it may. */
async function makeSnapshot(): Promise<void> {
  const sandbox = createSandbox(readConfig({}, {}), createLogger("fatal"));
  await sandbox.inspect("result = 1");
  await sandbox.close();
}
