// What ends a proxied call: its client, its longest time, or the proxy itself. Called by proxy.ts.
// Source: docs/decisions.md, 21.

import { ServiceError } from "../../base/errors.ts";

/** The client takes no more of the answer: it left, or reads nothing of it. */
export class ClientGone extends Error {
  constructor(message = "the client went away", options?: ErrorOptions) {
    super(message, options);
    // Connect reads the name as a call that was canceled.
    this.name = "AbortError";
  }
}

export type CallSignal = {
  readonly signal: AbortSignal;
  /** Ends the call; a call that has ended already stays as it is. */
  end(reason: Error): void;
  /** Lets go of the client's signal and of the clock. */
  close(): void;
};

/**
 * Begins a call; `client` is aborted when the client goes. Fails with its reason if it has gone.
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

/** The transport breaks an unread answer off with DEADLINE_EXCEEDED; other reasons stay. */
function toClientGone(reason: unknown): unknown {
  const isUnread = reason instanceof ServiceError && reason.reason === "DEADLINE_EXCEEDED";
  return isUnread ? new ClientGone(reason.message, { cause: reason }) : reason;
}

/** Returns the words on the event of a call whose client has gone. */
export function clientGoneText(reason: unknown): string {
  const { message } = reason instanceof ClientGone ? reason : new ClientGone();
  return `CLIENT_GONE: ${message}`;
}
