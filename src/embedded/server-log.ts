// The log file of a server that runs as a child process.

import { readFile, stat, truncate } from "node:fs/promises";

const logBytesMax = 10_000_000;
const logLinesShown = 10;

/** Returns the position at which the log of this start begins; truncates a log that is too long. */
export async function prepareLog(path: string): Promise<number> {
  const size = await stat(path).then(
    (stats) => stats.size,
    () => 0,
  );
  if (size <= logBytesMax) return size;
  await truncate(path);
  return 0;
}

/** Returns the last lines that were written after position `start`. */
export async function readLogEnd(path: string, start: number): Promise<string> {
  const lines = (await readFile(path)).subarray(start).toString().trimEnd().split("\n");
  return lines.slice(-logLinesShown).join("\n");
}
