// `waggle migrate`: migrates the schema of the database and of every cluster.

import { migrate } from "../postgres/migrate.ts";
import { type CommandContext, print } from "./command.ts";
import { withDatabase, withUrl } from "./database.ts";
import { interruptibly } from "./interruption.ts";

/** Returns 1 if a cluster could not be migrated; the others are migrated nevertheless. */
export async function run({ config }: CommandContext): Promise<number> {
  const applied = await withDatabase(config, migrate);
  for (const name of applied) print(`applied ${name}`);
  if (applied.length === 0) print("nothing to do");
  let code = 0;
  for (const [id, url] of Object.entries(config.clusters)) {
    if (!(await migrateCluster(id, url))) code = 1;
  }
  return code;
}

async function migrateCluster(id: string, url: string): Promise<boolean> {
  return interruptibly(async (signal) => {
    try {
      const applied = await withUrl(url, signal, migrate);
      for (const name of applied) print(`cluster ${id}: applied ${name}`);
      if (applied.length === 0) print(`cluster ${id}: nothing to do`);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      process.stderr.write(`waggle: cluster ${id} was not migrated: ${(error as Error).message}\n`);
      return false;
    }
  });
}
