// Which errors mean that Postgres cannot be asked now, or took too long, as against a statement
// that is wrong.
// Source: Postgres manual, appendix A; docs/decisions.md, 10.

import type { Reason } from "../base/errors.ts";

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
  "ENETUNREACH",
  "CONNECT_TIMEOUT",
]);

/**
 * admin_shutdown, crash_shutdown, cannot_connect_now; too_many_connections, disk_full,
 * out_of_memory; read_only_sql_transaction, as a standby says before it takes over; and, when they
 * come again and again, deadlock_detected and serialization_failure (database.ts).
 */
const serverCodes: ReadonlySet<string> = new Set([
  ...["57P01", "57P02", "57P03"],
  ...["53300", "53100", "53200"],
  ...["25006", "40P01", "40001"],
]);

/** How Postgres marks what ends a session or lets none begin: no statement is at fault. */
const sessionSeverities: ReadonlySet<string | undefined> = new Set(["FATAL", "PANIC"]);

/** query_canceled: the statement's own time-out, or ours when the caller left. */
const canceledCode = "57014";

/** Returns the reason for an error that tells about the database, or whose cause does. */
export function findDatabaseFault(error: unknown): Reason | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // RPC errors have a code too, a number.
    const { code, severity } = cause as { code?: unknown; severity?: string };
    if (typeof code !== "string") continue;
    if (code === canceledCode) return "DEADLINE_EXCEEDED";
    if (isUnavailable(code) || sessionSeverities.has(severity)) return "DATABASE_UNAVAILABLE";
  }
  return undefined;
}

/** Tells whether a statement was ended by its time-out or by a cancel. */
export function isCanceled(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === canceledCode;
}

/** Tells whether an error ended the connection that it came by, or was its end. */
export function endsConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, severity } = error as { code?: unknown; severity?: string };
  if (typeof code !== "string") return false;
  return sessionSeverities.has(severity) || isConnectionCode(code);
}

function isConnectionCode(code: string): boolean {
  // CONNECTION_CLOSED and its like are the driver's.
  return connectionCodes.has(code) || code.startsWith("CONNECTION_");
}

/** True when the database is away or full. */
function isUnavailable(code: string): boolean {
  // Class 08 is Postgres' own word for connections.
  return isConnectionCode(code) || serverCodes.has(code) || /^08[0-9A-Z]{3}$/.test(code);
}
