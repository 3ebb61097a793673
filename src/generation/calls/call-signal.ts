// Signal that ends a model call: the client disconnected, the time is up, or the call ended itself.
// Source: docs/decisions.md, 20.1, 21.4.

import { ServiceError } from "../../base/errors.ts";

/** Error of a call whose client disconnected or stopped reading. */
export class ClientGone extends Error {
  constructor(message = "the client went away", options?: ErrorOptions) {
    super(message, options);
    // Connect treats an error of this name as a canceled call.
    this.name = "AbortError";
  }
}

export type CallSignal = {
  readonly signal: AbortSignal;
  /** Ends the call; has no effect if it has ended already. */
  readonly end: (reason: Error) => void;
  /** Removes the listener on the client's signal and stops the timer. */
  readonly close: () => void;
};

/**
 * Opens the signal of a call; `client` is aborted when the client disconnects. Throws its reason if
 * that has happened already.
 */
export function openCallSignal(client: AbortSignal, timeoutMs: number): CallSignal {
  client.throwIfAborted();
  const controller = new AbortController();
  const onGone = (): void => controller.abort(toClientGone(client.reason));
  client.addEventListener("abort", onGone, { once: true });
  const timer = setTimeout(() => {
    const message = `no whole answer within ${timeoutMs} ms`;
    controller.abort(new ServiceError("PROVIDER_TIMEOUT", message));
  }, timeoutMs);
  return {
    signal: controller.signal,
    end: (reason) => controller.abort(reason),
    close() {
      clearTimeout(timer);
      client.removeEventListener("abort", onGone);
    },
  };
}

/** The transport aborts an unread answer with DEADLINE_EXCEEDED; other reasons are kept. */
function toClientGone(reason: unknown): unknown {
  const isUnread = reason instanceof ServiceError && reason.reason === "DEADLINE_EXCEEDED";
  return isUnread ? new ClientGone(reason.message, { cause: reason }) : reason;
}

/** Waits for work, but rejects with the signal's reason as soon as the signal is aborted. */
export async function untilAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    // The outcome of the loser is ignored: the same signal ends it.
    return await Promise.race([work(), aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Returns the error text for the event of a call whose client is gone. */
export function clientGoneText(reason: unknown): string {
  const { message } = reason instanceof ClientGone ? reason : new ClientGone();
  return `CLIENT_GONE: ${message}`;
}
