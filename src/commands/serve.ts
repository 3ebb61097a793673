// `waggle serve`: one of any number of service processes on the database of DATABASE_URL, which
// `waggle migrate` has prepared.

import { OperatorError } from "../base/operator-error.ts";
import type { CommandContext } from "./command.ts";
import { createCore } from "../compose/core.ts";
import { createMetrics } from "../observability/metrics.ts";
import { runDeployed } from "./deployed.ts";
import { createSandbox } from "./sandbox.ts";
import { startService } from "./service.ts";

export async function run({ config }: CommandContext): Promise<number> {
  if (config.databaseUrl === undefined) {
    throw new OperatorError(
      "serve needs DATABASE_URL; for everything on one machine: waggle start",
    );
  }
  const deployed = { config, databaseUrl: config.databaseUrl, workload: "requests" } as const;
  return runDeployed(deployed, async (parts) => {
    const sandbox = createSandbox(config, parts.logger);
    const core = await createCore({ ...parts, sandbox, metrics: createMetrics("serve") });
    const service = await startService(core, config);
    // The first metric's code is parsed in a process that would take seconds to start by then.
    sandbox.start();
    return {
      readyLine: `waggle is ready on ${service.url}`,
      async stop(hurry) {
        await service.stop(hurry);
        await sandbox.close();
      },
    };
  });
}
