// Converts errors of the Vercel AI SDK to ProviderError. The SDK's errors contain the request's
// headers and body, so only their text is kept. Source: docs/decisions.md, 21.4, 21.6.

import {
  APICallError,
  InvalidArgumentError,
  InvalidPromptError,
  UnsupportedFunctionalityError,
} from "@ai-sdk/provider";
import { ServiceError } from "../../../base/errors.ts";
import { causesOf, toNetworkError } from "../network-error.ts";
import { type Redactor, redactor } from "../redact.ts";
import { ProviderError, type ProviderErrorOptions, retryAfterOf } from "../../provider-error.ts";
import type { Target } from "../../provider.ts";

/**
 * Converts the errors that `doGenerate` and `doStream` throw, the errors of their streams, and the
 * `error` of a stream's error part. Returns, without secrets, a ProviderError, or INVALID_ARGUMENT
 * if the SDK says that this provider cannot take the request. A ProviderError or ServiceError that
 * passed through the SDK is returned unchanged. `isBegun`: a part of the answer has arrived, so the
 * request must not be sent again.
 */
export function toProviderError(
  error: unknown,
  { connection }: Pick<Target, "connection">,
  { isBegun = false }: { readonly isBegun?: boolean } = {},
): ProviderError | ServiceError {
  for (const one of causesOf(error)) {
    if (one instanceof ProviderError || one instanceof ServiceError) return one;
  }
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
  const what = clean.message(fault.what);
  return new ProviderError({
    ...fault,
    what,
    provider: connection.name,
    cause: causeOf(error, clean),
  });
}

/** Returns whether the SDK refused the request because the provider lacks a feature. */
function isRefusal(error: unknown): error is Error {
  return (
    UnsupportedFunctionalityError.isInstance(error) ||
    InvalidPromptError.isInstance(error) ||
    InvalidArgumentError.isInstance(error)
  );
}

type Fault = Omit<ProviderErrorOptions, "provider" | "body" | "cause">;

const malformed = {
  failure: "malformed",
  what: "answered in a form that its API does not have",
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
    what: `answered ${status}: ${words}`,
  };
}

/** Reads an error that arrived as an event of a stream, in the provider's form. */
function eventFaultOf(error: unknown, isBegun: boolean): Fault | undefined {
  if (error instanceof Error) return undefined;
  const words = wordsOf(error, eventDepthMax);
  if (words === undefined) return undefined;
  const what = `ended its answer with an error: ${words}`;
  const status = (error as { readonly statusCode?: unknown }).statusCode;
  if (typeof status === "number" && status >= 400) return { failure: "status", status, what };
  // An answer that begins with an error is one with a wrong status: a retry may help.
  return isBegun ? { failure: "broken", what } : { failure: "status", status: 502, what };
}

/** Depth of `{error: {message}}` and one level more. */
const eventDepthMax = 3;

function wordsOf(value: unknown, depth: number): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || depth === 0) return undefined;
  const { message, error } = value as { readonly message?: unknown; readonly error?: unknown };
  return typeof message === "string" ? message : wordsOf(error, depth - 1);
}

/** Returns the error for the log: the innermost text, unless it cites the model's answer. */
function causeOf(error: unknown, clean: Redactor): Error | undefined {
  const inner = causesOf(error).at(-1);
  if (!inner || inner instanceof SyntaxError) return undefined;
  return new Error(clean.message(`${inner.name}: ${inner.message}`));
}
