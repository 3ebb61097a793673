// One database: its pools of connections, and transactions that nest by joining. Services begin
// transactions and readers; stores only run SQL on the connection that they are given.

import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as delay } from "node:timers/promises";
import type postgres from "postgres";
import { isInBackground } from "../base/background.ts";
import { transactionAgeMsMax } from "../base/limits.ts";
import { currentTenant } from "../base/tenant.ts";
import { codeOf } from "../base/error-code.ts";
import { endsConnection, endsSession, isStale } from "./faults.ts";
import type { Listener } from "./listener.ts";
import {
  type ColumnTypes,
  openPools,
  type PoolName,
  type PoolOptions,
  type PoolWithTurns,
  type Sql,
} from "./pools.ts";
import { createRead, type Read, type ReaderOptions } from "./reader.ts";
import { keepLittle } from "./statement-memory.ts";
import type { Turns } from "./turns.ts";

export type { PoolOptions as OpenDatabaseOptions, Sql } from "./pools.ts";
export type { Read, ReaderOptions } from "./reader.ts";

/** A part of a statement. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

export type Database = {
  /**
   * Returns the ambient transaction's connection, or without a transaction the pool, which is
   * `commits` unless `on` names another. Background work has a pool of its own under all names.
   */
  sql(): Sql;
  /**
   * Runs `work` in a transaction and returns its result after the commit. Joins an outer
   * transaction of the same database. The outermost transaction waits for its owner's turn at a
   * connection and is retried after a deadlock, a serialization failure or a change of the schema
   * that made a statement stale, so `work` must not have other effects. Throws OVERLOADED if the
   * wait is too long.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Runs `work`, single statements without a transaction of their own, in its owner's turn like
   * `transaction`. Statements of callers that run on `sql()` can take every connection.
   */
  inTurn<T>(work: (sql: Sql) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Runs `work` like `inTurn`, on the connections for reads: a page may take long, and would delay
   * key checks.
   */
  readInTurn<T>(owner: string, work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs `work` like `transaction`. Inside another transaction it is a savepoint: if it fails, only
   * `work` is undone, and the outer transaction may continue after catching the failure.
   */
  step<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  isInTransaction(): boolean;
  /** Runs `effect` after the ambient transaction commits; a rollback drops it. */
  afterCommit(effect: () => void): void;
  /** Returns the function that runs read statements for one project. */
  reader(options: ReaderOptions): Read;
  /**
   * Returns the same database, with the same ambient transactions, whose `sql` and new transactions
   * use the connections of another pool.
   */
  on(pool: PoolName): Database;
  /**
   * Returns the turns of the transactions of requests, for work that accumulates while it waits for
   * its turn.
   */
  turns(): Turns;
  /**
   * Calls `onNotify` for each NOTIFY on a channel, from a separate connection, until `close`. Calls
   * `onListening` after each connect, the first included, since notifications may have been missed.
   * While Postgres is away it tries on.
   */
  listen: Listener["listen"];
  /** Waits up to five seconds for running statements, then closes every connection. */
  close(): Promise<void>;
};

export type TransactionOptions = {
  /**
   * Project or scope whose turn is used, by default the caller's. One owner leaves a connection to
   * the others, and so does the caller's organization.
   */
  readonly owner?: string | undefined;
  /** Whether it may take any time, as a change of the schema of many rows does. */
  readonly isOfAnyAge?: true;
};

/** The current transaction, and the effects to run after its commit. */
type Ambient = {
  readonly sql: postgres.TransactionSql<ColumnTypes>;
  readonly effects: (() => void)[];
  readonly connection: Connection;
};

/** Connection of a transaction; also marked as lost when the transaction has ended. */
type Connection = { isLost: boolean };

const transactionAttemptsMax = 5;

/**
 * deadlock_detected and serialization_failure: Postgres rolled back the transaction and asks for a
 * retry.
 */
const retriedCodes: ReadonlySet<string> = new Set(["40P01", "40001"]);

/** Opens the pools of a database. The first statement makes the first connection. */
export function openDatabase(options: PoolOptions): Database {
  const pools = openPools(options);
  const ambient = new AsyncLocalStorage<Ambient>();

  async function begin<T>(
    { connections }: PoolWithTurns,
    mode: "" | "read only",
    work: (sql: Sql) => Promise<T>,
    { isOfAnyAge }: TransactionOptions = {},
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const effects: (() => void)[] = [];
      const connection: Connection = { isLost: false };
      let isBegun = false;
      try {
        const result = await connections.begin(mode, (sql) => {
          isBegun = true;
          return runOn(connection, { sql, effects }, (own) =>
            isOfAnyAge ? work(own) : endInTime(() => work(own)),
          );
        });
        for (const effect of effects) effect();
        return result as T;
      } catch (error) {
        connection.isLost = true;
        // The error may be that of the previous session (statement-repeats.ts).
        const isUnsent = !isBegun && attempt === 1 && endsSession(error);
        if (attempt === transactionAttemptsMax || !(isUnsent || isRetried(error))) throw error;
        // A random wait, so that two transactions that collided do not collide again.
        await delay(Math.random() * 10 * 2 ** attempt);
      }
    }
  }

  /** Fails if the work took too long to be committed: then it is rolled back. */
  async function endInTime<T>(work: () => Promise<T>): Promise<T> {
    const ageMsMax = options.transactionAgeMsMax ?? transactionAgeMsMax;
    const beganAtMs = performance.now();
    const result = await work();
    if (performance.now() - beganAtMs <= ageMsMax) return result;
    throw new Error(`a transaction that took longer than ${ageMsMax} ms is not committed`);
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

  function currentPool(name: PoolName): PoolWithTurns {
    return (isInBackground() ? pools.background : undefined)?.[name] ?? pools[name];
  }

  function viewOf(name: PoolName): Database {
    async function takeTurn<T>(
      { turns }: PoolWithTurns,
      work: () => Promise<T>,
      options: TransactionOptions,
    ): Promise<T> {
      const tenant = currentTenant.getStore();
      const owner = options.owner ?? tenant?.owner;
      return turns.run(owner, work, { organization: tenant?.organization });
    }

    async function transaction<T>(
      work: (sql: Sql) => Promise<T>,
      transactionOptions: TransactionOptions = {},
    ): Promise<T> {
      const outer = ambient.getStore();
      if (outer) return work(outer.sql);
      const pool = currentPool(name);
      return takeTurn(pool, () => begin(pool, "", work, transactionOptions), transactionOptions);
    }

    return {
      sql: () => ambient.getStore()?.sql ?? currentPool(name).connections,
      transaction,
      async inTurn(work, turnOptions = {}) {
        const outer = ambient.getStore();
        if (outer) return work(outer.sql);
        const pool = currentPool(name);
        return takeTurn(pool, () => work(pool.connections), turnOptions);
      },
      readInTurn: (owner, work) => views.reads.inTurn(work, { owner }),
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
      reader(readerOptions) {
        const pool = currentPool("reads");
        return createRead({
          ...readerOptions,
          pool,
          ambient: () => ambient.getStore()?.sql,
          begin: (work) => begin(pool, "read only", work),
          timeoutMs: options.statementTimeoutMs,
        });
      },
      on: (other) => views[other],
      turns: () => pools[name].turns,
      listen: (channel, onNotify, onListening) =>
        pools.listener.listen(channel, onNotify, onListening),
      close: () => pools.close(),
    };
  }

  const views: Readonly<Record<PoolName, Database>> = {
    callers: viewOf("callers"),
    commits: viewOf("commits"),
    reads: viewOf("reads"),
  };
  return views.commits;
}

/** Maximum time between an error that ends a connection and the connection's end. */
const lostMsMax = 200;
const lostLookMs = 5;

/**
 * Settles like `work`, but never settles if the connection is lost. The driver has then already
 * failed the transaction for its caller. If `work` settled too, the driver would write a `rollback`
 * to a closed connection, which throws an uncatchable error, or to one that already belongs to
 * another transaction.
 */
async function settleWhileConnected<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    if (!connection.isLost) return result;
  } catch (error) {
    // The error may concern a connection to another database.
    const deadline = Date.now() + (endsConnection(error) ? lostMsMax : 0);
    while (!connection.isLost && Date.now() < deadline) await delay(lostLookMs);
    if (!connection.isLost) throw error;
  }
  return new Promise(() => undefined);
}

/** Makes statements fail after the connection is lost, for the reasons given above. */
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
      return keepLittle(Reflect.apply(target, self, words), true);
    },
    get(target, name) {
      assertConnected();
      return Reflect.get(target, name) as unknown;
    },
  });
}

function isRetried(error: unknown): boolean {
  return retriedCodes.has(codeOf(error) ?? "") || isStale(error);
}
