// Starts the workflows in the outbox as soon as they are committed, and retries until they start.
// Any number of relays may run; each process that runs workflows has one.

import type { Logger } from "../base/logger.ts";
import type { Database } from "../postgres/database.ts";
import { createFollower } from "../postgres/follower.ts";
import type { OutboxEntry } from "./entry.ts";
import * as store from "./store.ts";
import type { WaitingEntry } from "./store.ts";

export type WorkflowStarter = {
  /**
   * Starts a workflow. Succeeds if a workflow with this id was started before: the relay that
   * started it was cut off before it could mark the entry. Fails if the start is not confirmed.
   */
  start(entry: OutboxEntry): Promise<void>;
};

export type Relay = {
  /** Begins to start due entries, until `stop`. */
  follow(): void;
  /**
   * Starts the entries that are due now. Returns how many were started and how many were put off.
   */
  turn(): Promise<{ readonly started: number; readonly failed: number }>;
  /** Stops following and waits for the current start. */
  stop(): Promise<void>;
};

export type RelayOptions = {
  readonly database: Database;
  readonly client: WorkflowStarter;
  readonly logger: Pick<Logger, "info" | "warn">;
  /** Time between two checks of the outbox; notifications only shorten it. */
  readonly pollMs?: number;
};

const pollMsDefault = 2_000;
/** Maximum time that an entry is put off. */
const delayMsMax = 60_000;
const firstDelayMs = 500;
/** Maximum entries that start in parallel, while their rows are locked. */
const entriesPerTurnMax = 20;
const sweepMs = 60_000;
const rowsSweptMax = 1_000;
/** Long enough for an operator to look at started entries. */
const keptMs = 7 * 86_400_000;
const errorCharactersMax = 500;

export function createRelay(options: RelayOptions): Relay {
  const { database, client, logger, pollMs = pollMsDefault } = options;
  let isStopped = false;
  let sweptAtMs = Date.now();
  /** The current fault, so that it is logged once. */
  let fault: "database" | "temporal" | undefined;

  async function turn() {
    const results = await database.transaction(async (sql) => {
      // The rows stay locked until they are marked: no other relay starts them meanwhile, and they
      // are free at once if this relay dies. Temporal refuses a second start by the workflow id.
      const entries = await store.claimDue(sql, entriesPerTurnMax);
      const tried = await Promise.all(entries.map(start));
      const started = tried.filter(({ error }) => error === undefined);
      if (started.length > 0) {
        await store.markStarted(
          sql,
          started.map(({ entry }) => entry.outboxId),
        );
      }
      for (const { entry, error } of tried) {
        if (error === undefined) continue;
        const delayMs = Math.min(firstDelayMs * 2 ** Math.min(entry.attempts, 30), delayMsMax);
        const { outboxId } = entry;
        const text = describe(error).slice(0, errorCharactersMax);
        await store.markFailed(sql, { outboxId, error: text, delayMs });
      }
      return tried;
    });
    const failed = results.find(({ error }) => error !== undefined);
    if (failed) report("temporal", failed.error, failed.entry);
    else if (results.length > 0) report(undefined);
    const started = results.filter(({ error }) => error === undefined).length;
    return { started, failed: results.length - started };
  }

  async function start(entry: WaitingEntry): Promise<{ entry: WaitingEntry; error?: unknown }> {
    try {
      await client.start(entry);
      return { entry };
    } catch (error) {
      return { entry, error };
    }
  }

  function report(now: typeof fault, error?: unknown, entry?: WaitingEntry): void {
    if (now === fault) return;
    fault = now;
    if (now === undefined) logger.info("workflows are started again");
    else {
      const { workflowId } = entry ?? {};
      logger.warn({ err: error, workflowId }, "workflows cannot be started now; trying again");
    }
  }

  async function takeTurn(): Promise<boolean> {
    try {
      // A full turn may have left due entries.
      for (let isFull = true; isFull && !isStopped;) {
        isFull = (await turn()).started === entriesPerTurnMax;
      }
      if (fault === "database") report(undefined);
      await sweep();
    } catch (error) {
      report("database", error);
    }
    return fault === undefined;
  }

  async function sweep(): Promise<void> {
    if (Date.now() - sweptAtMs < sweepMs) return;
    sweptAtMs = Date.now();
    await store.deleteStarted(database.sql(), keptMs, rowsSweptMax);
  }

  const follower = createFollower({ database, channel: store.outboxChannel, pollMs, takeTurn });

  return {
    turn,
    follow: () => follower.start(),
    async stop() {
      isStopped = true;
      await follower.stop();
    },
  };
}

/** Returns the cause's message too: Temporal's client hides the cause behind its own error. */
function describe(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== message
    ? `${message}: ${cause.message}`
    : message;
}
