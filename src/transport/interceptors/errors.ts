// Maps errors of calls: a ServiceError becomes a ConnectError by the outcomes table, with ErrorInfo
// and BadRequest; an unknown error is logged and becomes INTERNAL. REST converts them back.
// Source: docs/decisions.md, 10; base/errors.ts.

import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.js";
import { outcomes, type Reason, retryAfterSeconds, ServiceError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";

const errorDomain = "waggle";

/** The only message for a denied or absent resource. */
export const notFoundMessage = "Not found";

/**
 * Maximum characters of a detail. Details are sent as HTTP headers, and many clients accept at most
 * 8 KiB of all headers.
 */
const detailCharsMax = 2_048;

/**
 * Maximum characters of a message, which may repeat megabytes of the request. gRPC sends it in a
 * trailer.
 */
const messageCharsMax = 2_048;

/** Maximum characters of a field's path and of its fault, which a message has in full. */
const violationCharsMax = 256;

/** Maximum fields of a rejected batch that are named; its message and REST have the others. */
const violationsMax = 4;

/** Start of Connect's message for invalid Protobuf in a stream of requests. */
const unreadableWords = "parse binary: ";

function reasonOf(error: ConnectError): Reason | undefined {
  if (error.rawMessage.startsWith(unreadableWords)) return "MALFORMED_BODY";
  return connectReasons[error.code];
}

export type ErrorMapper = (error: unknown) => ConnectError;

export type ErrorMapperOptions = {
  readonly logger: Logger;
  /** Returns the reason of an error if the database is unavailable or too slow. */
  readonly findDatabaseFault: (error: unknown) => Reason | undefined;
};

/** Reasons of the service's own failures whose messages tell callers what to do. */
const explained: ReadonlySet<Reason> = new Set(["DEADLINE_EXCEEDED", "NOT_IMPLEMENTED"]);

/** Returns the text that a caller may see: empty for 5xx, one constant for denied or absent. */
export function publicMessageOf(error: ServiceError): string {
  if (error.reason === "NOT_FOUND") return notFoundMessage;
  const isOfService = outcomes[error.reason].status >= 500;
  if (isOfService && !explained.has(error.reason)) return "";
  const { message } = error;
  if (message.length <= messageCharsMax) return message;
  return `${message.slice(0, messageCharsMax).toWellFormed()}…`;
}

/** Returns the headers of an error: `retry-after` on every 503. */
export function headersOf(
  error: Pick<ServiceError, "reason" | "retryAfterSeconds">,
): Readonly<Record<string, string>> {
  const isBusy = outcomes[error.reason].status === 503;
  const seconds = error.retryAfterSeconds ?? (isBusy ? retryAfterSeconds : undefined);
  return seconds === undefined ? {} : { "retry-after": String(seconds) };
}

/** Converts a known error; the ServiceError stays as the cause. */
export function toConnectError(error: ServiceError): ConnectError {
  const info = create(ErrorInfoSchema, {
    reason: error.reason,
    domain: errorDomain,
    metadata: toMetadata(error.details ?? {}),
  });
  const fieldViolations = violationsOf(error);
  return new ConnectError(
    publicMessageOf(error),
    outcomes[error.reason].code,
    headersOf(error),
    [
      { desc: ErrorInfoSchema, value: info },
      ...(fieldViolations.length > 0
        ? [{ desc: BadRequestSchema, value: { fieldViolations } }]
        : []),
    ],
    error,
  );
}

type Violation = { readonly field: string; readonly description: string };

/**
 * Returns the fields that a refusal names: the message of one begins with the path of its field and
 * a colon, and so does each error of a rejected batch.
 */
function violationsOf(error: ServiceError): Violation[] {
  const { reason, details } = error;
  const isOfRequest = outcomes[reason].code === Code.InvalidArgument;
  if (!isOfRequest || reason === "PROVIDER_REJECTED") return [];
  const errors = reason === "BATCH_REJECTED" ? details?.["errors"] : undefined;
  const texts = Array.isArray(errors) ? (errors as string[]) : [error.message];
  return texts.slice(0, violationsMax).flatMap((text) => {
    const end = text.indexOf(": ");
    const field = text.slice(0, Math.max(end, 0));
    if (field === "" || field.length > violationCharsMax || /\s/.test(field)) return [];
    const description = text.slice(end + 2, end + 2 + violationCharsMax).toWellFormed();
    return [{ field: field.toWellFormed(), description }];
  });
}

/** Returns the ServiceError inside a ConnectError, or the nearest one for Connect's own errors. */
export function serviceErrorOf(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (!(error instanceof ConnectError)) return new ServiceError("INTERNAL", "", { cause: error });
  if (error.cause instanceof ServiceError) return error.cause;
  const reason = reasonOf(error) ?? "INTERNAL";
  return new ServiceError(reason, error.rawMessage, { cause: error });
}

/** Reasons of errors without one: Connect's own errors, and NotFound of the health protocol. */
const connectReasons: { readonly [C in Code]?: Reason } = {
  [Code.InvalidArgument]: "MALFORMED_BODY",
  [Code.ResourceExhausted]: "BODY_TOO_LARGE",
  [Code.DeadlineExceeded]: "DEADLINE_EXCEEDED",
  [Code.NotFound]: "NOT_FOUND",
  [Code.Unimplemented]: "NOT_FOUND",
};

/** Returns the function that maps any thrown value to an error that RPC protocols can answer. */
export function createErrorMapper(options: ErrorMapperOptions): ErrorMapper {
  return (error) => {
    if (error instanceof ServiceError) return toConnectError(error);
    // The interceptor has already mapped it; outer layers see the error again.
    if (error instanceof ConnectError && error.cause instanceof ServiceError) return error;
    const connectError = ConnectError.from(error);
    // It was mapped before, nearer to the handler.
    if (connectError.cause instanceof ServiceError) return connectError;
    // The caller left: nothing failed here, and the answer has no reader.
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

/**
 * Converts details to texts, because ErrorInfo has only texts. Long lists are cut; REST answers
 * them in full.
 */
function toMetadata(details: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(details).map(([key, value]) => [
      key,
      (typeof value === "string" ? value : JSON.stringify(value)).slice(0, detailCharsMax),
    ]),
  );
}

/** Error codes of Node for a connection or an HTTP/2 stream that the caller ends early. */
const cutCodes: ReadonlySet<unknown> = new Set([
  "ERR_STREAM_PREMATURE_CLOSE",
  "ERR_STREAM_DESTROYED",
  "ERR_HTTP2_INVALID_STREAM",
]);

/** Start of Connect's message for a stream that the caller resets with a code other than CANCEL. */
const resetWords = "http/2 stream closed with error code";

function isCutStream(error: unknown): boolean {
  if (error instanceof ConnectError) return error.rawMessage.startsWith(resetWords);
  return error instanceof Error && "code" in error && cutCodes.has(error.code);
}
