// Signal that ends a model call: the client disconnected, the time is up, or the call ended itself.
// Source: docs/decisions.md, 21.

import { ServiceError } from "../../base/errors.ts";
import { ProviderError, toServiceError } from "../provider-error.ts";
import { AttemptsError } from "./attempts.ts";

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
  end(reason: Error): void;
  /** Removes the listener on the client's signal and stops the timer. */
  close(): void;
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

/** Returns the error text for the event of a call whose client is gone. */
export function clientGoneText(reason: unknown): string {
  const { message } = reason instanceof ClientGone ? reason : new ClientGone();
  return `CLIENT_GONE: ${message}`;
}

export type Failure = {
  /** `error` of the event, in the form `REASON: text`. */
  readonly text: string;
  readonly thrown: unknown;
};

/** Returns the failure of a call; after an abort of the call's signal, its reason. */
export function failureOf(error: unknown, signal: AbortSignal): Failure {
  const cause = signal.aborted ? (signal.reason as unknown) : causeOf(error);
  const known = cause instanceof ProviderError ? toServiceError(cause) : cause;
  if (known instanceof ServiceError) {
    return { text: `${known.reason}: ${known.message}`, thrown: known };
  }
  const isGone = signal.aborted || cause instanceof ClientGone;
  return { text: isGone ? clientGoneText(cause) : "INTERNAL: the service failed", thrown: cause };
}

/** Returns the failure of the last attempt, if there is one. */
export function causeOf(error: unknown): unknown {
  return error instanceof AttemptsError ? (error.error ?? error) : error;
}
