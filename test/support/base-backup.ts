// A base backup without pg_basebackup, which the embedded Postgres lacks.

import { copyFile, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sql } from "../../src/postgres/database.ts";

/** Copies the cluster of a running Postgres; what changes meanwhile is in the log. */
export async function backUp(source: string, target: string, sql: Sql): Promise<void> {
  await sql`select pg_backup_start('test', true)`;
  await copyCluster(source, target);
  const [label] = await sql<{ labelfile: string }[]>`select * from pg_backup_stop()`;
  await writeFile(join(target, "backup_label"), label?.labelfile ?? "");
}

/** Copies files that Postgres may delete meanwhile, without those that a backup leaves out. */
export async function copyCluster(source: string, target: string): Promise<void> {
  await mkdir(target, { mode: 0o700 });
  for (const entry of await readdir(source, { withFileTypes: true }).catch(noneIfAbsent)) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    const isLog = source.endsWith("pg_wal") && entry.isFile();
    if (entry.isDirectory()) await copyCluster(from, to);
    else if (entry.isFile() && !isLog && !/^(postmaster|\.s\.PGSQL)\./.test(entry.name)) {
      await copyFile(from, to).catch(noneIfAbsent);
    }
  }
}

function noneIfAbsent(error: unknown): [] {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
  throw error;
}
