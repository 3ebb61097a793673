// Statements that only read, each in its project's turn at the connections for reads, within a
// time that Postgres enforces, and cancelled when the caller leaves.

import type { PendingQuery, Row } from "postgres";
import { ServiceError } from "../base/errors.ts";
import { statementTimeoutsMs } from "../base/limits.ts";
import type { Sql } from "./database.ts";
import { isCanceled } from "./faults.ts";
import type { PoolWithTurns } from "./pools.ts";

export type ReaderOptions = {
  /** The project that is read for. */
  readonly owner: string;
  /** Organization of the project; absent where it is not known. */
  readonly organization?: string | undefined;
  /** The caller; aborting it cancels the statement, or its place in the queue. */
  readonly signal?: AbortSignal | undefined;
  /** Which time-out applies. Default `reads`. */
  readonly kind?: "reads" | "selections";
};

/**
 * Runs one statement and returns its rows. Inside a transaction it is part of it, and sees what
 * the transaction wrote.
 *
 * Throws OVERLOADED when too many reads of the project wait or this one waited too long, and
 * DEADLINE_EXCEEDED when the statement takes too long.
 */
export type Read = <T extends readonly Row[]>(statement: Statement<T>) => Promise<T>;

/** Tries of a statement that the cancel of another one ended. */
const attemptsMax = 3;
/** A statement that ended this much earlier than its time-out was ended by something else. */
const slackMs = 1_000;

export type CreateReadOptions = ReaderOptions & {
  readonly pool: PoolWithTurns;
  /** Returns the ambient transaction's connection, asked for at each statement. */
  readonly ambient: () => Sql | undefined;
  /** Runs work in a transaction that only reads, on a connection of the pool. */
  readonly begin: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;
  /** Longest time of a statement on the pool, where it is not the table's; 0 is no limit. */
  readonly timeoutMs: number | undefined;
};

export function createRead(options: CreateReadOptions): Read {
  const { pool, ambient, begin, owner, organization, signal, kind = "reads" } = options;
  const timeoutMs = options.timeoutMs ?? statementTimeoutsMs[kind];
  const isLonger = options.timeoutMs === undefined && kind !== "reads";

  function run<T extends readonly Row[]>(statement: Statement<T>): Promise<T> {
    if (!isLonger) return cancellable(statement(pool.connections), signal);
    return begin(async (sql) => {
      await sql`select set_config('statement_timeout', ${String(timeoutMs)}, true)`;
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
        const isEarly = performance.now() - beganAtMs < timeoutMs - Math.min(slackMs, timeoutMs);
        // The cancel of the statement before it on the same connection came late.
        if (isEarly && attempt < attemptsMax) continue;
        throw tooSlow(timeoutMs, error);
      }
    }
  };
}

type Statement<T extends readonly Row[]> = (sql: Sql) => PendingQuery<T>;

/**
 * Runs a statement and cancels it in Postgres when the signal is aborted; throws the signal's
 * reason then.
 */
export async function cancellable<T extends readonly Row[]>(
  statement: PendingQuery<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  signal?.throwIfAborted();
  let cancelled: Promise<unknown> | undefined;
  const cancel = (): void => {
    cancelled = (statement as unknown as Cancellable).cancel()?.catch(() => undefined);
  };
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await statement;
  } catch (error) {
    // Cancelled by us: nothing of the database failed.
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", cancel);
    // The next statement of the connection must not be the one that is cancelled.
    await cancelled;
  }
}

/** What the driver's types do not say: the promise settles once Postgres knows of the cancel. */
type Cancellable = { cancel(): Promise<unknown> | null };

function tooSlow(timeoutMs: number, cause: unknown): ServiceError {
  const message =
    `the read took longer than ${timeoutMs} ms; ask for less: a narrower dateRange, ` +
    "a filter on session_id or metadata, or a smaller limit";
  return new ServiceError("DEADLINE_EXCEEDED", message, { cause });
}
