// Which errors mean that Postgres cannot be asked now, as against a statement that is wrong. Handed
// to the transport by app.ts. Source: Postgres manual, appendix A; docs/decisions.md, 10.

/** Codes of the driver and of the system for connections that failed or broke. */
const connectionCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ENOENT",
  "EAI_AGAIN",
  "ENOTFOUND",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "CONNECT_TIMEOUT",
]);

/** admin_shutdown, crash_shutdown, cannot_connect_now, too_many_connections, disk_full. */
const serverCodes: ReadonlySet<string> = new Set(["57P01", "57P02", "57P03", "53300", "53100"]);

/** Tells whether an error, or one that caused it, says that the database is away or full. */
export function isDatabaseUnavailable(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // RPC errors have a code too, a number.
    const { code } = cause as { code?: unknown };
    if (typeof code !== "string") continue;
    // CONNECTION_CLOSED and its like are the driver's; class 08 is Postgres' own.
    if (connectionCodes.has(code) || serverCodes.has(code)) return true;
    if (code.startsWith("CONNECTION_") || /^08[0-9A-Z]{3}$/.test(code)) return true;
  }
  return false;
}
