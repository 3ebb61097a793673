// A call to a provider that failed, whichever way it was made: what happened, whether another try
// may help, and what each kind of caller is told. Thrown by chat and proxy alike; read by
// calls/attempts.ts.
// Source: docs/decisions.md, 20, 21.

import { type RelayedAnswer, ServiceError } from "../base/errors.ts";

export type ProviderFailure =
  /** It answered with an error status. */
  | "status"
  /** No connection, or one that ended before the first byte of an answer. */
  | "connection"
  /** No answer, or no more of it, in time. */
  | "timeout"
  /** An answer that is none: no JSON, no events, too large. */
  | "malformed"
  /** A stream that ended in the middle. */
  | "broken"
  /** Its address is private and not the operator's. */
  | "address"
  /** Its answer, with those of other calls, is more than there is memory for. */
  | "overloaded";

export type ProviderErrorOptions = {
  readonly failure: ProviderFailure;
  /** For people; without secrets, and the provider's own words where it said some. */
  readonly message: string;
  /** Name of the connection. */
  readonly provider: string;
  readonly status?: number | undefined;
  /** Whole seconds that the provider asks to wait. */
  readonly retryAfterSeconds?: number | undefined;
  /** The provider's error body where it is JSON of the OpenAI API's form, without secrets. */
  readonly body?: Uint8Array | undefined;
  readonly cause?: unknown;
};

export class ProviderError extends Error {
  readonly failure: ProviderFailure;
  readonly provider: string;
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly body: Uint8Array | undefined;

  constructor(options: ProviderErrorOptions) {
    super(options.message, { cause: options.cause });
    this.name = "ProviderError";
    this.failure = options.failure;
    this.provider = options.provider;
    this.status = options.status;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.body = options.body;
  }
}

/** Tells whether the same request may succeed at the same provider a little later. */
export function isRetriable({ failure, status }: ProviderError): boolean {
  if (failure === "status") return status === 429 || status === 408 || (status ?? 0) >= 500;
  return failure === "connection" || failure === "timeout";
}

/** Tells whether another provider may do what this one did not: everything but a bad request. */
export function mayFallBack(error: ProviderError): boolean {
  const { failure, status = 0 } = error;
  // Elsewhere an answer would take the same memory.
  if (failure === "overloaded") return false;
  return failure !== "status" || isRetriable(error) || deniedStatuses.has(status) || status === 404;
}

const deniedStatuses: ReadonlySet<number> = new Set([401, 403]);

/**
 * Statuses that the API keeps for itself (docs/spec.md, Errors), and what a client of the proxy is
 * answered in their place: of the same class, and no reason to try again.
 */
const reserved: Readonly<Record<number, number>> = { 401: 424, 403: 424, 404: 400 };

/** Returns what a caller is told. The cause is kept for the log. */
export function toServiceError(error: ProviderError): ServiceError {
  const { failure, status = 0, retryAfterSeconds, message } = error;
  const relayed = relayedOf(error);
  const options = { cause: error, retryAfterSeconds, relayed };
  if (failure === "timeout" || status === 408 || status === 504) {
    return new ServiceError("PROVIDER_TIMEOUT", message, options);
  }
  if (failure === "overloaded") return new ServiceError("OVERLOADED", message, options);
  if (status === 429) return new ServiceError("PROVIDER_LIMITED", message, options);
  const isRefused = failure === "status" && status < 500 && !deniedStatuses.has(status);
  return new ServiceError(isRefused ? "PROVIDER_REJECTED" : "PROVIDER_FAILED", message, options);
}

/** What a client of the OpenAI API reads: the provider's own words, in OpenAI's form. */
function relayedOf(error: ProviderError): RelayedAnswer | undefined {
  const { failure, status, body, message, provider } = error;
  if (failure !== "status" || status === undefined || status < 400) return undefined;
  const isDenied = deniedStatuses.has(status);
  // The provider speaks of a key that is not the caller's.
  const text = isDenied ? `provider ${provider} refused its credentials` : message;
  const type = status < 500 ? "invalid_request_error" : "server_error";
  const own = { error: { message: text, type, param: null, code: null } };
  return {
    status: reserved[status] ?? status,
    contentType: "application/json",
    body: body === undefined || isDenied ? Buffer.from(JSON.stringify(own)) : body,
  };
}
