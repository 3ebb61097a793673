// Converts errors of the Vercel AI SDK to ProviderError. The SDK's errors contain the request's
// headers and body, so only their text is kept. Source: docs/decisions.md, 21.4, 21.6.

import {
  APICallError,
  InvalidArgumentError,
  InvalidPromptError,
  UnsupportedFunctionalityError,
} from "@ai-sdk/provider";
import { ServiceError } from "../../../base/errors.ts";
import { toNetworkError } from "../network-error.ts";
import { type Redactor, redactor } from "../redact.ts";
import { ProviderError, type ProviderErrorOptions } from "../../provider-error.ts";
import type { Target } from "../../provider.ts";

export type ToProviderErrorOptions = {
  /** Whether a part of the answer has arrived: the request must not be sent again. */
  readonly isBegun?: boolean;
};

/**
 * Converts the errors that `doGenerate` and `doStream` throw, the errors of their streams, and the
 * `error` of a stream's error part. Returns, without secrets, a ProviderError, or INVALID_ARGUMENT
 * if the SDK says that this provider cannot take the request. A ProviderError or ServiceError that
 * passed through the SDK is returned unchanged.
 */
export function toProviderError(
  error: unknown,
  { connection }: Pick<Target, "connection">,
  { isBegun = false }: ToProviderErrorOptions = {},
): ProviderError | ServiceError {
  const own = chainOf(error).find((one) => isOurs(one));
  if (own) return own;
  const clean = redactor(connection);
  if (isRefusal(error)) {
    const words = clean.message(error.message);
    const message = `messages: provider ${connection.name} cannot take the request: ${words}`;
    return new ServiceError("INVALID_ARGUMENT", message);
  }
  const status = APICallError.isInstance(error) ? (error.statusCode ?? 0) : 0;
  if (status < 300) {
    const phase = isBegun || status > 0 ? "body" : "head";
    const network = toNetworkError(error, connection, phase);
    if (network) return network;
  }
  const fault = faultOf(error, isBegun);
  return new ProviderError({
    ...fault,
    message: `provider ${connection.name} ${clean.message(fault.message)}`,
    provider: connection.name,
    cause: causeOf(error, clean),
  });
}

function isOurs(error: unknown): error is ProviderError | ServiceError {
  return error instanceof ProviderError || error instanceof ServiceError;
}

/** Returns whether the SDK refused the request because the provider lacks a feature. */
function isRefusal(error: unknown): error is Error {
  return (
    UnsupportedFunctionalityError.isInstance(error) ||
    InvalidPromptError.isInstance(error) ||
    InvalidArgumentError.isInstance(error)
  );
}

/** Failure; the message continues after the provider's name. */
type Fault = Pick<ProviderErrorOptions, "failure" | "status" | "retryAfterSeconds" | "message">;

const malformed = {
  failure: "malformed",
  message: "answered in a form that its API does not have",
} as const;

function faultOf(error: unknown, isBegun: boolean): Fault {
  if (!APICallError.isInstance(error)) return eventFaultOf(error, isBegun) ?? malformed;
  const { statusCode: status = 0, data, message, responseBody = "", responseHeaders } = error;
  if (status < 300) return malformed;
  // Without `data` the body has an undocumented form: its text says more.
  const words = data === undefined && responseBody.trim() !== "" ? responseBody : message;
  return {
    failure: "status",
    status,
    retryAfterSeconds: retryAfterOf(responseHeaders?.["retry-after"]),
    message: `answered ${status}: ${words}`,
  };
}

/** Reads an error that arrived as an event of a stream, in the provider's form. */
function eventFaultOf(error: unknown, isBegun: boolean): Fault | undefined {
  if (error instanceof Error) return undefined;
  const words = wordsOf(error, eventDepthMax);
  if (words === undefined) return undefined;
  const message = `ended its answer with an error: ${words}`;
  const status = (error as { readonly statusCode?: unknown }).statusCode;
  if (typeof status === "number" && status >= 400) return { failure: "status", status, message };
  // An answer that begins with an error is one with a wrong status: a retry may help.
  return isBegun ? { failure: "broken", message } : { failure: "status", status: 502, message };
}

/** Depth of `{error: {message}}` and one level more. */
const eventDepthMax = 3;

function wordsOf(value: unknown, depth: number): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || depth === 0) return undefined;
  const { message, error } = value as { readonly message?: unknown; readonly error?: unknown };
  return typeof message === "string" ? message : wordsOf(error, depth - 1);
}

const chainMax = 8;

function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  let one = error;
  while (one instanceof Error && chain.length < chainMax) {
    chain.push(one);
    one = one.cause;
  }
  return chain;
}

/** Returns the error for the log: the innermost text, unless it cites the model's answer. */
function causeOf(error: unknown, clean: Redactor): Error | undefined {
  const inner = chainOf(error).at(-1);
  if (!inner || inner instanceof SyntaxError) return undefined;
  return new Error(clean.message(`${inner.name}: ${inner.message}`));
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
