// What tests of backups and restores share: the blocks of docs/operations.md, folders and commands
// of the account of Postgres, the archive of the log, and events that are there or not.

import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { promisify } from "node:util";
import { expect } from "vitest";
import { createUuid } from "../../src/base/ids.ts";
import type { Cluster } from "../../src/embedded/cluster.ts";
import type { Sql } from "../../src/postgres/database.ts";
import { readBlocks } from "./page-blocks.ts";
import { patience } from "./patience.ts";

/** Returns the blocks of the section on one Postgres. */
export function readBackupBlocks() {
  const languages = ["ini", "sh", "sql", "sql", "sql", "sql", "sh"];
  const blocks = readBlocks("operations.md", "Backup and restore", languages);
  const [archive = "", backup = "", begin = "", end = "", note = "", sendLog = "", restore = ""] =
    blocks;
  const [fingerprint = "", time = ""] = note.split("\n");
  return { archive, backup, begin, end, fingerprint, time, sendLog, restore };
}

/** Runs commands of a page as the account of a cluster. */
export async function runAs({ account }: Cluster, script: string, env: object): Promise<void> {
  const options = { ...account, cwd: "/", env: { ...process.env, ...env } };
  await promisify(execFile)("sh", ["-euc", script], options);
}

/** Gives a folder and all in it to the account of a cluster. */
export async function own({ account }: Cluster, path: string): Promise<void> {
  if (!account) return;
  await promisify(execFile)("chown", ["-R", `${account.uid}:${account.gid}`, path]);
}

/** Makes a folder of the account of a cluster, with the mode that Postgres wants. */
export async function makeFolder(cluster: Cluster, path: string): Promise<string> {
  await mkdir(path, { mode: 0o700 });
  await own(cluster, path);
  return path;
}

/** Returns the only row of an answer as psql prints it, without rounding numbers. */
export async function ask(sql: Sql, query: string): Promise<string> {
  const [row = []] = await sql.unsafe(query).simple().raw();
  return row.map(String).join("|");
}

/** Returns the name of the last file of the log in the archive, blank if there is none. */
export function findLastArchived(sql: Sql): Promise<string> {
  return ask(sql, "select coalesce(last_archived_wal, '') from pg_stat_archiver");
}

/** Sends what there is of the log to the archive, by the block of the page, and waits for it. */
export async function archiveLog(sql: Sql, sendLog: string): Promise<void> {
  const last = await ask(sql, sendLog);
  const isThere = (name: string) => name >= last;
  await expect.poll(() => findLastArchived(sql), patience).toSatisfy(isThere);
}

/** URL of a service and a key of a project. */
export type Access = { readonly url: string; readonly key: string };

type Answer = { readonly status: number; readonly text: string };

export async function call(
  { url, key }: Access,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

/** Sends a batch of events of a session, which is acknowledged; returns their ids. */
export async function sendEvents(access: Access, count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => createUuid());
  const common = { event_type: "tool", source: "restore", session_id: createUuid(), inputs: {} };
  const events = ids.map((event_id) => ({ ...common, event_id }));
  expect(await call(access, "POST", "/events/batch", { events })).toMatchObject({ status: 200 });
  return ids;
}

/** Returns the status of reading an event. */
export async function statusOfEvent(access: Access, eventId: string | undefined): Promise<number> {
  return (await call(access, "GET", `/v1/events/${eventId ?? ""}`)).status;
}
