// Takes turns at what waits in a table: as soon as a notification says so, and over and over all
// the same, since notifications are lost with a connection. Called by access/changes/changes.ts and
// outbox/relay.ts.

import type { Database } from "./database.ts";

export type Follower = {
  /** Takes the first turn, and listens. Never fails. */
  start(): void;
  /** Takes no further turn; the one that is under way is waited for. */
  stop(): Promise<void>;
};

export type FollowerOptions = {
  readonly database: Pick<Database, "listen">;
  readonly channel: string;
  /** Time between two turns; notifications only shorten it. */
  readonly pollMs: number;
  /** Never fails; returns whether all went well, else the next turn waits for its time. */
  readonly takeTurn: () => Promise<boolean>;
  /** Told of each notification before the turn that it causes. */
  readonly onNotify?: (payload: string) => void;
};

export function createFollower(options: FollowerOptions): Follower {
  const { database, channel, pollMs, takeTurn, onNotify } = options;
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> | undefined;
  let isWokenDuringTurn = false;
  let isStopped = false;

  async function takeTurnAndGoOn(): Promise<void> {
    isWokenDuringTurn = false;
    const isWell = await takeTurn();
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
      schedule(0);
      const hear = (payload: string) => {
        if (isStopped) return;
        onNotify?.(payload);
        wake();
      };
      // Notifications may have been missed while there was no connection: the table tells.
      database.listen(channel, hear, wake).catch(() => {
        // Postgres is away: the driver tries again, and until then there is the poll.
      });
    },

    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await turn;
    },
  };
}
