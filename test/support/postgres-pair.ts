// A primary Postgres with a synchronous standby, made of the embedded binaries: what the primary
// acknowledges is on both.

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished } from "vitest";
import { preparePostgresBinaries } from "../../src/embedded/binaries.ts";
import {
  type Cluster,
  createCluster,
  databaseUser,
  locateCluster,
} from "../../src/embedded/cluster.ts";
import { exitOf } from "../../src/embedded/processes.ts";
import { type Database, openDatabase } from "../../src/postgres/database.ts";
import { backUp } from "./base-backup.ts";
import { patience } from "./patience.ts";
import { launchPostgres } from "./postgres-server.ts";

export type PostgresPair = {
  readonly primaryUrl: string;
  readonly standbyUrl: string;
  /** Ends the primary without a word to anyone. */
  killPrimary(): Promise<void>;
  /** Makes the standby the primary. */
  promote(): Promise<void>;
};

const standbyName = "standby";

/** Starts both, with a database; `prepare` fills it before the standby is made. */
export async function startPostgresPair(
  prepare: (database: Database) => Promise<void>,
): Promise<PostgresPair> {
  const folder = await mkdtemp(join(tmpdir(), "waggle-pair-"));
  const [ofPrimary, ofStandby] = ["primary", "standby"].map((name) => join(folder, name));
  const located = await locateCluster(folder);
  const { account, binariesFolder } = located;
  const primaryCluster = { ...located, folder: ofPrimary ?? "" };
  const standbyCluster = { ...located, folder: ofStandby ?? "" };
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  const binaries = await preparePostgresBinaries(account, binariesFolder);
  await createCluster(primaryCluster, binaries, {
    initdbArguments: ["--no-sync"],
    signal: undefined,
  });
  const launchOn = (cluster: Cluster) => launchPostgres(cluster, binaries.postgres);

  const primary = await launchOn(primaryCluster);
  const database = openDatabase({ url: primary.url });
  onTestFinished(() => database.close());
  await prepare(database);
  const server = openDatabase({ url: primary.url, connectionsMax: 1 });
  onTestFinished(() => server.close());

  await backUp(primaryCluster.folder, standbyCluster.folder, server.sql());
  const source = `host=${primary.socketFolder} user=${databaseUser}`;
  await writeFile(join(standbyCluster.folder, "standby.signal"), "");
  await writeFile(
    join(standbyCluster.folder, "postgresql.auto.conf"),
    `primary_conninfo = '${source} application_name=${standbyName}'\n`,
  );
  await giveTo(standbyCluster);
  const standby = await launchOn(standbyCluster);
  await server.sql().unsafe(`alter system set synchronous_standby_names = '${standbyName}'`);
  await server.sql()`select pg_reload_conf()`;
  await expect
    .poll(() => server.sql()`select sync_state as state from pg_stat_replication`, patience)
    .toEqual([{ state: "sync" }]);

  return {
    primaryUrl: primary.url,
    standbyUrl: standby.url,
    async killPrimary() {
      primary.child.kill("SIGKILL");
      await exitOf(primary.child);
    },
    async promote() {
      const promoting = openDatabase({ url: standby.url, connectionsMax: 1 });
      const [row] = await promoting.sql()<{ done: boolean }[]>`select pg_promote(true) as done`;
      await promoting.close();
      expect(row?.done).toBe(true);
    },
  };
}

async function giveTo({ folder, account }: Cluster): Promise<void> {
  if (account) {
    await promisify(execFile)("chown", ["-R", `${account.uid}:${account.gid}`, folder]);
  }
}
