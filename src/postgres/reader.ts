// Read-only statements. Each waits for its project's turn at the connections for reads, has a
// timeout that Postgres enforces, and is cancelled when the caller leaves.

import type { PendingQuery, Row } from "postgres";
import { ServiceError } from "../base/errors.ts";
import { statementTimeoutsMs } from "../base/limits.ts";
import { isCanceled } from "./faults.ts";
import type { PoolWithTurns, Sql } from "./pools.ts";

export type ReaderOptions = {
  /** Project that the read belongs to. */
  readonly owner: string;
  /** Organization of the project; absent if unknown. */
  readonly organization?: string | undefined;
  /** The caller's signal; aborting it cancels the statement or its place in the queue. */
  readonly signal?: AbortSignal | undefined;
  /** Kind of timeout. Default `reads`. */
  readonly kind?: "reads" | "selections" | "charts";
  /**
   * Time of the process' clock (`performance.now`) by which all statements of a kind other than
   * `reads` have ended, waits included; without it each statement has the time of its kind.
   */
  readonly endsAtMs?: number | undefined;
  /** Smaller request that a caller whose read takes too long may send instead, in words. */
  readonly lesserRead?: string;
};

/**
 * Runs one statement and returns its rows. Inside a transaction the statement belongs to it and
 * sees its writes.
 *
 * Throws OVERLOADED if too many reads of the project wait or this one waited too long, and
 * DEADLINE_EXCEEDED if the statement takes too long.
 */
export type Read = <T extends readonly Row[]>(statement: Statement<T>) => Promise<T>;

/** Maximum tries of a statement that the cancel of another statement ended. */
const attemptsMax = 3;
/** A statement that ended earlier than this before its timeout was not ended by the timeout. */
const slackMs = 1_000;

export type CreateReadOptions = ReaderOptions & {
  readonly pool: PoolWithTurns;
  /** Returns the ambient transaction's connection; called for each statement. */
  readonly ambient: () => Sql | undefined;
  /** Runs work in a read-only transaction on a connection of the pool. */
  readonly begin: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;
  /**
   * Maximum time of a statement on the pool, in place of its kind's default; 0 means no limit.
   */
  readonly timeoutMs: number | undefined;
};

export function createRead(options: CreateReadOptions): Read {
  const { pool, ambient, begin, owner, organization, signal, kind = "reads" } = options;
  const { endsAtMs = Infinity, lesserRead = lesserReadDefault } = options;
  const timeoutMs = options.timeoutMs ?? statementTimeoutsMs[kind];
  const isOwnTimeout = options.timeoutMs === undefined && kind !== "reads";

  async function run<T extends readonly Row[]>(statement: Statement<T>): Promise<T> {
    if (!isOwnTimeout) return cancellable(statement(pool.connections), signal);
    const leftMs = Math.floor(Math.min(timeoutMs, endsAtMs - performance.now()));
    if (leftMs <= 0) throw tooSlow(timeoutMs, lesserRead);
    return begin(async (sql) => {
      await sql`select set_config('statement_timeout', ${String(leftMs)}, true)`;
      return cancellable(statement(sql), signal);
    });
  }

  return async (statement) => {
    const sql = ambient();
    if (sql !== undefined) return cancellable(statement(sql), signal);
    for (let attempt = 1; ; attempt += 1) {
      let beganAtMs = Infinity;
      try {
        return await pool.turns.run(
          owner,
          () => {
            beganAtMs = performance.now();
            return run(statement);
          },
          { organization, signal },
        );
      } catch (error) {
        signal?.throwIfAborted();
        if (!isCanceled(error)) throw error;
        const endedAtMs = performance.now();
        const ownEndMs = Math.min(beganAtMs + timeoutMs, isOwnTimeout ? endsAtMs : Infinity);
        const isEarly = endedAtMs < ownEndMs - Math.min(slackMs, timeoutMs);
        // The cancel of the previous statement on the same connection came late.
        if (isEarly && attempt < attemptsMax) continue;
        throw tooSlow(timeoutMs, lesserRead, error);
      }
    }
  };
}

type Statement<T extends readonly Row[]> = (sql: Sql) => PendingQuery<T>;

/**
 * Runs a statement, and cancels it in Postgres when the signal aborts; then throws the signal's
 * reason.
 */
async function cancellable<T extends readonly Row[]>(
  statement: PendingQuery<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  signal?.throwIfAborted();
  const { canceller } = statement as unknown as Cancellable;
  const send = (): void => {
    if (!isRunning(statement)) return;
    void canceller?.(statement).catch(() => undefined);
  };
  let timer: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    send();
    // Once it runs: Postgres ignores a cancel that comes before the statement.
    timer = setInterval(send, cancelAgainMs);
  };
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await statement;
  } catch (error) {
    // Our own cancel, not a failure of the database.
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", cancel);
    clearInterval(timer);
  }
}

const cancelAgainMs = 250;

/**
 * A statement and the function that sends a cancel request for it. The driver's `cancel()` calls
 * the function only once, and its types hide it.
 */
type Cancellable = {
  readonly canceller?: (statement: unknown) => Promise<unknown>;
  /** Whether the next answer on the statement's connection is its own. */
  readonly active?: boolean;
};

/**
 * Returns whether a statement is the one that Postgres runs on its connection. The driver can
 * cancel no other statement. Cancelling the first statement of a connection that still opens makes
 * the driver forget the connection. Cancelling a statement that waits behind others makes the
 * driver skip it: the statement never ends, and the next one gets its rows.
 */
function isRunning(statement: object): boolean {
  return (statement as Cancellable).active === true;
}

const lesserReadDefault =
  "a narrower dateRange, a filter on session_id or metadata, or a smaller limit";

function tooSlow(timeoutMs: number, ways: string, cause?: unknown): ServiceError {
  const message = `the read took longer than ${timeoutMs} ms; ask for less: ${ways}`;
  return new ServiceError("DEADLINE_EXCEEDED", message, { cause });
}
