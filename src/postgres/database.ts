// One database: its pools of connections, and transactions that nest by joining. Services begin
// transactions and readers; stores only run SQL on what they are handed.

import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as delay } from "node:timers/promises";
import type postgres from "postgres";
import { endsConnection } from "./faults.ts";
import { type ColumnTypes, openPools, type PoolOptions, type PoolWithTurns } from "./pools.ts";
import { createRead, type Read, type ReaderOptions } from "./reader.ts";
import { readOrigin } from "./statement-origins.ts";
import type { Turns } from "./turns.ts";

export type { PoolOptions as OpenDatabaseOptions } from "./pools.ts";
export type { Read, ReaderOptions } from "./reader.ts";

/** Runs statements: a pool, or one transaction's connection. */
export type Sql = postgres.ISql<ColumnTypes>;

export type Database = {
  /** Returns the ambient transaction's connection, else the pool of commits (see `on`). */
  sql(): Sql;
  /**
   * Runs `work` in a transaction and returns what it returns, after commit. Inside another
   * transaction of the same database it joins that one. The outermost waits for its owner's turn at
   * a connection, and is run again when Postgres ended it for a deadlock or a serialization
   * failure, so `work` must not have other effects. Throws OVERLOADED after too long a wait.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Runs `work` as `transaction` does, but inside another one as a part of it that is undone by
   * itself when it fails: whoever catches the failure may go on.
   */
  step<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  isInTransaction(): boolean;
  /** Runs `effect` when the ambient transaction has committed, and not when it is undone. */
  afterCommit(effect: () => void): void;
  /** Returns what runs statements that read for one project. */
  reader(options: ReaderOptions): Read;
  /**
   * Returns the same database, with the same ambient transactions, whose `sql` and new
   * transactions take connections of another pool.
   */
  on(pool: "callers" | "commits"): Database;
  /** Returns the turns of transactions, for work that gathers while it waits for one. */
  turns(): Turns;
  /**
   * Calls `onNotify` for each NOTIFY on a channel, from its own connection, until close. After the
   * connection was lost and made again it calls `onListening` (also the first time), since
   * notifications may have been missed.
   */
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onListening: () => void,
  ): Promise<void>;
  /** Waits up to five seconds for running statements, then closes every connection. */
  close(): Promise<void>;
};

export type TransactionOptions = {
  /** Project or scope whose turn it is; one owner leaves a connection to the others. */
  readonly owner?: string | undefined;
};

/** The transaction that work runs in, and what to do once it has committed. */
type Ambient = {
  readonly sql: postgres.TransactionSql<ColumnTypes>;
  readonly effects: (() => void)[];
  readonly connection: Connection;
};

/** The connection of a transaction; lost also when the transaction has ended. */
type Connection = { isLost: boolean };

const transactionAttemptsMax = 5;

/** deadlock_detected and serialization_failure: Postgres undid everything and asks for a retry. */
const retriedCodes: ReadonlySet<string> = new Set(["40P01", "40001"]);

/** Opens the pools of a database. No connection is made before the first statement. */
export function openDatabase(options: PoolOptions): Database {
  const pools = openPools(options);
  const ambient = new AsyncLocalStorage<Ambient>();

  async function begin<T>(
    { connections }: PoolWithTurns,
    mode: "" | "read only",
    work: (sql: Sql) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const effects: (() => void)[] = [];
      const connection: Connection = { isLost: false };
      try {
        const result = await connections.begin(mode, (sql) =>
          runOn(connection, { sql, effects }, work),
        );
        for (const effect of effects) effect();
        return result as T;
      } catch (error) {
        connection.isLost = true;
        if (attempt === transactionAttemptsMax || !isRetried(error)) throw error;
        // Waits a random moment, so that two that met do not meet again.
        await delay(Math.random() * 10 * 2 ** attempt);
      }
    }
  }

  async function runOn<T>(
    connection: Connection,
    { sql, effects }: Pick<Ambient, "sql" | "effects">,
    work: (sql: Sql) => Promise<T>,
  ): Promise<T> {
    const guarded = guard(sql, connection);
    const inside = { sql: guarded, effects, connection };
    return settleWhileConnected(connection, () => ambient.run(inside, () => work(guarded)));
  }

  function viewOf(pool: PoolWithTurns): Database {
    async function transaction<T>(
      work: (sql: Sql) => Promise<T>,
      { owner }: TransactionOptions = {},
    ): Promise<T> {
      const outer = ambient.getStore();
      if (outer) return work(outer.sql);
      return pool.turns.run(owner, () => begin(pool, "", work));
    }

    return {
      sql: () => ambient.getStore()?.sql ?? pool.connections,
      transaction,
      async step<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
        const outer = ambient.getStore();
        if (!outer) return transaction(work);
        const effects: (() => void)[] = [];
        const result = await outer.sql.savepoint((sql) =>
          runOn(outer.connection, { sql, effects }, work),
        );
        outer.effects.push(...effects);
        return result as T;
      },
      isInTransaction: () => ambient.getStore() !== undefined,
      afterCommit(effect) {
        const outer = ambient.getStore();
        if (!outer) throw new Error("afterCommit outside a transaction");
        outer.effects.push(effect);
      },
      reader: (readerOptions) =>
        createRead({
          ...readerOptions,
          pool: pools.reads,
          ambient: () => ambient.getStore()?.sql,
          begin: (work) => begin(pools.reads, "read only", work),
          timeoutMs: options.statementTimeoutMs,
        }),
      on: (name) => views[name],
      turns: () => pool.turns,
      async listen(channel, onNotify, onListening) {
        await pools.callers.connections.listen(channel, onNotify, onListening);
      },
      close: () => pools.close(),
    };
  }

  const views = { callers: viewOf(pools.callers), commits: viewOf(pools.commits) };
  return views.commits;
}

/** Longest time from an error that ends a connection to its end. */
const lostMsMax = 200;
const lostLookMs = 5;

/**
 * Settles as `work` does, but never when the connection is lost: the driver has told the caller of
 * the transaction, and would write a `rollback` to a connection that is closed, which throws where
 * nobody can catch it, or that is another transaction's by then.
 */
async function settleWhileConnected<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    if (!connection.isLost) return result;
  } catch (error) {
    // It may be about a connection to another database.
    const deadline = Date.now() + (endsConnection(error) ? lostMsMax : 0);
    while (!connection.isLost && Date.now() < deadline) await delay(lostLookMs);
    if (!connection.isLost) throw error;
  }
  return new Promise(() => undefined);
}

/** Has statements fail once the connection is lost, for the same reasons. */
function guard(
  sql: postgres.TransactionSql<ColumnTypes>,
  connection: Connection,
): postgres.TransactionSql<ColumnTypes> {
  function assertConnected(): void {
    if (!connection.isLost) return;
    const message = "the connection of the transaction was lost";
    throw Object.assign(new Error(message), { code: "CONNECTION_CLOSED" });
  }
  return new Proxy(sql, {
    apply(target, self, words) {
      assertConnected();
      return readOrigin(Reflect.apply(target, self, words));
    },
    get(target, name) {
      assertConnected();
      return Reflect.get(target, name) as unknown;
    },
  });
}

function isRetried(error: unknown): boolean {
  return error instanceof Error && "code" in error && retriedCodes.has(String(error.code));
}
