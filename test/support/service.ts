// The whole service in this process, on a separate database and a free port.

import { createCore } from "../../src/compose/core.ts";
import { createApp } from "../../src/compose/service.ts";
import type { KeyKind } from "../../src/access/principal.ts";
import { createLogger } from "../../src/base/logger.ts";
import { createOrgKey } from "../../src/commands/credentials.ts";
import { createSandbox } from "../../src/commands/sandbox.ts";
import { readConfig } from "../../src/config.ts";
import { createMetrics, type Metrics } from "../../src/observability/metrics.ts";
import type { Database } from "../../src/postgres/database.ts";
import { createWebApp } from "../../src/web/serve.ts";
import type { LocalProject } from "../../src/controlplane/projects/local-projects.ts";
import { createTestDatabase, openTestClusters, type TestDatabase } from "./database.ts";
import { givenAKey } from "./keys.ts";
import { givenAProject } from "./project.ts";

export type TestService = {
  readonly url: string;
  readonly database: Database;
  readonly metrics: Metrics;
  readonly projectId: LocalProject["projectId"];
  readonly projectName: string;
  readonly projectKey: string;
  readonly readOnlyKey: string;
  readonly ingestionKey: string;
  /** Organization-level keys with the permissions of the keys of a first start. */
  readonly controlPlaneKey: string;
  readonly dataPlaneKey: string;
  /** The project with the ids of the scopes above it. */
  readonly project: LocalProject;
  /** Another project, in another organization. */
  readonly otherProject: LocalProject & {
    readonly projectKey: string;
    readonly controlPlaneKey: string;
    readonly dataPlaneKey: string;
  };
  /** Stops the service and drops its database. */
  stop(): Promise<void>;
};

export type StartServiceOptions = {
  /** Serves the web app, built if it is not. */
  readonly hasWebApp?: boolean;
  /** Database in place of a new one, which it drops too. */
  readonly own?: TestDatabase;
};

/** Starts the service; `flags` are command-line flags, such as `{ "cors-origins": "*" }`. */
export async function startService(
  flags: Readonly<Record<string, string>> = {},
  { hasWebApp = false, own: given }: StartServiceOptions = {},
): Promise<TestService> {
  const own = given ?? (await createTestDatabase());
  const { database } = own;
  const config = readConfig({ port: "0", "operator-port": "0", ...flags }, {});
  const metrics = createMetrics("serve");
  const logger = createLogger(flags["log-level"] ?? "fatal");
  const clusters = openTestClusters(database, config.clusters);
  const sandbox = createSandbox(config, logger);
  const core = await createCore({ config, database, clusters, logger, metrics, sandbox });
  const web = hasWebApp ? createWebApp({ logger, signIn: "link" }) : undefined;
  await web?.ready;
  const app = await createApp(core, { web });
  const project = await givenAProject(database, "demo");
  const other = await givenAProject(database, "other");
  const createKey = async (kind: KeyKind, ofProject: LocalProject): Promise<string> =>
    (await givenAKey(database, ofProject, { kind })).secret;
  const createOrgKeys = async ({ orgId }: LocalProject) => ({
    controlPlaneKey: await createOrgKey(database, orgId, "control_plane_api_key"),
    dataPlaneKey: await createOrgKey(database, orgId, "data_plane_api_key"),
  });
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
    ...(await createOrgKeys(project)),
    project,
    otherProject: {
      ...other,
      projectKey: await createKey("project", other),
      ...(await createOrgKeys(other)),
    },
    async stop() {
      await app.close();
      await core.close();
      await sandbox.close();
      await clusters.close();
      await own.drop();
    },
  };
}
