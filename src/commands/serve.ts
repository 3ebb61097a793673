// `waggle serve`: the service alone, on a database that DATABASE_URL names and `waggle migrate` has
// prepared; as many processes as needed. Called by main.ts.

import { OperatorError } from "../base/operator-error.ts";
import { assertMigrated } from "../postgres/migrate.ts";
import { print } from "./command.ts";
import type { CommandContext } from "./command.ts";
import { createProgress } from "./progress.ts";
import { connectDatabase, loggerOf, startService, watchForEnd } from "./service.ts";

export async function runServe({ config }: CommandContext): Promise<number> {
  if (config.databaseUrl === undefined) {
    throw new OperatorError(
      "serve needs DATABASE_URL; for everything on one machine: waggle start",
    );
  }
  const logger = loggerOf(config);
  const end = watchForEnd(logger);
  const progress = createProgress();
  const database = await connectDatabase(config.databaseUrl, config, progress);
  try {
    await assertMigrated(database);
    const service = await startService(config, database, logger);
    progress.done();
    print(`waggle is ready on ${service.url}`);
    const code = await end.code;
    await service.stop(end.hurry);
    return code;
  } finally {
    progress.done();
    await database.close();
  }
}
