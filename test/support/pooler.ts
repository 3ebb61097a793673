// PgBouncer in transaction mode before the database of a test. `PGBOUNCER` is the program's path.

import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, type TestContext } from "vitest";
import { openDatabase } from "../../src/postgres/database.ts";
import { skipWhereMissing } from "../clients/environment.ts";
import { patience } from "./patience.ts";
import { runProgram } from "./process.ts";

const program = process.env["PGBOUNCER"];

export function skipWithoutPooler(context: TestContext): void {
  const isMissing = program === undefined;
  skipWhereMissing(context, isMissing ? "PGBOUNCER, the path of pgbouncer, is not set" : undefined);
}

export function skipWithoutStatements(context: TestContext): void {
  const missing = knowsStatements() ? undefined : "PGBOUNCER is older than 1.21";
  skipWhereMissing(context, missing);
}

/** Returns whether the pooler knows prepared statements in transaction mode: from 1.21 on. */
export function knowsStatements(): boolean {
  const text = execFileSync(program ?? "", ["--version"], { encoding: "utf8" });
  const [, major = "", minor = ""] = /PgBouncer (\d+)\.(\d+)/.exec(text) ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
}

const port = 6432;

/** Starts a pooler, which ends with the test, and returns the URL of the database through it. */
export async function startPooler(
  databaseUrl: string,
  settings: Readonly<Record<string, string | number>>,
): Promise<string> {
  const target = new URL(databaseUrl);
  const folder = await mkdtemp(join(tmpdir(), "waggle-pooler-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  // PgBouncer takes another account where it is started by root.
  await chmod(folder, 0o777);
  const lines = Object.entries({
    listen_port: port,
    unix_socket_dir: folder,
    auth_type: "any",
    pool_mode: "transaction",
    ...settings,
  }).map(([name, value]) => `${name} = ${value}`);
  const server = `host=${target.searchParams.get("host") ?? ""} user=${target.username}`;
  const path = join(folder, "pgbouncer.ini");
  await writeFile(path, ["[databases]", `* = ${server}`, "[pgbouncer]", ...lines, ""].join("\n"));
  const pooler = runProgram(
    program ?? "",
    process.getuid?.() === 0 ? ["-u", "postgres", path] : [path],
  );
  await expect.poll(() => pooler.output(), patience).toContain("process up");
  return `postgres://${target.username}@localhost:${port}${target.pathname}?host=${folder}`;
}

/** Returns the number of connections to the database from other programs than this one. */
export async function countOthers(databaseUrl: string): Promise<number> {
  const database = openDatabase({ url: databaseUrl, connectionsMax: 1 });
  const [row] = await database.sql()<{ count: number }[]>`
    select count(*)::integer as count
    from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend'
      and pid <> pg_backend_pid()`;
  await database.close();
  return row?.count ?? 0;
}
