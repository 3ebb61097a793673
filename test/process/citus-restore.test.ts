// A Citus cluster is restored to a restore point, each node from its own backup and archive, at new
// addresses: every event up to the point is there, and none after it. The commands and queries are
// those of docs/clusters.md, and of docs/operations.md where that page refers to it. Skipped where
// CITUS_BINARIES is not set.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Cluster, locateCluster } from "../../src/embedded/cluster.ts";
import { openDatabase } from "../../src/postgres/database.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import {
  type CitusNode,
  givenAKeyOn,
  killNode,
  launchNode,
  programs,
  query,
  skipWithoutCitusBinaries,
  startCitusNodes,
} from "../support/citus-nodes.ts";
import { serve, terminate } from "../support/deployment.ts";
import { readBlocks, replace } from "../support/page-blocks.ts";
import { patience } from "../support/patience.ts";
import { givenAnEmptyDataFolder, run } from "../support/process.ts";
import {
  archiveLog,
  ask,
  makeFolder,
  own,
  readBackupBlocks,
  runAs,
  sendEvents,
  statusOfEvent,
} from "../support/restore.ts";

/** Returns the blocks of the page's section in their order. */
function readRestoreBlocks() {
  const languages = ["sql", "sh", "sql", "sql", "sql", "sql", "sql"];
  const blocks = readBlocks("clusters.md", "Restore to a point in time", languages);
  const [point = "", restore = "", addresses = "", nodes = "", ...last] = blocks;
  const [recover = "", reset = "", health = ""] = last;
  return { point, restore, addresses, nodes, recover, reset, health };
}

/** Addresses of the restored nodes on the page, by the numbers of their groups. */
const pageAddresses = ["'10.1.0.10', 5432", "'10.1.0.11', 5432", "'10.1.0.12', 5432"];
const pageBackup = "/backup/$(date +%F)";

test(
  "a Citus cluster is restored to a restore point, with its nodes at new addresses",
  { timeout: 300_000 },
  async (context) => {
    skipWithoutCitusBinaries(context);
    const ofOne = readBackupBlocks();
    const page = readRestoreBlocks();
    const store = await givenAStore();
    const original = await startCitusNodes((groupId) =>
      replace(ofOne.archive, { "/archive/": `${store.folder}/archive/${groupId}/` }),
    );
    const { coordinator, workers } = original;
    const nodes = [coordinator, ...workers];
    const database = openDatabase({ url: coordinator.url });
    onTestFinished(() => database.close());
    await migrate(database);
    const keys = await Promise.all(workers.map((worker) => givenAKeyOn(database, worker)));
    const server = await serve(coordinator.url);
    const send = async (url: string, count: number) => {
      const sent = await Promise.all(keys.map((key) => sendEvents({ url, key }, count)));
      return sent.map(([first]) => first);
    };

    await send(server.url, 200);
    for (const [groupId, node] of nodes.entries()) {
      const target = { [pageBackup]: `${store.folder}/backup/${groupId}` };
      const PATH = `${programs}:${process.env["PATH"] ?? ""}`;
      await runAs(node.cluster, replace(ofOne.backup, target), { PATH, DATABASE_URL: node.url });
    }
    const kept = await send(server.url, 300);
    await leavePrepared(coordinator, workers[0]);
    await runBlock(coordinator, page.point);
    const wanted = await query(coordinator, (sql) => ask(sql, ofOne.fingerprint));
    const lost = await send(server.url, 50);
    for (const node of nodes) await query(node, (sql) => archiveLog(sql, ofOne.sendLog));
    expect(await terminate(server.process)).toBe(0);
    await database.close();
    for (const node of nodes) await killNode(node);

    const restored = await restoreAll(store, page.restore);
    const [first, worker] = restored;
    expect(await listPrepared(worker)).toEqual([committed, unfinished]);
    await runBlock(first, replace(page.addresses, toNewAddresses(restored)));
    const newRows = restored.map(toNodeRow);
    for (const node of restored) {
      const listed = () => query(node, (sql) => sql.unsafe<NodeRow[]>(page.nodes));
      await expect.poll(listed, patience).toEqual(newRows);
    }
    await runBlock(first, page.recover);
    expect(await listPrepared(worker)).toEqual([]);
    expect(await query(worker, (sql) => ask(sql, tables))).toBe("finished|");
    for (const node of restored) {
      await runBlock(node, page.reset);
      const interval = () => query(node, (sql) => ask(sql, "show citus.recover_2pc_interval"));
      await expect.poll(interval, patience).toBe("1min");
    }
    const health = await query(first, (sql) => sql.unsafe<{ result: boolean }[]>(page.health));
    expect(health.map(({ result }) => result)).toEqual(Array.from({ length: 9 }, () => true));

    expect(await query(first, (sql) => ask(sql, ofOne.fingerprint))).toBe(wanted);
    // Each of the batches is a session, which is an event too.
    expect(wanted).toMatch(/^1004\|-?\d{15,}$/);
    await expectHealthy(first);
    const copy = await serve(first.url);
    const statuses = (ids: readonly (string | undefined)[]) =>
      Promise.all(keys.map((key, i) => statusOfEvent({ url: copy.url, key }, ids[i])));
    expect(await statuses(kept)).toEqual([200, 200]);
    expect(await statuses(lost)).toEqual([404, 404]);
    expect(await statuses(await send(copy.url, 10))).toEqual([200, 200]);
    expect(await terminate(copy.process)).toBe(0);
  },
);

