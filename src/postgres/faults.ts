// Errors that mean that Postgres is not available or took too long, as opposed to a wrong
// statement. Source: Postgres manual, appendix A; docs/decisions.md, 10.

import { codeOf } from "../base/error-code.ts";
import type { Reason } from "../base/errors.ts";

/** Codes of the driver and of the system for failed or broken connections. */
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
  // The process, or the machine, may open no more files.
  "EMFILE",
  "ENFILE",
]);

/**
 * Codes: admin_shutdown, crash_shutdown, cannot_connect_now; too_many_connections, disk_full,
 * out_of_memory; system_error and io_error, from a disk that fails; read_only_sql_transaction,
 * from a standby before it takes over; deadlock_detected and serialization_failure, if the retries
 * in database.ts are used up.
 */
const serverCodes: ReadonlySet<string> = new Set([
  "57P01",
  "57P02",
  "57P03",
  "53300",
  "53100",
  "53200",
  "58000",
  "58030",
  "25006",
  "40P01",
  "40001",
]);

/**
 * Codes of TLS that fails before a session begins, such as a certificate that has expired or that
 * another authority signed. Source: Node's manual, TLS, X509 certificate error codes.
 */
const tlsCodePattern = /^(?:CERT|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|ERR_TLS|ERR_SSL)_\w+$|^EPROTO$/;

/** Severities of errors that end a session or prevent one, so that no statement is at fault. */
const sessionSeverities: ReadonlySet<string | undefined> = new Set(["FATAL", "PANIC"]);

/** query_canceled: the statement's timeout, or our cancel after the caller left. */
const canceledCode = "57014";

/** Returns the reason if the error or one of its causes is a fault of the database. */
export function findDatabaseFault(error: unknown): Reason | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    // RPC errors have a code too, a number.
    const { code, severity } = cause as { code?: unknown; severity?: string };
    if (typeof code !== "string") continue;
    if (code === canceledCode) return "DEADLINE_EXCEEDED";
    if (isUnavailable(code) || isWorkerLost(cause) || sessionSeverities.has(severity)) {
      return "DATABASE_UNAVAILABLE";
    }
  }
  return undefined;
}

/** unique_violation. */
const uniqueViolationCode = "23505";

/** Tells whether a statement failed because a unique index, or the given one, has the value. */
export function isUniqueViolation(error: unknown, index?: string): boolean {
  const { code, constraint_name: name } = error as { code?: unknown; constraint_name?: unknown };
  return code === uniqueViolationCode && (index === undefined || name === index);
}

/** Tells whether a timeout or a cancel ended a statement. */
export function isCanceled(error: unknown): boolean {
  return codeOf(error) === canceledCode;
}

/** Tells whether an error ended its connection or reports the connection's end. */
export function endsConnection(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && (endsSession(error) || isConnectionCode(code));
}

/** Tells whether an error of Postgres ended a session or refused one. */
export function endsSession(error: unknown): boolean {
  if (codeOf(error) === undefined) return false;
  return sessionSeverities.has((error as { severity?: string }).severity);
}

/**
 * Tells whether an error is of the driver's first statement on a connection, which reads the types
 * of arrays. The driver does not await that statement; the one that waits for the connection fails
 * too, or the driver sends it on the next connection.
 */
export function isOfOpening(error: unknown): boolean {
  const { query } = (error ?? {}) as { query?: unknown };
  return typeof query === "string" && query.includes("select b.oid, b.typarray");
}

/** Routines of Postgres that report a prepared statement that no longer fits the schema. */
const staleRoutines: ReadonlySet<unknown> = new Set([
  "FetchPreparedStatement",
  "RevalidateCachedQuery",
]);

/**
 * Tells whether a prepared statement failed because it is stale. The driver prepares it anew when
 * it is sent again on the same connection.
 */
export function isStale(error: unknown): boolean {
  return staleRoutines.has((error as { routine?: unknown } | undefined)?.routine);
}

function isConnectionCode(code: string): boolean {
  // CONNECTION_CLOSED and similar codes are the driver's.
  return connectionCodes.has(code) || code.startsWith("CONNECTION_");
}

/** Tells whether the database is away, full, or not to be trusted. */
function isUnavailable(code: string): boolean {
  return isConnectionCode(code) || serverCodes.has(code) || tlsCodePattern.test(code);
}

/**
 * Messages of internal errors (XX000) of a Citus coordinator that loses a worker within a
 * transaction: its own, and those of libpq, which have no code.
 */
const lostWorkerMessages = new RegExp(
  [
    "^failure on connection marked as essential",
    "^server closed the connection unexpectedly",
    "^could not (receive data from|send data to) server",
    "^(connection not open|no connection to the server)",
  ].join("|"),
);

/**
 * Tells whether Postgres reports the end of a connection of its own, as a Citus coordinator does of
 * those to its workers: class 08 (connection exceptions), or admin_shutdown and crash_shutdown as
 * the error of a statement. The end of its own client's session is FATAL, and for that of the
 * connection the driver has codes of its own.
 */
export function isWorkerLost(error: unknown): boolean {
  const code = codeOf(error) ?? "";
  if (/^08[0-9A-Z]{3}$/.test(code)) return true;
  if (code === "57P01" || code === "57P02") {
    return (error as { severity?: string }).severity === "ERROR";
  }
  return code === internalCode && lostWorkerMessages.test((error as Error).message);
}

/** internal_error. */
const internalCode = "XX000";
