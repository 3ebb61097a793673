#!/usr/bin/env node
// Entry of the program. `waggle start` becomes the supervisor, which stays in memory next to the
// service and therefore loads no other code; commands/command-line.ts runs every other command.

import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";
import { superviseService } from "./commands/supervisor.ts";

// Half of the time of a start is Node compiling the same files again. Where the folder cannot be
// written, Node does without.
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compiled", import.meta.url)));

process.exit(await run(process.argv.slice(2)));

async function run(args: readonly string[]): Promise<number> {
  const [name, ...words] = args;
  if (name === "start") return superviseService(words);
  const { runCommandLine } = await import("./commands/command-line.ts");
  return runCommandLine(args);
}
