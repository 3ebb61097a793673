// The databases of events: one per configured cluster, in addition to the control database. Each
// has its own watch, so that calls to a cluster that is away fail at once and the others continue.
// Source: docs/decisions.md, 30.

import { setTimeout as delay } from "node:timers/promises";
import { ServiceError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { type Database, openDatabase } from "./database.ts";

/** Always present; the control database itself, unless the urls name another database for it. */
const defaultClusterId = "default";

export type Clusters = {
  ids(): readonly string[];
  isKnown(clusterId: string): boolean;
  /**
   * Returns the database of a cluster, always the same object. Fails with DATABASE_UNAVAILABLE if
   * the cluster does not answer, is not migrated yet or is not configured.
   */
  database(clusterId: string): Database;
  /** Ids of the clusters that are not usable now. */
  away(): readonly string[];
  /** Resolves when every cluster has been checked once, or after a few seconds. */
  firstLook(): Promise<void>;
  /** Closes every connection except those of the control database. */
  close(): Promise<void>;
};

export type OpenClustersOptions = {
  readonly control: Database;
  /** Postgres URL by cluster id. */
  readonly urls: Readonly<Record<string, string>>;
  /** Maximum connections to each cluster, as for a database; the watch has one more. */
  readonly connectionsMax: number;
  readonly backgroundConnectionsMax?: number;
  /**
   * Brings a cluster's schema up to date, or fails if it is outdated. Runs until it succeeds once.
   */
  readonly prepare: (database: Database) => Promise<unknown>;
  readonly logger: Pick<Logger, "info" | "warn">;
  /** Time between two checks of a cluster. */
  readonly lookMs?: number;
};

/** Maximum time of an answer; a slower cluster counts as away. */
const answerMsMax = 5_000;
const lookMsDefault = 5_000;
/** First time between two checks of a cluster that is away; doubles up to the usual time. */
const awayLookMs = 250;
/**
 * Maximum time that the start waits for clusters: about one attempt at a cluster that does not
 * answer.
 */
const firstLookMs = 7_000;

/** Opens the clusters and begins to watch them. Does not wait for any of them. */
export function openClusters(options: OpenClustersOptions): Clusters {
  const { control, urls } = options;
  const watched = new Map(
    Object.entries(urls).map(([id, url]) => [id, watchCluster(id, url, options)]),
  );
  const ids = [...new Set([defaultClusterId, ...watched.keys()])];
  return {
    ids: () => ids,
    isKnown: (clusterId) => ids.includes(clusterId),
    database(clusterId) {
      const cluster = watched.get(clusterId);
      if (cluster) return cluster.database();
      if (clusterId === defaultClusterId) return control;
      throw new ServiceError("DATABASE_UNAVAILABLE", `cluster ${clusterId} is not configured`);
    },
    away: () => [...watched].filter(([, cluster]) => cluster.isAway()).map(([id]) => id),
    async firstLook() {
      const looks = [...watched.values()].map((cluster) => cluster.firstLook);
      await Promise.race([Promise.all(looks), delay(firstLookMs, undefined, { ref: false })]);
    },
    async close() {
      await Promise.all([...watched.values()].map((cluster) => cluster.close()));
    },
  };
}

type WatchedCluster = {
  database(): Database;
  isAway(): boolean;
  /** Resolves after the first check, whether it succeeded or not. */
  readonly firstLook: Promise<void>;
  close(): Promise<void>;
};

function watchCluster(id: string, url: string, options: OpenClustersOptions): WatchedCluster {
  const { connectionsMax, backgroundConnectionsMax = 0 } = options;
  const { prepare, logger, lookMs = lookMsDefault } = options;
  const database = openDatabase({ url, connectionsMax, backgroundConnectionsMax });
  // A separate connection: long statements may hold all of the others without harm.
  const watcher = openDatabase({ url, connectionsMax: 1, statementTimeoutMs: answerMsMax });
  const closing = new AbortController();
  const firstLook = Promise.withResolvers<undefined>();
  let isPrepared = false;
  /** Reason why the cluster is not usable; undefined if it is usable. */
  let fault: string | undefined = "not looked at yet";

  async function look(): Promise<void> {
    await answering(watcher);
    if (isPrepared) return;
    await prepare(database);
    isPrepared = true;
  }

  function note(found: string | undefined): void {
    if (found === fault) return;
    fault = found;
    if (closing.signal.aborted) return;
    if (found === undefined) logger.info({ cluster: id }, "the cluster can be used");
    else
      logger.warn(
        { cluster: id, fault: found },
        "the cluster is unavailable; the others are not affected",
      );
  }

  async function watch(): Promise<void> {
    let waitMs = awayLookMs;
    while (!closing.signal.aborted) {
      try {
        await look();
        note(undefined);
        waitMs = awayLookMs;
      } catch (error) {
        // The driver's or the migration's message; neither holds the URL's password.
        note((error as Error).message);
        waitMs = Math.min(waitMs * 2, lookMs);
      }
      firstLook.resolve(undefined);
      const pauseMs = fault === undefined ? lookMs : waitMs;
      // `close` cuts the pause short; the loop's condition then ends the loop.
      await delay(pauseMs, undefined, { signal: closing.signal, ref: false }).catch(
        () => undefined,
      );
    }
  }

  const watching = watch();
  return {
    database() {
      if (fault === undefined) return database;
      throw new ServiceError("DATABASE_UNAVAILABLE", `cluster ${id} is unavailable: ${fault}`);
    },
    isAway: () => fault !== undefined,
    firstLook: firstLook.promise,
    async close() {
      closing.abort();
      await Promise.all([watcher.close(), database.close()]);
      await watching;
    },
  };
}

async function answering(database: Database): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const tooLate = async () => {
    await delay(answerMsMax, undefined, { signal, ref: false });
    throw new Error("it does not answer");
  };
  try {
    await Promise.race([database.sql()`select 1`, tooLate()]);
  } finally {
    controller.abort();
  }
}
