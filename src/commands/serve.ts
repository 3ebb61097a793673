// `waggle serve`: the service alone, on a database that DATABASE_URL names and `waggle migrate` has
// prepared; as many processes as needed. Called by main.ts.

import { OperatorError } from "../base/operator-error.ts";
import type { CommandContext } from "./command.ts";
import { runDeployed } from "./deployed.ts";
import { startService } from "./service.ts";

export async function runServe({ config }: CommandContext): Promise<number> {
  if (config.databaseUrl === undefined) {
    throw new OperatorError(
      "serve needs DATABASE_URL; for everything on one machine: waggle start",
    );
  }
  return runDeployed(config, config.databaseUrl, async (parts) => {
    const service = await startService(config, parts);
    return {
      readyLine: `waggle is ready on ${service.url}`,
      stop: (hurry) => service.stop(hurry),
    };
  });
}
