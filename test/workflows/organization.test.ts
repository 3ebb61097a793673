// Archiving an organization whose data planes are on two clusters, one of which is away.

import { expect, test } from "vitest";
import { ServiceError } from "../../src/base/errors.ts";
import type { Clusters } from "../../src/postgres/clusters.ts";
import { givenTemporal } from "../support/given-temporal.ts";
import { aControlplane } from "../support/controlplane.ts";
import { givenTestDatabase, openTestClusters } from "../support/database.ts";
import { patience } from "../support/patience.ts";
import { givenAProject } from "../support/project.ts";
import {
  fingerprintOf,
  givenADataplane,
  givenEvents,
  openClient,
  targetOf,
} from "../support/workflows.ts";
import { recordHistory } from "./histories.ts";
import { startWorker } from "../support/worker.ts";

const own = givenTestDatabase();
const temporal = givenTemporal("archiving an organization");

test("a cluster that is away holds up its own data planes alone, until it is back", async () => {
  const { database } = own;
  const { orgId } = await givenAProject(database);
  const size = { workspaces: 1, projectsEach: 1 };
  const here = await givenADataplane(database, orgId, size);
  const there = await givenADataplane(database, orgId, size);
  const sql = database.sql();
  await sql`update dataplanes set cluster_id = 'eu' where dataplane_id = ${there.dataplaneId}`;
  const projectIds = [here, there].flatMap(({ projects }) => projects.map((one) => one.projectId));
  for (const projectId of projectIds) await givenEvents(database, projectId, 3_000);
  const before = await fingerprintOf(database, "events", projectIds);
  const { scopes, archives } = await aControlplane({ database });
  const scope = await scopes.find("org", orgId);
  if (!scope) throw new Error("there is no organization");
  let isAway = true;
  const clusters: Clusters = {
    ...openTestClusters(database),
    database: (clusterId) => {
      if (clusterId !== "eu") return database;
      if (isAway) throw new ServiceError("DATABASE_UNAVAILABLE", "cluster eu is away");
      return database;
    },
  };
  const actor = { type: "operator", id: "test", name: "a test" } as const;

  const { workflowId } = await archives.archive(scope, { withChildren: true, actor });

  const target = targetOf(temporal);
  const app = await startWorker({ target, database, clusters });
  const client = openClient(target);
  const stateOf = (id: string) => client.stateOf(id).catch(() => undefined);
  try {
    const doneId = `archive-dataplane-${here.dataplaneId}`;
    await expect.poll(() => stateOf(doneId), patience).toBe("COMPLETED");
    expect(await stateOf(`archive-dataplane-${there.dataplaneId}`)).toBe("RUNNING");
    expect(await stateOf(workflowId)).toBe("RUNNING");
    expect(await client.progressOf(workflowId)).toMatchObject({
      state: "archiving what is inside",
    });

    isAway = false;

    const result = (await client.client.workflow.getHandle(workflowId).result()) as unknown;
    // The data plane that every organization of these tests begins with is the third.
    expect(result).toEqual({ state: "done", done: 6_000, left: 0, projects: 3, children_done: 3 });
    expect(await client.progressOf(workflowId)).toEqual(result);
    expect(await fingerprintOf(database, "archived_events", projectIds)).toEqual(before);
    expect((await fingerprintOf(database, "events", projectIds)).count).toBe(0);
    await recordHistory(client.client, workflowId, "archive-organization");
  } finally {
    await app.stop();
    await client.close();
  }
}, 300_000);
