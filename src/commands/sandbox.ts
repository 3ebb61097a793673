// Sandbox for the Python of evaluators, made from the configuration. Source: docs/sandbox.md.

import { accessSync, chmodSync, constants, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config.ts";
import { userCacheFolder } from "../embedded/user-cache.ts";
import { createPythonSandbox, type PythonSandbox } from "../evaluation/runner/python/sandbox.ts";

/** Minimum idle processes after `start`; each takes 140 MB but no CPU time. */
const idleMin = 1;

/** Creates the sandbox, without a process until `start` or the first evaluator. */
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
    idleMin,
    cacheFolder: sandboxCacheFolder(),
    logger,
  });
}

/** Cache folder of root: evaluators run as another account, which cannot read root's home. */
const systemCacheFolder = "/var/cache/waggle";

/** Returns a cache folder that only its owner can write; a temporary one if it is not writable. */
export function sandboxCacheFolder(): string {
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
