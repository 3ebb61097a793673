// Error of a failed provider call: the kind of failure, whether a retry may help, and the answer
// that each kind of caller gets. Source: docs/decisions.md, 21.1, 21.4.

import { type RelayedAnswer, ServiceError } from "../base/errors.ts";
import type { ReadAnswer } from "./openai/answer.ts";

export type ProviderFailure =
  /** The provider answered with an error status. */
  | "status"
  /** No connection, or the connection ended before the first byte of the answer. */
  | "connection"
  /** The answer, or its next part, did not arrive in time. */
  | "timeout"
  /** The answer is unusable: no JSON, no events, or too large. */
  | "malformed"
  /** The stream ended in the middle. */
  | "broken"
  /** The provider's address is private and not allowed by the operator. */
  | "address"
  /** The answer does not fit into the memory that is left for answers. */
  | "overloaded";

export type ProviderErrorOptions = {
  readonly failure: ProviderFailure;
  /** Name of the connection. */
  readonly provider: string;
  /** Message without the provider's name and without secrets. */
  readonly what: string;
  readonly status?: number | undefined;
  /** Whole seconds that the provider asks to wait. */
  readonly retryAfterSeconds?: number | undefined;
  /** Error body of the provider without secrets, if it is JSON in the form of the OpenAI API. */
  readonly body?: Uint8Array | undefined;
  /** Content and usage of an answer that arrived whole and is unusable: the provider bills it. */
  readonly answer?: ReadAnswer | undefined;
  readonly cause?: unknown;
};

export class ProviderError extends Error {
  readonly failure: ProviderFailure;
  readonly provider: string;
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly body: Uint8Array | undefined;
  /** Private, because the log writes the other members of errors. */
  readonly #answer: ReadAnswer | undefined;

  constructor(options: ProviderErrorOptions) {
    super(`provider ${options.provider} ${options.what}`, { cause: options.cause });
    this.name = "ProviderError";
    this.failure = options.failure;
    this.provider = options.provider;
    this.status = options.status;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.body = options.body;
    this.#answer = options.answer;
  }

  get answer(): ReadAnswer | undefined {
    return this.#answer;
  }
}

/** Returns whether a retry of the same request at the same provider may succeed. */
export function isRetriable({ failure, status }: ProviderError): boolean {
  if (failure === "status") return status === 429 || status === 408 || (status ?? 0) >= 500;
  return failure === "connection" || failure === "timeout";
}

/** Returns whether another provider may succeed: after every failure except a bad request. */
export function mayFallBack(error: ProviderError): boolean {
  const { failure, status = 0 } = error;
  // The answer of another provider would need the same memory.
  if (failure === "overloaded") return false;
  return failure !== "status" || isRetriable(error) || deniedStatuses.has(status) || status === 404;
}

const deniedStatuses: ReadonlySet<number> = new Set([401, 403]);

/**
 * Provider statuses that have another meaning in our API (docs/spec.md, Errors), and the status
 * that the proxy answers instead: of the same class, and none that clients retry.
 */
const reserved: Readonly<Record<number, number>> = { 401: 424, 403: 424, 404: 400 };

/** Converts to the error that the caller gets. The cause is kept for the log. */
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

/**
 * Returns the answer for a client of the OpenAI API: the provider's body if it has OpenAI's form.
 */
function relayedOf(error: ProviderError): RelayedAnswer | undefined {
  const { failure, status, body, message, provider } = error;
  if (failure !== "status" || status === undefined || status < 400) return undefined;
  const isDenied = deniedStatuses.has(status);
  // The provider's text is about a key that does not belong to the caller.
  const text = isDenied ? `provider ${provider} refused its credentials` : message;
  const type = status < 500 ? "invalid_request_error" : "server_error";
  const own = { error: { message: text, type, param: null, code: null } };
  return {
    status: reserved[status] ?? status,
    contentType: "application/json",
    body: body === undefined || isDenied ? Buffer.from(JSON.stringify(own)) : body,
  };
}

const retryAfterSecondsMax = 3_600;

/** Reads `Retry-After`, which is a number of seconds or a date. */
export function retryAfterOf(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  const given = Number(text);
  const seconds = Number.isNaN(given) ? (Date.parse(text) - Date.now()) / 1_000 : given;
  if (!Number.isFinite(seconds) || seconds <= 0) return undefined;
  return Math.min(Math.ceil(seconds), retryAfterSecondsMax);
}
