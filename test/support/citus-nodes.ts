// A Citus cluster of a test's own, which it may kill: a coordinator and two workers, each a server
// with a port, whose commits are durable. `CITUS_BINARIES` is the folder of a Postgres' programs.

import { execFile } from "node:child_process";
import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, type TestContext } from "vitest";
import type { LocalProject } from "../../src/controlplane/projects/local-projects.ts";
import { type Cluster, databaseUser, locateCluster } from "../../src/embedded/cluster.ts";
import { exitOf } from "../../src/embedded/processes.ts";
import { type Database, openDatabase } from "../../src/postgres/database.ts";
import { skipWhereMissing } from "../clients/environment.ts";
import { givenAKey } from "./keys.ts";
import { patience } from "./patience.ts";
import { launchPostgres, type PostgresServer } from "./postgres-server.ts";
import { givenAProject } from "./project.ts";
import { makeFolder } from "./restore.ts";
import { aFreePort } from "./socket.ts";

export const programs = process.env["CITUS_BINARIES"];

export function skipWithoutCitusBinaries(context: TestContext): void {
  const isMissing = programs === undefined;
  const missing = "CITUS_BINARIES, the folder of the programs of a Postgres with Citus, is not set";
  skipWhereMissing(context, isMissing ? missing : undefined);
}

const settings = {
  listen_addresses: "127.0.0.1",
  shared_preload_libraries: "citus",
  wal_level: "logical",
  fsync: "on",
  max_connections: "100",
  max_prepared_transactions: "100",
  max_worker_processes: "32",
  "citus.shard_count": "4",
  "citus.node_conninfo": "sslmode=prefer",
};

export type CitusNode = {
  readonly host: string;
  readonly port: number;
  /** URL of its database over TCP. */
  readonly url: string;
  readonly server: PostgresServer;
  readonly cluster: Cluster;
};

export type CitusNodes = {
  readonly coordinator: CitusNode;
  readonly workers: readonly [CitusNode, CitusNode];
  /** Starts a synchronous standby of a node. */
  addStandby(of: CitusNode): Promise<CitusNode>;
};

/**
 * Starts the nodes of a cluster, which end with the test. `toConfiguration` returns what a group's
 * postgresql.conf has besides: 0 is the coordinator's, 1 and 2 are the workers'.
 */
export async function startCitusNodes(
  toConfiguration: (groupId: number) => string = () => "",
): Promise<CitusNodes> {
  const folder = await mkdtemp(join(tmpdir(), "waggle-citus-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  const located = await locateCluster(folder);
  const clusterOf = (name: string): Cluster => ({ ...located, folder: join(folder, name) });
  const start = async (name: string, groupId: number): Promise<CitusNode> => {
    const cluster = clusterOf(name);
    await fill(cluster, "initdb", [
      "-D",
      cluster.folder,
      "-U",
      databaseUser,
      "--auth",
      "trust",
      "--encoding",
      "UTF8",
      "--locale",
      "C.UTF-8",
    ]);
    await appendFile(join(cluster.folder, "postgresql.conf"), toConfiguration(groupId));
    const node = await launchNode(cluster);
    await query(node, (sql) => sql`create extension citus`);
    return node;
  };
  const coordinator = await start("coordinator", 0);
  const workers = [await start("worker1", 1), await start("worker2", 2)] as const;
  await query(coordinator, async (sql) => {
    await sql`select citus_set_coordinator_host(${coordinator.host}, ${coordinator.port})`;
    for (const { host, port } of workers) await sql`select citus_add_node(${host}, ${port})`;
  });
  return {
    coordinator,
    workers,
    async addStandby(primary) {
      const cluster = clusterOf("standby");
      const source = `host=${primary.host} port=${primary.port} user=${databaseUser}`;
      await fill(cluster, "pg_basebackup", [
        "-R",
        "-d",
        `${source} application_name=standby`,
        "-D",
        cluster.folder,
        "--checkpoint=fast",
      ]);
      const standby = await launchNode(cluster);
      await query(primary, async (sql) => {
        await sql`alter system set synchronous_standby_names = 'standby'`;
        await sql`select pg_reload_conf()`;
        await expect
          .poll(() => sql`select sync_state as state from pg_stat_replication`, patience)
          .toEqual([{ state: "sync" }]);
      });
      return standby;
    },
  };
}

/** Runs a program that fills the folder of a cluster. */
async function fill(cluster: Cluster, program: string, words: readonly string[]): Promise<void> {
  const { account, folder } = cluster;
  await makeFolder(cluster, folder);
  await promisify(execFile)(join(programs ?? "", program), words, { ...account, cwd: folder });
}

/** Starts a node on a filled folder, at a port that is new. */
export async function launchNode(cluster: Cluster): Promise<CitusNode> {
  const [host, port] = ["127.0.0.1", await aFreePort()];
  const own = { ...settings, port: String(port) };
  const server = await launchPostgres(cluster, join(programs ?? "", "postgres"), own);
  const url = `postgres://${databaseUser}@${host}:${port}/postgres`;
  return { host, port, url, server, cluster };
}

/** Ends a node without a word to anyone. */
export async function killNode({ server }: CitusNode): Promise<void> {
  server.child.kill("SIGKILL");
  await exitOf(server.child);
}

/** Runs statements on a node, over a connection of their own. */
export async function query<T>(
  { server }: CitusNode,
  work: (sql: ReturnType<Database["sql"]>) => PromiseLike<T>,
): Promise<T> {
  const database = openDatabase({ url: server.url, connectionsMax: 1 });
  try {
    return await work(database.sql());
  } finally {
    await database.close();
  }
}

/** Returns a key of a new project whose data are on a worker. */
export async function givenAKeyOn(database: Database, { port }: CitusNode): Promise<string> {
  for (;;) {
    const project = await givenAProject(database);
    if ((await portOf(database, project)) !== port) continue;
    return (await givenAKey(database, project, { kind: "project" })).secret;
  }
}

async function portOf(database: Database, { projectId }: LocalProject): Promise<number> {
  const [row] = await database.sql()<{ port: number }[]>`
    select nodeport as port
    from pg_dist_shard_placement
    where shardid = get_shard_id_for_distribution_column('events', ${projectId}::uuid)`;
  return row?.port ?? 0;
}
