// One connection that hears notifications. It listens again until that works: the driver's own
// `listen` gives up where a new connection reaches a standby, which refuses LISTEN and then takes
// over, with the connection open.

import { setTimeout as delay } from "node:timers/promises";

export type Listener = {
  /**
   * Calls `onNotify` for each NOTIFY on a channel until `close`, and `onListening` after each
   * LISTEN, since notifications may have been missed before it.
   */
  listen(channel: string, onNotify: (payload: string) => void, onListening: () => void): void;
  close(): Promise<void>;
};

/** Calls of the connection. */
export type Hooks = {
  readonly onnotify: (channel: string, payload: string) => void;
  readonly onclose: () => void;
};

/** The connection, which opens again with the next statement. */
export type ListenConnection = {
  listenTo(channel: string): Promise<unknown>;
  end(): Promise<void>;
};

type Hearer = {
  readonly channel: string;
  readonly onNotify: (payload: string) => void;
  readonly onListening: () => void;
  isTrying: boolean;
  /** Whether the connection closed after the running LISTEN began. */
  isCut: boolean;
};

const retryMsMin = 50;
const retryMsMax = 1_000;

/** Opens the connection with the first call of `listen`. */
export function createListener(open: (hooks: Hooks) => ListenConnection): Listener {
  const hearers = new Set<Hearer>();
  const closing = new AbortController();
  let connection: ListenConnection | undefined;

  async function listenUntilHeard(hearer: Hearer): Promise<void> {
    hearer.isCut = true;
    if (hearer.isTrying) return;
    hearer.isTrying = true;
    for (let waitMs = retryMsMin; hearer.isCut && !closing.signal.aborted;) {
      hearer.isCut = false;
      try {
        await connection?.listenTo(hearer.channel);
        if (!hearer.isCut) hearer.onListening();
      } catch {
        // Postgres is away, or a standby: polls work until then.
        hearer.isCut = true;
        await delay(waitMs, undefined, { signal: closing.signal, ref: false }).catch(
          () => undefined,
        );
        waitMs = Math.min(2 * waitMs, retryMsMax);
      }
    }
    hearer.isTrying = false;
  }

  return {
    listen(channel, onNotify, onListening) {
      connection ??= open({
        onnotify(name, payload) {
          for (const hearer of hearers) if (hearer.channel === name) hearer.onNotify(payload);
        },
        onclose() {
          for (const hearer of hearers) void listenUntilHeard(hearer);
        },
      });
      const hearer = { channel, onNotify, onListening, isTrying: false, isCut: false };
      hearers.add(hearer);
      void listenUntilHeard(hearer);
    },

    async close() {
      closing.abort();
      hearers.clear();
      await connection?.end();
    },
  };
}
