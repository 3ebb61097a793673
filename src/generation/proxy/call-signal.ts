// What ends a proxied call: its client, its longest time, or the proxy itself. Called by proxy.ts.
// Source: docs/decisions.md, 21.

import { ServiceError } from "../../base/errors.ts";

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
  const onGone = (): void => controller.abort(client.reason);
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
