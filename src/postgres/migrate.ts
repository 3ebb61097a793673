// Brings a database's schema to what this code expects. Called at start-up, by `waggle migrate`
// and by the tests' template; several processes may do it at once.

import { readFile, readdir } from "node:fs/promises";
import { OperatorError } from "../base/operator-error.ts";
import type { Database, Sql } from "./database.ts";

type Migration = { readonly version: number; readonly name: string; readonly path: URL };

const folder = new URL("./migrations/", import.meta.url);
const fileNamePattern = /^(\d{4})_[a-z0-9_]+\.sql$/;

/** Any constant that nothing else in this database locks. */
const advisoryLockKey = 7_246_330_142;

/** Postgres manual, appendix A. */
const undefinedTable = "42P01";

export type MigrationState = { readonly current: number; readonly wanted: number };

/**
 * Applies the migrations a database lacks, each in its own transaction, and returns their names.
 * Idempotent; a concurrent caller waits for the first and then finds nothing to do.
 *
 * Fails when the database was migrated by newer code than this.
 */
export async function migrate(database: Database): Promise<readonly string[]> {
  const migrations = await listMigrations();
  const applied: string[] = [];
  for (const migration of migrations) {
    if (await applyMigration(database, migration, migrations.length)) applied.push(migration.name);
  }
  return applied;
}

/** Returns the version a database has (0 when it is empty) and the one this code wants. */
export async function getMigrationState(database: Database): Promise<MigrationState> {
  const wanted = (await listMigrations()).length;
  try {
    return { current: await getVersion(database.sql()), wanted };
  } catch (error) {
    // No table of versions: an empty database. One statement, since readiness asks every second.
    if ((error as { code?: unknown }).code === undefinedTable) return { current: 0, wanted };
    throw error;
  }
}

/** Fails, saying what to do, when a database is not at the version that this code wants. */
export async function assertMigrated(database: Database): Promise<void> {
  const { current, wanted } = await getMigrationState(database);
  if (current === wanted) return;
  throw new OperatorError(
    `the database is at migration ${current} and this code wants ${wanted}: ` +
      (current < wanted ? "run waggle migrate" : "use a newer release of waggle"),
  );
}

/** Returns every migration in order. Fails when their numbers have a gap or a double. */
export async function listMigrations(): Promise<readonly Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).toSorted();
  return names.map((name, index) => {
    const version = Number(fileNamePattern.exec(name)?.[1]);
    if (version !== index + 1) {
      throw new Error(`migration ${name} should have the number ${index + 1}`);
    }
    return { version, name, path: new URL(name, folder) };
  });
}

async function applyMigration(
  database: Database,
  { version, name, path }: Migration,
  versionMax: number,
): Promise<boolean> {
  const text = await readFile(path, "utf8");
  return database.transaction(async (sql) => {
    await sql`set local statement_timeout = 0`;
    await sql`select pg_advisory_xact_lock(${advisoryLockKey})`;
    await sql`
      create table if not exists schema_migrations (
        version integer primary key,
        name text not null,
        applied_at timestamptz not null default now()
      )`;
    const current = await getVersion(sql);
    if (current > versionMax) {
      throw new OperatorError(
        `the database is at migration ${current} and this code knows ${versionMax}: ` +
          "start a newer release of waggle on it",
      );
    }
    if (current >= version) return false;
    // The row comes first: whoever would apply the same migration beside us fails on it before
    // running any of its statements.
    await sql`insert into schema_migrations (version, name) values (${version}, ${name})`;
    await sql.unsafe(text);
    return true;
  });
}

async function getVersion(sql: Sql): Promise<number> {
  const [row] = await sql<{ version: number }[]>`
    select coalesce(max(version), 0) as version from schema_migrations`;
  return row?.version ?? 0;
}
