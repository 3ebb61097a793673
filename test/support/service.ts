// The whole service in this process, on a database of its own and a free port. Called by tests.

import { createApp } from "../../src/app.ts";
import { createKeys } from "../../src/access/keys/keys.ts";
import type { KeyKind } from "../../src/access/principal.ts";
import { createLogger } from "../../src/base/logger.ts";
import { readConfig } from "../../src/config.ts";
import { createMetrics, type Metrics } from "../../src/operator/metrics.ts";
import type { Database } from "../../src/postgres/database.ts";
import type { Project } from "../../src/controlplane/projects/projects.ts";
import { createTestDatabase, openTestClusters } from "./database.ts";
import { givenAProject } from "./project.ts";

export type TestService = {
  readonly url: string;
  readonly database: Database;
  readonly metrics: Metrics;
  readonly projectId: Project["projectId"];
  readonly projectName: string;
  readonly projectKey: string;
  readonly readOnlyKey: string;
  readonly ingestionKey: string;
  /** Another project, in another organization. */
  readonly otherProject: { readonly projectId: Project["projectId"]; readonly projectKey: string };
  /** Stops the service and drops its database. */
  stop(): Promise<void>;
};

/** Boots the service; `flags` are those of the command line, such as `{ "cors-origins": "*" }`. */
export async function startService(
  flags: Readonly<Record<string, string>> = {},
): Promise<TestService> {
  const own = await createTestDatabase();
  const { database } = own;
  const config = readConfig({ port: "0", "operator-port": "0", ...flags }, {});
  const metrics = createMetrics();
  const logger = createLogger(flags["log-level"] ?? "fatal");
  const clusters = openTestClusters(database, config.clusters);
  const app = await createApp({ config, database, clusters, logger, metrics });
  const project = await givenAProject(database, "demo");
  const other = await givenAProject(database, "other");
  const keys = createKeys({ database, cacheEntriesMax: 0, cacheAgeMs: 0 });
  const createKey = async (kind: KeyKind, { projectId }: Project): Promise<string> => {
    const options = { kind, projectId, name: kind, createdBy: "test" };
    return (await keys.create(options)).secret;
  };
  const { url } = await app.listen();
  return {
    url,
    database,
    metrics,
    projectId: project.projectId,
    projectName: "demo",
    projectKey: await createKey("project", project),
    readOnlyKey: await createKey("project_read_only", project),
    ingestionKey: await createKey("ingestion", project),
    otherProject: { projectId: other.projectId, projectKey: await createKey("project", other) },
    async stop() {
      await app.close();
      await clusters.close();
      await own.drop();
    },
  };
}
