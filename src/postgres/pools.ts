// The connections to one database, in pools by kind of work, so that slow reads delay neither
// writes nor key lookups.

import postgres from "postgres";
import {
  idleTransactionMsMax,
  readsWaitingMax,
  readWaitMsMax,
  statementTimeoutsMs,
  transactionsWaitingMax,
  transactionWaitMsMax,
} from "../base/limits.ts";
import {
  callersConnectionsShare,
  projectCommitsShare,
  projectReadsShare,
} from "../base/tenant-limits.ts";
import { createListener, type Listener } from "./listener.ts";
import { socketOpener } from "./socket.ts";
import { withLittleMemory } from "./statement-memory.ts";
import { createTurns, type Turns } from "./turns.ts";

export type ColumnTypes = { bigint: number };

/** Runs statements: a pool, or one transaction's connection. */
export type Sql = postgres.ISql<ColumnTypes>;

/** The driver's pool of connections. */
export type Pool = postgres.Sql<ColumnTypes>;

/**
 * Names of the pools of requests. `callers`: lookups of keys, readiness and the control plane.
 * `commits`: writes of events. `reads`: pages, trees, lists, streams, searches and counts.
 */
export type PoolName = "callers" | "commits" | "reads";

export type PoolSizes = Readonly<Record<PoolName, number>>;

export type PoolOptions = {
  /**
   * `postgres://…`; a `host=/folder` parameter names the folder of a unix socket, as in libpq, and
   * `prepare=false` is for poolers that know no prepared statements.
   */
  readonly url: string;
  /** Maximum connections of requests. Below three, all requests share one pool. */
  readonly connectionsMax?: number;
  /**
   * Maximum connections of background work (base/background.ts), in addition. By default, or with
   * 0, it uses those of requests.
   */
  readonly backgroundConnectionsMax?: number;
  /** Maximum time of any statement, in place of the times by pool; 0 means no limit. */
  readonly statementTimeoutMs?: number;
  /** Maximum age of a transaction that is committed, in place of the default. */
  readonly transactionAgeMsMax?: number;
  readonly connectTimeoutSeconds?: number;
};

/** A pool, with turns for work that may hold its connections for long. */
export type PoolWithTurns = {
  readonly connections: Pool;
  /** Turns of transactions; for `reads`, of statements. */
  readonly turns: Turns;
};

export type Pools = Readonly<Record<PoolName, PoolWithTurns>> & {
  /** One pool, with separate turns for reads; undefined if it has no connections. */
  readonly background: Readonly<Record<PoolName, PoolWithTurns>> | undefined;
  readonly listener: Listener;
  close(): Promise<void>;
};

const connectionsMaxDefault = 12;
const connectTimeoutSecondsDefault = 5;
/** For a small pool that all work shares: it serves commands, whose statements may take long. */
const sharedTimeoutMs = 60_000;
const sharedConnectionsMax = 2;
const closeTimeoutSeconds = 5;

/**
 * Returns the sizes of the pools, each at least 1, for three connections or more. Reads get half of
 * the connections without the callers' part, rounded down.
 */
export function dividePools(connectionsMax: number): PoolSizes {
  const callers = Math.max(1, Math.floor(connectionsMax * callersConnectionsShare));
  const reads = Math.max(1, Math.floor((connectionsMax - callers) / 2));
  return { callers, reads, commits: connectionsMax - callers - reads };
}

/** Opens the pools. The first statement makes the first connection. */
export function openPools(options: PoolOptions): Pools {
  const { connectionsMax = connectionsMaxDefault, backgroundConnectionsMax = 0 } = options;
  const listener = openListener(options);
  const ofRequests =
    connectionsMax <= sharedConnectionsMax
      ? openSharedPool(options, connectionsMax)
      : openRequestPools(options, connectionsMax);
  const ofBackground =
    backgroundConnectionsMax === 0
      ? undefined
      : openBackgroundPool(options, backgroundConnectionsMax);
  return {
    ...ofRequests,
    background: ofBackground,
    listener,
    async close() {
      await Promise.all([listener.close(), ofRequests.close(), ofBackground?.close()]);
    },
  };
}

/** Opens no connection before something listens. */
function openListener(options: PoolOptions): Listener {
  return createListener((hooks) => {
    const pool = openPool(options, 1, 0, {
      ...hooks,
      max_lifetime: null,
      fetch_types: false,
    });
    return {
      listenTo: async (channel) => pool`listen ${pool(channel)}`,
      end: () => pool.end({ timeout: closeTimeoutSeconds }),
    };
  });
}

type RequestPools = Omit<Pools, "background" | "listener">;

