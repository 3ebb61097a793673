// A pool of Postgres connections and transactions that nest by joining. Opened by the
// commands, called by services to begin transactions; stores only run SQL on what they are handed.

import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import { endsConnection } from "./faults.ts";

type ColumnTypes = { bigint: number };

/** Runs statements: the pool itself, or one transaction's connection. */
export type Sql = postgres.ISql<ColumnTypes>;

export type Database = {
  /** Returns the ambient transaction's connection, else the pool. */
  sql(): Sql;
  /**
   * Runs `work` in a transaction and returns what it returns, after commit. Inside another
   * transaction of the same database it joins that one. The outermost is run again when Postgres
   * ended it for a deadlock or a serialization failure, so `work` must not have other effects.
   */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs `work` as `transaction` does, but inside another one as a part of it that is undone by
   * itself when it fails: whoever catches the failure may go on.
   */
  step<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  isInTransaction(): boolean;
  /** Runs `effect` when the ambient transaction has committed, and not when it is undone. */
  afterCommit(effect: () => void): void;
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

/** The transaction that work runs in, and what to do once it has committed. */
type Ambient = {
  readonly sql: postgres.TransactionSql<ColumnTypes>;
  readonly effects: (() => void)[];
  readonly connection: Connection;
};

/** The connection of a transaction; lost also when the transaction has ended. */
type Connection = { isLost: boolean };

export type OpenDatabaseOptions = {
  /** `postgres://…`; a `host=/folder` parameter names a unix socket's folder, as in libpq. */
  readonly url: string;
  readonly connectionsMax?: number;
  /** Longest time of one statement; 0 is no limit. Migrations have none. */
  readonly statementTimeoutMs?: number;
  readonly connectTimeoutSeconds?: number;
};

const connectionsMaxDefault = 10;
const statementTimeoutMsDefault = 60_000;
const connectTimeoutSecondsDefault = 5;
const closeTimeoutSeconds = 5;
const transactionAttemptsMax = 5;

/** deadlock_detected and serialization_failure: Postgres undid everything and asks for a retry. */
const retriedCodes: ReadonlySet<string> = new Set(["40P01", "40001"]);

/** Opens a pool. No connection is made before the first statement. */
export function openDatabase(options: OpenDatabaseOptions): Database {
  const pool = createPool(options);
  const ambient = new AsyncLocalStorage<Ambient>();

  async function transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const outer = ambient.getStore();
    if (outer) return work(outer.sql);
    for (let attempt = 1; ; attempt += 1) {
      const effects: (() => void)[] = [];
      const connection: Connection = { isLost: false };
      try {
        const result = await pool.begin((sql) => runOn(connection, { sql, effects }, work));
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

  async function step<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const outer = ambient.getStore();
    if (!outer) return transaction(work);
    const effects: (() => void)[] = [];
    const result = await outer.sql.savepoint((sql) =>
      runOn(outer.connection, { sql, effects }, work),
    );
    outer.effects.push(...effects);
    return result as T;
  }

  return {
    sql: () => ambient.getStore()?.sql ?? pool,
    transaction,
    step,
    isInTransaction: () => ambient.getStore() !== undefined,
    afterCommit(effect) {
      const outer = ambient.getStore();
      if (!outer) throw new Error("afterCommit outside a transaction");
      outer.effects.push(effect);
    },
    async listen(channel, onNotify, onListening) {
      await pool.listen(channel, onNotify, onListening);
    },
    close: () => pool.end({ timeout: closeTimeoutSeconds }),
  };
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
      return Reflect.apply(target, self, words) as unknown;
    },
    get(target, name) {
      assertConnected();
      return Reflect.get(target, name) as unknown;
    },
  });
}

function createPool(options: OpenDatabaseOptions): postgres.Sql<ColumnTypes> {
  const { url, host } = splitSocketFolder(options.url);
  return postgres<{ bigint: postgres.PostgresType<number> }>(url, {
    ...(host === undefined ? {} : { host }),
    max: options.connectionsMax ?? connectionsMaxDefault,
    connect_timeout: options.connectTimeoutSeconds ?? connectTimeoutSecondsDefault,
    // Short, so that the first request after Postgres comes back finds it.
    backoff: (retries: number) => Math.min(0.05 * 2 ** retries, 1),
    prepare: true,
    onnotice: () => {
      // Notices ("relation exists, skipping") tell an operator nothing.
    },
    connection: {
      application_name: "waggle",
      statement_timeout: options.statementTimeoutMs ?? statementTimeoutMsDefault,
    },
    types: { bigint: bigintAsNumber },
  });
}

/** Microseconds and counts stay far below 2^53, so bigint columns are plain numbers in our code. */
const bigintAsNumber: postgres.PostgresType<number> = {
  to: 20,
  from: [20],
  serialize: (value: number) => String(value),
  parse: (text: string) => Number(text),
};

/** The driver would send `host` to the server as a setting, so it is taken out of the URL here. */
function splitSocketFolder(text: string): { url: string; host: string | undefined } {
  const url = new URL(text);
  const host = url.searchParams.get("host") ?? undefined;
  url.searchParams.delete("host");
  return { url: url.toString(), host };
}

function isRetried(error: unknown): boolean {
  return error instanceof Error && "code" in error && retriedCodes.has(String(error.code));
}
