// Failure of a model call: the error text of its event and the error for its caller.
// Source: docs/decisions.md, 20, 21.

import { ServiceError } from "../../base/errors.ts";
import { ProviderError, toServiceError } from "../provider-error.ts";
import { AttemptsError } from "./attempts.ts";
import { ClientGone, clientGoneText } from "./call-signal.ts";

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