function openRequestPools(options: PoolOptions, connectionsMax: number): RequestPools {
  const sizes = dividePools(connectionsMax);
  const callers = openPool(options, sizes.callers, statementTimeoutsMs.callers);
  const commits = openPool(options, sizes.commits, statementTimeoutsMs.commits);
  const reads = openPool(options, sizes.reads, statementTimeoutsMs.reads);
  return {
    // Control-plane transactions leave one connection to key lookups.
    callers: { connections: callers, turns: transactionTurns(Math.max(1, sizes.callers - 1)) },
    commits: { connections: commits, turns: commitTurns(sizes.commits) },
    reads: { connections: reads, turns: readTurns(sizes.reads) },
    close: () => closeAll([callers, commits, reads]),
  };
}

/**
 * Opens one pool for all background work: its statements may take as long as commits, and reads
 * leave half of the connections to the transactions that other workflows wait for.
 */
function openBackgroundPool(options: PoolOptions, size: number): RequestPools {
  const connections = openPool(options, size, statementTimeoutsMs.commits);
  const reads = Math.max(1, Math.floor(size / 2));
  const transactions = { connections, turns: transactionTurns(Math.max(1, size - reads)) };
  return {
    callers: transactions,
    commits: transactions,
    reads: { connections, turns: readTurns(reads) },
    close: () => closeAll([connections]),
  };
}

function openSharedPool(options: PoolOptions, size: number): RequestPools {
  const connections = openPool(options, size, sharedTimeoutMs);
  const transactions = { connections, turns: transactionTurns(size) };
  return {
    callers: transactions,
    commits: transactions,
    reads: { connections, turns: readTurns(size) },
    close: () => closeAll([connections]),
  };
}

async function closeAll(pools: readonly Pool[]): Promise<void> {
  await Promise.all(pools.map((pool) => pool.end({ timeout: closeTimeoutSeconds })));
}

/** Limits the connections of one project: with more, its groups of events would become smaller. */
function commitTurns(places: number): Turns {
  const ofProject = Math.min(places - 1, Math.ceil(places * projectCommitsShare));
  return transactionTurns(places, Math.max(1, ofProject));
}

/**
 * Limits an organization, and by default an owner, to all connections but one if there are two or
 * more.
 */
function transactionTurns(places: number, placesPerOwner = Math.max(1, places - 1)): Turns {
  return createTurns({
    places,
    placesPerOwner,
    placesPerOrganization: Math.max(1, places - 1),
    waitingMax: transactionsWaitingMax,
    waitMsMax: transactionWaitMsMax,
    what: "transactions",
  });
}

/**
 * Limits a project to half of the connections and an organization to all but one, so that slow
 * reads of one organization do not block the others.
 */
function readTurns(places: number): Turns {
  return createTurns({
    places,
    placesPerOwner: Math.max(1, Math.floor(places * projectReadsShare)),
    placesPerOrganization: Math.max(1, places - 1),
    waitingMax: readsWaitingMax,
    waitMsMax: readWaitMsMax,
    what: "reads",
  });
}

function openPool(
  options: PoolOptions,
  size: number,
  timeoutMs: number,
  others: Partial<postgres.Options<{ bigint: postgres.PostgresType<number> }>> = {},
): Pool {
  const { url, host } = splitSocketFolder(options.url);
  /** The driver's types lack this option. */
  const untyped = { socket: socketOpener() };
  const pool = postgres<{ bigint: postgres.PostgresType<number> }>(url, {
    ...(host === undefined ? {} : { host }),
    max: size,
    connect_timeout: options.connectTimeoutSeconds ?? connectTimeoutSecondsDefault,
    // Short, so that the first request after Postgres returns finds it.
    backoff: (retries: number) => Math.min(0.05 * 2 ** retries, 1),
    ...unlimitedPipeline,
    ...untyped,
    onnotice: () => {
      // Notices ("relation exists, skipping") do not help an operator.
    },
    connection: {
      application_name: "waggle",
      statement_timeout: options.statementTimeoutMs ?? timeoutMs,
      idle_in_transaction_session_timeout: idleTransactionMsMax,
    },
    types: { bigint: bigintAsNumber },
    ...others,
  });
  return withLittleMemory(pool);
}

/**
 * Maximum statements in flight on a connection, an option that the driver's types lack. A BEGIN
 * that reaches the maximum loses its connection: the driver does not note it, so the transaction
 * fails and its connection, with the transaction open, runs the statements of others.
 */
const unlimitedPipeline = { max_pipeline: Number.MAX_SAFE_INTEGER };

/** Microseconds and counts stay far below 2^53, so bigint columns are plain numbers in our code. */
const bigintAsNumber: postgres.PostgresType<number> = {
  to: 20,
  from: [20],
  serialize: (value: number) => String(value),
  parse: (text: string) => Number(text),
};

/** Takes `host` out of the URL: the driver would send it to the server as a setting. */
function splitSocketFolder(text: string): { url: string; host: string | undefined } {
  const url = new URL(text);
  const host = url.searchParams.get("host") ?? undefined;
  url.searchParams.delete("host");
  return { url: url.toString(), host };
}
