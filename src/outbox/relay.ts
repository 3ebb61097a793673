// Starts the workflows that wait in the outbox, as soon as they are committed and for as long as it
// takes. Run by whoever runs workflows, in any number. Called by worker-app.ts.

import type { Logger } from "../base/logger.ts";
import type { Database } from "../postgres/database.ts";
import { createFollower } from "../postgres/follower.ts";
import type { OutboxEntry } from "./entry.ts";
import * as store from "./store.ts";
import type { WaitingEntry } from "./store.ts";

export type WorkflowStarter = {
  /**
   * Has a workflow started. One whose id was started before counts: whoever did was cut off before
   * it could say so. Fails when it is not known to be started.
   */
  start(entry: OutboxEntry): Promise<void>;
};

export type Relay = {
  /** Begins to start what is due, until `stop`. */
  follow(): void;
  /** Starts what is due now; returns how many were started and how many were put off. */
  turn(): Promise<{ readonly started: number; readonly failed: number }>;
  /** Ends following; a start that is under way is waited for. */
  stop(): Promise<void>;
};

export type RelayOptions = {
  readonly database: Database;
  readonly client: WorkflowStarter;
  readonly logger: Pick<Logger, "info" | "warn">;
  /** Time between two looks at the outbox; notifications only shorten it. */
  readonly pollMs?: number;
};

const pollMsDefault = 2_000;
/** Longest time that an entry is put off. */
const delayMsMax = 60_000;
const firstDelayMs = 500;
/** Started side by side, while their rows are locked. */
const entriesPerTurnMax = 20;
const sweepMs = 60_000;
const rowsSweptMax = 1_000;
/** Long enough for an operator to look at what was started. */
const keptMs = 7 * 86_400_000;
const errorCharactersMax = 500;

export function createRelay(options: RelayOptions): Relay {
  const { database, client, logger, pollMs = pollMsDefault } = options;
  let isStopped = false;
  let sweptAtMs = Date.now();
  /** What fails now, so that it is logged once. */
  let fault: "database" | "temporal" | undefined;

  async function turn() {
    const results = await database.transaction(async (sql) => {
      // Locked until they are marked: no other relay starts them meanwhile, and when this one dies
      // they are free at once. Starting one again is refused by its id.
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
      // A full turn may have left some.
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

/** Temporal's client hides what went wrong behind an error of its own. */
function describe(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== message
    ? `${message}: ${cause.message}`
    : message;
}
