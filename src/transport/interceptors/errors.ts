// Errors on their way out: ServiceError to ConnectError by the outcomes table, with ErrorInfo; what
// nobody foresaw is logged with its cause and becomes INTERNAL. REST turns the same errors back.
// Source: docs/decisions.md, 10; base/errors.ts.

import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.js";
import { outcomes, type Reason, retryAfterSeconds, ServiceError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";

const errorDomain = "waggle";

/** The only words that a denied or absent thing is answered with. */
export const notFoundMessage = "Not found";

/** Trailers travel as HTTP headers, of which many clients take no more than 8 KiB in all. */
const detailCharsMax = 2_048;

/** Words may repeat what the caller sent, which may be megabytes; gRPC sends them in a trailer. */
const messageCharsMax = 2_048;

/** What Connect makes of a message of a stream of requests that is no Protobuf. */
const unreadableWords = "parse binary: ";

function reasonOf(error: ConnectError): Reason | undefined {
  if (error.rawMessage.startsWith(unreadableWords)) return "MALFORMED_BODY";
  return connectReasons[error.code];
}

export type ErrorMapper = (error: unknown) => ConnectError;

export type ErrorMapperOptions = {
  readonly logger: Logger;
  /** Returns the reason for an error that tells that the database is away or too slow. */
  readonly findDatabaseFault: (error: unknown) => Reason | undefined;
};

/** Returns the text that a caller may see: none on 5xx, one constant where denied or absent. */
export function publicMessageOf(error: ServiceError): string {
  if (error.reason === "NOT_FOUND") return notFoundMessage;
  if (outcomes[error.reason].status >= 500) return "";
  const { message } = error;
  if (message.length <= messageCharsMax) return message;
  return `${message.slice(0, messageCharsMax).toWellFormed()}…`;
}

/** Returns headers that belong to a failure: `retry-after` on every 503. */
export function headersOf(
  error: Pick<ServiceError, "reason" | "retryAfterSeconds">,
): Readonly<Record<string, string>> {
  const isBusy = outcomes[error.reason].status === 503;
  const seconds = error.retryAfterSeconds ?? (isBusy ? retryAfterSeconds : undefined);
  return seconds === undefined ? {} : { "retry-after": String(seconds) };
}

/** Converts a known failure; the ServiceError stays as the cause. */
export function toConnectError(error: ServiceError): ConnectError {
  const info = create(ErrorInfoSchema, {
    reason: error.reason,
    domain: errorDomain,
    metadata: toMetadata(error.details ?? {}),
  });
  return new ConnectError(
    publicMessageOf(error),
    outcomes[error.reason].code,
    headersOf(error),
    [{ desc: ErrorInfoSchema, value: info }],
    error,
  );
}

/** Returns the ServiceError inside a ConnectError, or the nearest one for Connect's own errors. */
export function serviceErrorOf(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (!(error instanceof ConnectError)) return new ServiceError("INTERNAL", "", { cause: error });
  if (error.cause instanceof ServiceError) return error.cause;
  const reason = reasonOf(error) ?? "INTERNAL";
  return new ServiceError(reason, error.rawMessage, { cause: error });
}

/** Reasons of errors without one: those of Connect itself, and the health protocol's NotFound. */
const connectReasons: { readonly [C in Code]?: Reason } = {
  [Code.InvalidArgument]: "MALFORMED_BODY",
  [Code.ResourceExhausted]: "BODY_TOO_LARGE",
  [Code.DeadlineExceeded]: "DEADLINE_EXCEEDED",
  [Code.NotFound]: "NOT_FOUND",
  [Code.Unimplemented]: "NOT_FOUND",
};

/** Returns the function that turns anything thrown into what an RPC protocol can answer. */
export function createErrorMapper(options: ErrorMapperOptions): ErrorMapper {
  return (error) => {
    if (error instanceof ServiceError) return toConnectError(error);
    // Mapped already, by the interceptor; what is outside it sees the error again.
    if (error instanceof ConnectError && error.cause instanceof ServiceError) return error;
    const connectError = ConnectError.from(error);
    // It came through here before, nearer to the handler.
    if (connectError.cause instanceof ServiceError) return connectError;
    // The caller went away: nothing failed here and nobody reads the answer.
    if (connectError.code === Code.Canceled) return connectError;
    if (isCutStream(error)) return new ConnectError("", Code.Canceled, undefined, undefined, error);
    if (error instanceof ConnectError && reasonOf(error)) {
      return toConnectError(serviceErrorOf(error));
    }
    const fault = options.findDatabaseFault(error);
    if (fault !== undefined) {
      options.logger.warn({ err: error }, "the database does not answer");
      return toConnectError(new ServiceError(fault, "", { cause: error }));
    }
    options.logger.error({ err: error }, "a call failed for an unknown cause");
    return toConnectError(new ServiceError("INTERNAL", "", { cause: error }));
  };
}

export function createErrorInterceptor(mapError: ErrorMapper): Interceptor {
  return (next) => async (request) => {
    try {
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: mapStream(response.message, mapError) };
    } catch (error) {
      throw mapError(error);
    }
  };
}

async function* mapStream<T>(messages: AsyncIterable<T>, mapError: ErrorMapper): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (error) {
    throw mapError(error);
  }
}

/** ErrorInfo holds texts only; a list is cut, since REST is where all of it is answered. */
function toMetadata(details: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(details).map(([key, value]) => [
      key,
      (typeof value === "string" ? value : JSON.stringify(value)).slice(0, detailCharsMax),
    ]),
  );
}

/** What Node throws where a caller's connection, or its stream of one, ends in the middle. */
const cutCodes: ReadonlySet<unknown> = new Set([
  "ERR_STREAM_PREMATURE_CLOSE",
  "ERR_STREAM_DESTROYED",
  "ERR_HTTP2_INVALID_STREAM",
]);

/** What Connect makes of a stream that the caller resets with another code than CANCEL. */
const resetWords = "http/2 stream closed with error code";

function isCutStream(error: unknown): boolean {
  if (error instanceof ConnectError) return error.rawMessage.startsWith(resetWords);
  return error instanceof Error && "code" in error && cutCodes.has(error.code);
}
