// A backup with the log of changes since restores every event up to a point in time, and none after
// it: the steps of docs/operations.md on the embedded Postgres.

import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import { locateCluster } from "../../src/embedded/cluster.ts";
import { findRunningPostgres } from "../../src/embedded/postgres.ts";
import { type Database, openDatabase, type Sql } from "../../src/postgres/database.ts";
import { backUp } from "../support/base-backup.ts";
import { patience } from "../support/patience.ts";
import {
  givenADataFolder,
  givenAnEmptyDataFolder,
  type Process,
  readCredentials,
  startOnce,
} from "../support/process.ts";

async function withPostgres<T>(folder: string, work: (database: Database) => Promise<T>) {
  const url = await findRunningPostgres(folder);
  if (url === undefined) throw new Error("the embedded Postgres is not running");
  const database = openDatabase({ url, connectionsMax: 1 });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

async function end(service: Process, signal: NodeJS.Signals): Promise<void> {
  service.kill(signal);
  await service.ended();
}

/** Sends a batch of events, which is acknowledged. */
async function sendEvents(folder: string, count: number): Promise<readonly string[]> {
  const { url, project_api_key: key } = await readCredentials(folder);
  const ids = Array.from({ length: count }, () => createUuid());
  const common = { event_type: "tool", source: "restore", session_id: createUuid(), inputs: {} };
  const response = await fetch(`${url}/events/batch`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ events: ids.map((event_id) => ({ ...common, event_id })) }),
  });
  expect(response.status).toBe(200);
  return ids;
}

type Fingerprint = { readonly events: number; readonly hash: string };

async function readFingerprint(sql: Sql): Promise<Fingerprint | undefined> {
  const [row] = await sql<Fingerprint[]>`
    select count(*)::int as events, md5(string_agg(e::text, '' order by event_id)) as hash
    from events as e`;
  return row;
}

/** Waits until everything written so far is in the archive. */
async function archiveLog(sql: Sql): Promise<void> {
  const [current] = await sql<{ file: string }[]>`
    select pg_walfile_name(pg_current_wal_lsn()) as file`;
  await sql`select pg_switch_wal()`;
  await vi.waitFor(async () => {
    const [row] = await sql<{ last: string }[]>`
      select coalesce(last_archived_wal, '') as last from pg_stat_archiver`;
    expect((row?.last ?? "") >= (current?.file ?? "")).toBe(true);
  }, patience);
}

test(
  "a backup and the log restore the events of a point in time",
  { timeout: 300_000 },
  async () => {
    const folder = await givenADataFolder();
    const archive = join(dirname(folder), `archive-${createUuid()}`);
    await mkdir(archive);
    await chmod(archive, 0o777);
    onTestFinished(() => rm(archive, { recursive: true, force: true }));
    let service = await startOnce(folder);
    await withPostgres(folder, async (database) => {
      await database.sql().unsafe("alter system set archive_mode = on");
      await database.sql().unsafe(`alter system set archive_command = 'cp %p ${archive}/%f'`);
    });
    await end(service, "SIGTERM");
    service = await startOnce(folder);
    const { folder: source, account } = await locateCluster(folder);
    const backup = `${source}-backup`;
    // Postgres may still write into it for a moment after the service that started it has ended.
    const removing = { recursive: true, force: true, maxRetries: 20, retryDelay: 100 };
    onTestFinished(() => rm(backup, removing));

    await sendEvents(folder, 200);
    await withPostgres(folder, (database) => backUp(source, backup, database.sql()));
    await sendEvents(folder, 300);
    const [wanted, time] = await withPostgres(folder, async (database) => {
      const [row] = await database.sql()<
        { time: string }[]
      >`select clock_timestamp()::text as time`;
      return [await readFingerprint(database.sql()), row?.time] as const;
    });
    const lost = await sendEvents(folder, 50);
    await withPostgres(folder, (database) => archiveLog(database.sql()));
    await end(service, "SIGKILL");

    const restored = await givenAnEmptyDataFolder();
    await copyFile(join(folder, "credentials.json"), join(restored, "credentials.json"));
    await symlink(backup, join(restored, "postgres"));
    const settings = [
      `restore_command = 'cp ${archive}/%f %p'`,
      `recovery_target_time = '${time}'`,
      "recovery_target_action = 'promote'",
      "archive_mode = off",
      // The service connects once the server may be written to.
      "hot_standby = off",
    ];
    await writeFile(join(backup, "postgresql.auto.conf"), `${settings.join("\n")}\n`);
    await writeFile(join(backup, "recovery.signal"), "");
    if (account) {
      await promisify(execFile)("chown", ["-R", `${account.uid}:${account.gid}`, backup]);
    }
    await chmod(backup, 0o700);
    await startOnce(restored);

    const got = await withPostgres(restored, (database) => readFingerprint(database.sql()));
    expect(got).toEqual(wanted);
    expect(got?.events).toBe(502);
    const { url, project_api_key: key } = await readCredentials(restored);
    const { status } = await fetch(`${url}/v1/events/${lost[0] ?? ""}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(status).toBe(404);
  },
);
