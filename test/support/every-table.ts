// All that a database holds, to search for what must not be in it.

import type { Database } from "../../src/postgres/database.ts";

/** Returns every row of every table as text, by table. */
export async function everyTable(database: Database): Promise<Record<string, string>> {
  const sql = database.sql();
  const tables = await sql<{ schema: string; name: string }[]>`
    select table_schema as schema, table_name as name
    from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`;
  const found: Record<string, string> = {};
  for (const { schema, name } of tables) {
    const rows = await sql<{ row: string }[]>`
      select whole::text as row from ${sql(`${schema}.${name}`)} as whole`;
    found[name] = rows.map(({ row }) => row).join("\n");
  }
  return found;
}

/** A secret as it is, and as it would be read in bytes, in base64 and in a URL. */
export function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const base64 = bytes.toString("base64").replace(/=+$/, "");
  return [secret, bytes.toString("hex"), base64, encodeURIComponent(secret)];
}

/** Returns the names under which a text has one of the needles. */
export function findIn(
  where: Readonly<Record<string, string>>,
  needles: readonly string[],
): readonly string[] {
  return Object.entries(where)
    .filter(([, text]) => needles.some((needle) => text.includes(needle)))
    .map(([name]) => name);
}
