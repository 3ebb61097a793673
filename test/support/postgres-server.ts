// A Postgres that a test starts itself, apart from the service.

import type { ChildProcess } from "node:child_process";
import { expect, onTestFinished } from "vitest";
import {
  type Cluster,
  createSocketFolder,
  databaseUser,
  removeSocketFolder,
} from "../../src/embedded/cluster.ts";
import { exitOf, spawnServer } from "../../src/embedded/processes.ts";
import { openDatabase } from "../../src/postgres/database.ts";
import { patience } from "./patience.ts";

const settings = {
  listen_addresses: "",
  wal_level: "replica",
  wal_keep_size: "256MB",
  synchronous_commit: "on",
  max_connections: "60",
  shared_buffers: "32MB",
  // The machine goes on: only the processes are killed.
  fsync: "off",
  full_page_writes: "on",
  log_min_error_statement: "panic",
};

export type PostgresServer = {
  readonly url: string;
  readonly socketFolder: string;
  readonly child: ChildProcess;
};

/**
 * Starts a server, waits until it answers, and stops it at the end of the test. `others` are
 * settings in place of the usual ones.
 */
export async function launchPostgres(
  cluster: Cluster,
  program: string,
  others: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const socketFolder = await createSocketFolder(cluster);
  const own = { unix_socket_directories: socketFolder };
  const flags = Object.entries({ ...settings, ...others, ...own });
  const words = [
    "-D",
    cluster.folder,
    ...flags.flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
  const child = await spawnServer(program, words, {
    ...cluster.account,
    cwd: cluster.folder,
    env: { LC_ALL: "C", TZ: "UTC" },
    ending: { signal: "INT", force: "QUIT", seconds: 5 },
    logPath: `${cluster.folder}.log`,
  });
  onTestFinished(async () => {
    child.kill("SIGQUIT");
    await exitOf(child);
    await removeSocketFolder(socketFolder);
  });
  const { port = "5432" } = others;
  const url = `postgres://${databaseUser}@localhost:${port}/postgres?host=${socketFolder}`;
  const database = openDatabase({ url, connectionsMax: 1 });
  const isAnswering = () =>
    database.sql()`select 1`.then(
      () => true,
      () => false,
    );
  await expect.poll(isAnswering, patience).toBe(true);
  await database.close();
  return { url, socketFolder, child };
}
