// Limits the connections of a process, and logs those that it closes at once. Without files for
// more, the system would close them in silence.

import { readFile } from "node:fs/promises";
import type { Server } from "node:net";
import type { Logger } from "../base/logger.ts";
import { connectionsMax } from "../base/tenant-limits.ts";

/** Open files per connection: itself, one to a provider, and a share of those to databases. */
const filesPerConnection = 3;
const tellMs = 60_000;

/** Limits the connections of a server that has not begun to listen. */
export async function limitConnections(
  tcp: Server,
  logger: Pick<Logger, "warn">,
  statusPath = "/proc/self/limits",
): Promise<void> {
  const openFilesMax = await findOpenFilesMax(statusPath);
  const max = Math.min(connectionsMax, Math.floor(openFilesMax / filesPerConnection));
  tcp.maxConnections = max;
  const limits = { connections: max, ...(max < connectionsMax && { openFilesMax }) };
  const wayOut = max < connectionsMax ? "raise the limit of open files" : "start more servers";
  let refused = 0;
  let toldAtMs = -Infinity;
  tcp.on("drop", () => {
    refused += 1;
    if (performance.now() - toldAtMs < tellMs) return;
    logger.warn({ refused, ...limits }, `connections over the limit are closed: ${wayOut}`);
    refused = 0;
    toldAtMs = performance.now();
  });
}

/** Returns the maximum number of files that this process may have open, infinite if unknown. */
async function findOpenFilesMax(statusPath: string): Promise<number> {
  // Other systems than Linux have no such file.
  const text = await readFile(statusPath, "utf8").catch(() => "");
  return Number(/^Max open files +(\d+)/m.exec(text)?.[1] ?? Infinity);
}