/** Makes a folder for the archives and backups of all nodes, and for the restored ones. */
async function givenAStore(): Promise<Cluster> {
  const folder = await givenAnEmptyDataFolder();
  const cluster = { ...(await locateCluster(folder)), folder };
  await own(cluster, folder);
  for (const name of ["archive", "backup"]) {
    await makeFolder(cluster, join(folder, name));
  }
  for (const groupId of pageAddresses.keys()) {
    await makeFolder(cluster, join(folder, "archive", String(groupId)));
  }
  return cluster;
}

/** Runs the statements of a block one after the other, as psql does. */
async function runBlock(node: CitusNode, block: string): Promise<void> {
  await query(node, async (sql) => {
    for (const statement of block.trim().split(/(?<=;)\n/)) await sql.unsafe(statement).simple();
  });
}

const committed = "citus_0_1000000_1_1";
const unfinished = "citus_0_1000000_2_1";
const tables = "select to_regclass('finished'), coalesce(to_regclass('undone')::text, '')";

/**
 * Leaves what commits over several nodes leave on a worker that was not told of their end: one that
 * the coordinator has committed, and one that it has not.
 */
async function leavePrepared(coordinator: CitusNode, worker: CitusNode): Promise<void> {
  // The backup has no such setting: only the original leaves them alone.
  await runBlock(coordinator, "alter system set citus.recover_2pc_interval = -1;");
  await runBlock(coordinator, "select pg_reload_conf();");
  await query(worker, async (sql) => {
    await sql.unsafe(`begin; create table finished (); prepare transaction '${committed}'`);
    await sql.unsafe(`begin; create table undone (); prepare transaction '${unfinished}'`);
  });
  await query(
    coordinator,
    (sql) => sql`
      insert into pg_dist_transaction (groupid, gid)
      select groupid, ${committed} from pg_dist_node where nodeport = ${worker.port}`,
  );
}

async function listPrepared(node: CitusNode): Promise<readonly string[]> {
  const rows = await query(
    node,
    (sql) => sql<{ gid: string }[]>`select gid from pg_prepared_xacts order by gid`,
  );
  return rows.map(({ gid }) => gid);
}

type NodeRow = { readonly groupid: number; readonly nodename: string; readonly nodeport: number };

function toNodeRow({ host, port }: CitusNode, groupId: number): NodeRow {
  return { groupid: groupId, nodename: host, nodeport: port };
}

function toNewAddresses(restored: readonly CitusNode[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    restored.map(({ host, port }, i) => [pageAddresses[i] ?? "", `'${host}', ${port}`] as const),
  );
}

/** Restores each node by the page's commands and starts it, at a new port. */
async function restoreAll(store: Cluster, script: string) {
  const restore = async (groupId: number): Promise<CitusNode> => {
    const cluster = { ...store, folder: join(store.folder, `restored-${groupId}`) };
    await makeFolder(cluster, cluster.folder);
    const replacements = {
      "NODE=1\n": `NODE=${groupId}\n`,
      "/backup/": `${store.folder}/backup/`,
      "/archive/": `${store.folder}/archive/`,
    };
    await runAs(cluster, replace(script, replacements), { PGDATA: cluster.folder });
    const node = await launchNode(cluster);
    const log = await readFile(`${cluster.folder}.log`, "utf8");
    expect(log).toContain("recovery stopping at restore point");
    return node;
  };
  return [await restore(0), await restore(1), await restore(2)] as const;
}

async function expectHealthy({ url }: CitusNode): Promise<void> {
  const folder = await givenAnEmptyDataFolder();
  const flags = ["--data", folder, "--database-url", url, "--port", "0", "--workflows", "off"];
  const { code, output } = await run("doctor", ...flags).ended();
  expect(output).toMatch(/^ok {4}database: reachable, at migration (\d+) of \1$/m);
  expect(output).not.toContain("FAIL");
  expect(code).toBe(0);
}
