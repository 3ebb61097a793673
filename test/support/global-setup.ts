// Setup of a test run: starts one embedded Postgres, or takes the Citus cluster of CITUS_URL, and
// migrates the template of the test databases; prepares a Temporal server for tests that ask for
// it, unpacks the browser, builds the web app, which each service would build for itself, and makes
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
import { startWebBuild } from "../../src/web/build.ts";
import { unpackChromium } from "../browser/support/chromium.ts";
import { citusUrl, closeForCopies, listNodes, prepareCitus } from "./citus.ts";
import { databaseUrl, templateName } from "./database.ts";
import { serveTemporal } from "./temporal-server.ts";

declare module "vitest" {
  export interface ProvidedContext {
    serverUrl: string;
    /** That server, and the workers of the Citus cluster of CITUS_URL. */
    nodeUrls: string[];
    /** Template of databases without migrations. */
    emptyTemplate: string;
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
  const building = hasBrowserTests ? startWebBuild().done : undefined;
  const server = citusUrl === undefined ? await startServer(folder) : await prepareNodes(citusUrl);
  project.provide("serverUrl", server.url);
  project.provide("nodeUrls", server.nodeUrls);
  project.provide("emptyTemplate", server.emptyTemplate);
  const temporal = await serving;
  await makingSnapshot;
  await unpacking;
  await building;
  project.provide("temporalStarterUrl", temporal.url);
  const preparedFolder = await mkdtemp(join(tmpdir(), "waggle-prepared-"));
  project.provide("preparedFolder", preparedFolder);
  return async () => {
    await Promise.all([server.stop(), temporal.stop()]);
    for (const path of [folder, preparedFolder]) await rm(path, { recursive: true, force: true });
  };
}

type TestServer = {
  readonly url: string;
  readonly nodeUrls: string[];
  readonly emptyTemplate: string;
  stop(): Promise<void>;
};

async function startServer(folder: string): Promise<TestServer> {
  const server = await startPostgres({
    folder,
    // A test run need not survive a power failure. Tests of durability kill servers of their own,
    // which have the default settings.
    initdbArguments: ["--no-sync"],
    settings: {
      fsync: "off",
      synchronous_commit: "off",
      full_page_writes: "off",
      // Each of the workers may have two services, and each service its pools.
      max_connections: "300",
    },
  });
  const nodeUrls = [server.url];
  await createOn(nodeUrls, templateName);
  await migrateTemplate(server.url);
  return { url: server.url, nodeUrls, emptyTemplate: "template1", stop: () => server.stop() };
}

/** Makes the templates on every node of a running Citus cluster. */
async function prepareNodes(url: string): Promise<TestServer> {
  const nodeUrls = await listNodes(url);
  for (const name of [emptyCitusName, templateName]) {
    await createOn(nodeUrls, name);
    await prepareCitus(nodeUrls, name);
  }
  await migrateTemplate(url);
  for (const name of [emptyCitusName, templateName]) await closeForCopies(nodeUrls, name);
  return { url, nodeUrls, emptyTemplate: emptyCitusName, stop: () => Promise.resolve() };
}

const emptyCitusName = "waggle_empty";

async function createOn(nodeUrls: readonly string[], name: string): Promise<void> {
  for (const url of nodeUrls) {
    const server = openDatabase({ url, connectionsMax: 1 });
    await server.sql()`drop database if exists ${server.sql()(name)} with (force)`;
    await server.sql()`create database ${server.sql()(name)}`;
    await server.close();
  }
}

async function migrateTemplate(url: string): Promise<void> {
  const database = openDatabase({ url: databaseUrl(url, templateName), connectionsMax: 1 });
  await migrate(database);
  await database.close();
}

/** Makes the snapshot, once per machine. It takes seconds, longer than a test may wait. */
async function makeSnapshot(): Promise<void> {
  const sandbox = createSandbox(readConfig({}, {}), createLogger("fatal"));
  await sandbox.inspect("result = 1");
  await sandbox.close();
}
