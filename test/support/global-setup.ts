// Setup of a test run: starts one embedded Postgres and migrates the template of the test
// databases, prepares a Temporal server for tests that ask for it, unpacks the browser, and makes
// Python's memory snapshot, from which every sandbox starts.

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
import { unpackChromium } from "../browser/support/chromium.ts";
import { databaseUrl, templateName } from "./database.ts";
import { serveTemporal } from "./temporal-server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    serverUrl: string;
    /** Address from which test/support/temporal.ts gets the Temporal server. */
    temporalStarterUrl: string;
    /** Folder in which test/support/process.ts prepares the data folder that tests copy. */
    preparedFolder: string;
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (project.vitest.projects.every(({ name }) => name === "unit")) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "waggle-test-"));
  const serving = serveTemporal();
  const makingSnapshot = makeSnapshot();
  const hasBrowserTests = project.vitest.projects.some(({ name }) => name === "browser");
  const unpacking = hasBrowserTests ? unpackChromium() : undefined;
  const server = await startPostgres({
    folder,
    // A test run need not survive a power failure. Tests of durability kill servers of their own,
    // which have the default settings.
    initdbArguments: ["--no-sync"],
    settings: {
      ...{ fsync: "off", synchronous_commit: "off", full_page_writes: "off" },
      // Each of the workers may have two services, and each service its pools.
      max_connections: "300",
    },
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
  await unpacking;
  project.provide("temporalStarterUrl", temporal.url);
  const preparedFolder = await mkdtemp(join(tmpdir(), "waggle-prepared-"));
  project.provide("preparedFolder", preparedFolder);
  return async () => {
    await Promise.all([server.stop(), temporal.stop()]);
    for (const path of [folder, preparedFolder]) await rm(path, { recursive: true, force: true });
  };
}

/** Makes the snapshot, once per machine. It takes seconds, longer than a test may wait. */
async function makeSnapshot(): Promise<void> {
  const sandbox = createSandbox(readConfig({}, {}), createLogger("fatal"));
  await sandbox.inspect("result = 1");
  await sandbox.close();
}
