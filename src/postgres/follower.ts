// Handles rows that wait in a table, in turns: on each notification, and also at intervals, because
// notifications are lost when a connection breaks.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Database } from "./database.ts";

export type Follower = {
  /** Takes the first turn and listens. Turns are background work if `start` is. Never fails. */
  start(): void;
  /** Takes no further turn and waits for the current one. */
  stop(): Promise<void>;
};

export type FollowerOptions = {
  readonly database: Pick<Database, "listen">;
  readonly channel: string;
  /** Time between two turns; notifications only shorten it. */
  readonly pollMs: number;
  /** Never fails. Returns true if all went well; otherwise the next turn waits for the interval. */
  readonly takeTurn: () => Promise<boolean>;
  /** Called with each notification before the turn that it causes. */
  readonly onNotify?: (payload: string) => void;
};

export function createFollower(options: FollowerOptions): Follower {
  const { database, channel, pollMs, takeTurn, onNotify } = options;
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> | undefined;
  let isWokenDuringTurn = false;
  let isStopped = false;
  /** Runs a function in the context of `start`: a notification comes in that of the connection. */
  let inContext = AsyncLocalStorage.snapshot();

  async function takeTurnAndGoOn(): Promise<void> {
    isWokenDuringTurn = false;
    const isWell = await inContext(takeTurn);
    turn = undefined;
    schedule(isWokenDuringTurn && isWell ? 0 : pollMs);
  }

  function schedule(delayMs: number): void {
    clearTimeout(timer);
    if (isStopped) return;
    timer = setTimeout(() => {
      turn = takeTurnAndGoOn();
    }, delayMs).unref();
  }

  function wake(): void {
    if (turn) isWokenDuringTurn = true;
    else schedule(0);
  }

  return {
    start() {
      inContext = AsyncLocalStorage.snapshot();
      schedule(0);
      const hear = (payload: string) => {
        if (isStopped) return;
        onNotify?.(payload);
        wake();
      };
      // Notifications may have been missed while the connection was down; the table has the rows.
      database.listen(channel, hear, wake);
    },

    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await turn;
    },
  };
}
