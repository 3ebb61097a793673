// Failure of a chat: the error text of its event and the error for its caller.
// Source: docs/decisions.md, 20.

import { ServiceError } from "../../base/errors.ts";
import { AttemptsError } from "../calls/attempts.ts";
import { ProviderError, toServiceError } from "../provider-error.ts";
import { ClientGone, clientGoneText } from "../calls/call-signal.ts";

export type Failure = {
  /** `error` of the event, in the form `REASON: text`. */
  readonly text: string;
  readonly thrown: unknown;
};

/** Returns the failure of a chat; after an abort of the call's signal, its reason. */
export function failureOf(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted) return endOf(signal.reason);
  if (error instanceof ClientGone) return endOf(error);
  const cause = error instanceof AttemptsError ? (error.error ?? error) : error;
  if (cause instanceof ProviderError) return toFailure(toServiceError(cause));
  if (cause instanceof ServiceError) return toFailure(cause);
  return { text: "INTERNAL: the answer could not be read", thrown: error };
}

/** The time-out aborts with a ServiceError, the client's signal with an error of its protocol. */
function endOf(reason: unknown): Failure {
  if (reason instanceof ServiceError) return toFailure(reason);
  return { text: clientGoneText(reason), thrown: reason };
}

function toFailure(error: ServiceError): Failure {
  return { text: `${error.reason}: ${error.message}`, thrown: error };
}
