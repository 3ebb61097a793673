// Brings a database's schema to the version of this code. Several processes may do it at once.

import { readFile, readdir } from "node:fs/promises";
import { OperatorError } from "../base/operator-error.ts";
import type { Database, Sql } from "./database.ts";

type Migration = { readonly version: number; readonly name: string; readonly path: URL };

const folder = new URL("./migrations/", import.meta.url);
const fileNamePattern = /^(\d{4})_[a-z0-9_]+\.sql$/;

/** An arbitrary constant; no other lock in this database uses it. */
const advisoryLockKey = 7_246_330_142;

/** Code undefined_table. Source: Postgres manual, appendix A. */
const undefinedTable = "42P01";

export type MigrationState = {
  readonly current: number;
  readonly wanted: number;
  /** The database takes no writes: a standby, or `default_transaction_read_only` is on. */
  readonly isReadOnly?: true;
};

/**
 * Applies the missing migrations, each in its own transaction, and returns their names. Idempotent;
 * a concurrent caller waits for the first and then has nothing to do.
 *
 * Fails if the database was migrated by newer code than this.
 */
export async function migrate(database: Database): Promise<readonly string[]> {
  const migrations = await listMigrations();
  const applied: string[] = [];
  for (const migration of migrations) {
    if (await applyMigration(database, migration, migrations.length)) applied.push(migration.name);
  }
  return applied;
}

/** Returns the version of the database (0 if it is empty) and the version of this code. */
export async function getMigrationState(database: Database): Promise<MigrationState> {
  const wanted = (await listMigrations()).length;
  try {
    const { version, isReadOnly } = await getVersion(database.sql());
    return { current: version, wanted, ...(isReadOnly && { isReadOnly }) };
  } catch (error) {
    // No version table: an empty database. A single statement, since readiness runs it every
    // second.
    if ((error as { code?: unknown }).code === undefinedTable) return { current: 0, wanted };
    throw error;
  }
}

/** Throws, with the way out, if a database is not at the version of this code. */
export async function assertMigrated(database: Database): Promise<void> {
  const { current, wanted } = await getMigrationState(database);
  if (current === wanted) return;
  throw new OperatorError(
    `the database is at migration ${current} and this code wants ${wanted}: ` +
      (current < wanted ? "run waggle migrate" : "use a newer release of waggle"),
  );
}

/** Returns every migration in order. Fails if their numbers have a gap or a duplicate. */
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
  const apply = async (sql: Sql): Promise<boolean> => {
    await sql`set local statement_timeout = 0`;
    await sql`select pg_advisory_xact_lock(${advisoryLockKey})`;
    await sql`
      create table if not exists schema_migrations (
        version integer primary key,
        name text not null,
        applied_at timestamptz not null default now()
      )`;
    const { version: current } = await getVersion(sql);
    if (current > versionMax) {
      throw new OperatorError(
        `the database is at migration ${current} and this code knows ${versionMax}: ` +
          "start a newer release of waggle on it",
      );
    }
    if (current >= version) return false;
    // The row comes first: a concurrent run of the same migration fails on it before it runs any
    // statement.
    await sql`insert into schema_migrations (version, name) values (${version}, ${name})`;
    await sql.unsafe(text);
    return true;
  };
  return database.transaction(apply, { isOfAnyAge: true });
}

type Version = { readonly version: number; readonly isReadOnly: boolean };

async function getVersion(sql: Sql): Promise<Version> {
  const [row] = await sql<Version[]>`
    select
      coalesce(max(version), 0) as version,
      current_setting('transaction_read_only')::boolean as "isReadOnly"
    from schema_migrations`;
  return row ?? { version: 0, isReadOnly: false };
}
