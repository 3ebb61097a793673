// The Citus coordinator of CITUS_URL, which test/support/citus.sh starts: test databases are made
// on it and on its workers. Citus keeps one set of nodes for each database.

import { type Database, openDatabase } from "../../src/postgres/database.ts";
import { databaseUrl, urlOf } from "./database.ts";

/** URL of a coordinator, by whose database `postgres` its workers are known; undefined without. */
export const citusUrl = process.env["CITUS_URL"];

/** Returns the URLs of the coordinator and of its workers. */
export async function listNodes(coordinatorUrl: string): Promise<string[]> {
  const database = openDatabase({ url: coordinatorUrl, connectionsMax: 1 });
  const workers = await database.sql()<{ nodename: string; nodeport: number }[]>`
    select nodename, nodeport from pg_dist_node where groupid <> 0 order by nodeid`;
  await database.close();
  const urls = workers.map(({ nodename, nodeport }) => {
    const url = new URL(coordinatorUrl);
    url.hostname = nodename;
    url.port = String(nodeport);
    return url.toString();
  });
  return [coordinatorUrl, ...urls];
}

/** Returns the URL of the database with a project's rows: a worker's, or its own without Citus. */
export async function urlOfRows(database: Database, projectId: string): Promise<string> {
  const url = new URL(await urlOf(database));
  if (citusUrl === undefined) return url.toString();
  const [node] = await database.sql()<{ nodename: string; nodeport: number }[]>`
    select nodename, nodeport
    from pg_dist_shard_placement
    where shardid = get_shard_id_for_distribution_column('events', ${projectId}::uuid)`;
  if (node === undefined) throw new Error("no worker holds the project's rows");
  url.hostname = node.nodename;
  url.port = String(node.nodeport);
  return url.toString();
}

/** Adds the extension to a database of every node, and the workers to the coordinator's. */
export async function prepareCitus(nodes: readonly string[], name: string): Promise<void> {
  const [coordinator = "", ...workers] = nodes.map((node) => databaseUrl(node, name));
  for (const url of [coordinator, ...workers]) {
    await runOn(url, (sql) => sql`create extension citus`);
  }
  await runOn(coordinator, async (sql) => {
    const { hostname, port } = new URL(coordinator);
    await sql`select citus_set_coordinator_host(${hostname}, ${Number(port)})`;
    for (const worker of workers.map((url) => new URL(url))) {
      await sql`select citus_add_node(${worker.hostname}, ${Number(worker.port)})`;
    }
  });
}

/** Ends the connections to a database and allows no others, so that it can be copied. */
export async function closeForCopies(nodes: readonly string[], name: string): Promise<void> {
  for (const node of nodes) {
    await runOn(node, async (sql) => {
      await sql`alter database ${sql(name)} allow_connections false`;
      await sql`
        select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = ${name}`;
    });
  }
}

async function runOn(
  url: string,
  work: (sql: ReturnType<ReturnType<typeof openDatabase>["sql"]>) => PromiseLike<unknown>,
): Promise<void> {
  const database = openDatabase({ url, connectionsMax: 1 });
  try {
    await work(database.sql());
  } finally {
    await database.close();
  }
}
