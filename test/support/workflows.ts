// A tenant with events to archive, and queries to Temporal about it.

import { Client } from "@temporalio/client";
import { createUuid } from "../../src/base/ids.ts";
import type { ProjectId } from "../../src/base/ids.ts";
import type { LocalProject } from "../../src/controlplane/projects/local-projects.ts";
import { openConnection } from "../../src/workflows/namespace.ts";
import type { Database } from "../../src/postgres/database.ts";
import type { TemporalTarget } from "../../src/workflows/client.ts";
import type { Progress } from "../../src/workflows/progress.ts";

export type TestDataplane = {
  readonly orgId: string;
  readonly dataplaneId: string;
  readonly workspaceIds: readonly string[];
  readonly projects: readonly LocalProject[];
};

/** Creates a data plane in an existing organization. */
export async function givenADataplane(
  database: Database,
  orgId: string,
  size: { readonly workspaces: number; readonly projectsEach: number },
): Promise<TestDataplane> {
  const sql = database.sql();
  const dataplaneId = createUuid();
  await sql`
    insert into dataplanes (dataplane_id, org_id, name)
    values (${dataplaneId}, ${orgId}, ${dataplaneId})`;
  const workspaceIds = Array.from({ length: size.workspaces }, () => createUuid());
  const projects: LocalProject[] = [];
  for (const workspaceId of workspaceIds) {
    await sql`
      insert into workspaces (workspace_id, dataplane_id, name)
      values (${workspaceId}, ${dataplaneId}, ${workspaceId})`;
    for (let index = 0; index < size.projectsEach; index += 1) {
      const projectId = createUuid() as ProjectId;
      const projectName = `project ${index}`;
      await sql`
        insert into projects (project_id, workspace_id, name)
        values (${projectId}, ${workspaceId}, ${projectName})`;
      projects.push({ orgId, dataplaneId, workspaceId, projectId, projectName });
    }
  }
  return { orgId, dataplaneId, workspaceIds, projects };
}

/** Inserts events into a project; every hundredth is an update that waits for its event. */
export async function givenEvents(
  database: Database,
  projectId: string,
  count: number,
): Promise<void> {
  const sql = database.sql();
  await sql`
    insert into events (
      project_id, event_id, session_id, event_type, event_name, source, start_time_us, inputs)
    select
      ${projectId}, gen_random_uuid(), 'session ' || n % 100,
      case when n % 100 = 0 then 'pending' else 'model' end, 'event', 'test', n,
      jsonb_build_object('text', repeat(md5(n::text), 30))
    from generate_series(1, ${count}::integer) as n`;
  await sql`
    insert into session_totals (
      project_id, session_id, num_events, num_model_events, num_errors, num_costs, num_feedback,
      prompt_tokens, completion_tokens, total_tokens, cost)
    select ${projectId}, 'session ' || n, 1, 1, 0, 0, 0, 0, 0, 0, 0
    from generate_series(0, 99) as n`;
  await sql`
    insert into event_fields (project_id, event_type, field, types)
    values (${projectId}, 'model', 'inputs.text', 1)`;
}

/**
 * Number of events and a sum over ids and contents, which a lost, doubled or changed event changes.
 */
export type Fingerprint = { readonly count: number; readonly sum: string };

export async function fingerprintOf(
  database: Database,
  table: "events" | "archived_events",
  projectIds: readonly string[],
): Promise<Fingerprint> {
  const sql = database.sql();
  const [row] = await sql<{ count: number; sum: string }[]>`
    select
      count(*)::integer as count,
      coalesce(sum(hashtextextended(
        concat_ws('|', project_id, event_id, event_type, session_id, start_time_us, inputs), 0
      )::numeric), 0)::text as sum
    from ${sql(table)}
    where project_id = any(${projectIds}::uuid[])`;
  return row ?? { count: -1, sum: "" };
}

/** Returns a Temporal without TLS. */
export function targetOf(temporal: {
  readonly address: string;
  readonly namespace: string;
}): TemporalTarget {
  const { address, namespace } = temporal;
  return {
    address,
    namespace,
    apiKey: undefined,
    tls: false,
    clientCertPath: undefined,
    clientKeyPath: undefined,
    serverCaCertPath: undefined,
  };
}

/** Opens an operator's view of Temporal. */
export function openClient(temporal: { readonly address: string; readonly namespace: string }) {
  const connection = openConnection(temporal.address);
  const client = new Client({ connection, namespace: temporal.namespace });
  return {
    client,
    progressOf: (workflowId: string): Promise<Progress> =>
      client.workflow.getHandle(workflowId).query<Progress>("progress"),
    stateOf: async (workflowId: string): Promise<string> =>
      (await client.workflow.getHandle(workflowId).describe()).status.name,
    close: () => connection.close(),
  };
}
