// Runs the generator as a child process and returns its result.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Job, LoadResult } from "./generator.ts";

const generatorPath = new URL("./generator.ts", import.meta.url).pathname;

/** Sends the requests of a job; fails if one was not stored. */
export async function runLoad(job: Job): Promise<LoadResult> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    generatorPath,
    JSON.stringify(job),
  ]);
  return JSON.parse(stdout) as LoadResult;
}
