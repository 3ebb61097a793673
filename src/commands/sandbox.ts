// The sandbox of evaluators' Python, as the configuration asks for it. Called by the commands that
// run evaluators, and by tests. Source: docs/sandbox.md.

import { accessSync, chmodSync, constants, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config.ts";
import { userCacheFolder } from "../embedded/user-cache.ts";
import { createPythonSandbox } from "../evaluation/runner/python/sandbox.ts";
import type { PythonSandbox } from "../evaluation/runner/python/sandbox.ts";

/** Kept ready at least, from the first evaluator on; each takes 140 MB and no time. */
const blanks = 1;

/** Starts nothing: the first evaluator does. */
export function createSandbox(config: Pick<Config, "evaluation">, logger: Logger): PythonSandbox {
  const { timeLimitMs, memoryBytesMax, outputBytesMax, codeBytesMax, processesMax } =
    config.evaluation;
  return createPythonSandbox({
    limits: {
      wallMs: timeLimitMs,
      memoryBytes: memoryBytesMax,
      outputBytes: outputBytesMax,
      codeBytes: codeBytesMax,
    },
    processesMax,
    blanks,
    cacheFolder: cacheFolder(),
    logger,
  });
}

/** Of root: its home is closed to the account that evaluators then run as. */
const systemCacheFolder = "/var/cache/waggle";

/** The user's own, so that nobody else wrote what is there; else one for this process alone. */
function cacheFolder(): string {
  const folder = process.getuid?.() === 0 ? systemCacheFolder : userCacheFolder();
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    accessSync(folder, constants.W_OK | constants.X_OK);
    return folder;
  } catch {
    const own = mkdtempSync(join(tmpdir(), "waggle-"));
    chmodSync(own, 0o755);
    return own;
  }
}
