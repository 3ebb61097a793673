#!/usr/bin/env node
// Entry of the program. `waggle start` becomes the supervisor, which stays in memory next to the
// service and therefore loads no other code; commands/command-line.ts runs every other command.

import { superviseService } from "./commands/supervisor.ts";

process.exit(await run(process.argv.slice(2)));

async function run(args: readonly string[]): Promise<number> {
  const [name, ...words] = args;
  if (name === "start") return superviseService(words);
  const { runCommandLine } = await import("./commands/command-line.ts");
  return runCommandLine(args);
}
