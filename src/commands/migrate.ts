// `waggle migrate`: brings the database's schema up to date. Called by main.ts.

import { migrate } from "../postgres/migrate.ts";
import { print } from "./command.ts";
import type { CommandContext } from "./command.ts";
import { withDatabase } from "./database.ts";

export async function runMigrate({ config }: CommandContext): Promise<number> {
  const applied = await withDatabase(config, migrate);
  for (const name of applied) print(`applied ${name}`);
  if (applied.length === 0) print("nothing to do");
  return 0;
}
