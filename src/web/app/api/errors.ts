// Errors of calls as pages show them: the service's own code and message, and what a person can do.

import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../../../gen/google/rpc/error_details_pb.js";

export class ApiError extends Error {
  override readonly name = "ApiError";
  /**
   * Reason of the service, such as `NOT_FOUND` or `INVALID_FILTER`; `UNREACHABLE` without an
   * answer.
   */
  readonly errorCode: string;
  /** Name of the requested field if no event has a value in it; undefined for other errors. */
  readonly unrecordedField: string | undefined;
  /** Advice for the person; a full sentence. */
  readonly advice: string;
  /** Whether the same call may succeed when it is sent again. */
  readonly isTransient: boolean;

  constructor(
    message: string,
    { errorCode, unrecordedField, isTransient, cause }: ApiErrorOptions,
  ) {
    super(message, { cause });
    this.errorCode = errorCode;
    this.unrecordedField = unrecordedField;
    this.isTransient = isTransient;
    this.advice = advices[errorCode] ?? (isTransient ? tryAgain : defaultAdvice);
  }
}

type ApiErrorOptions = {
  readonly errorCode: string;
  readonly unrecordedField?: string | undefined;
  readonly isTransient: boolean;
  readonly cause?: unknown;
};

const tryAgain = "Try again in a moment; nothing was lost.";
const defaultAdvice = "Change what the message names, and send it again.";

const advices: Readonly<Record<string, string>> = {
  UNREACHABLE: "Check the connection and that the service runs, then try again.",
  NOT_FOUND: "It was deleted, or it is not open to you: ask an administrator for a role there.",
  INTERNAL: "The service has logged the cause. Try again; if it stays, tell its operator.",
  CHANGED_ELSEWHERE: "It is shown as it is stored now: change it again.",
  BODY_TOO_LARGE: "Send less at once.",
  BUDGET_EXHAUSTED: "Wait until it renews, or have its amount raised in the project's settings.",
  KEY_REVOKED: "Create another key in its place: a revoked one cannot be brought back.",
  TEST_LIMITED: "Wait an hour, then send it again.",
  ANSWER_TOO_LARGE: "Narrow the filters or the time range.",
  DEADLINE_EXCEEDED: "Narrow the filters or the time range, then try again.",
};

const transientCodes: readonly Code[] = [
  Code.Unavailable,
  Code.DeadlineExceeded,
  Code.Aborted,
  Code.Internal,
  Code.Unknown,
];

/** Returns any thrown value as an ApiError. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const connectError = ConnectError.from(error);
  const [info] = connectError.findDetails(ErrorInfoSchema);
  // The browser says no more of a call that got no answer than that it failed.
  const isUnanswered = error instanceof ConnectError && error.cause instanceof TypeError;
  const { errorCode, message } = isUnanswered
    ? { errorCode: "UNREACHABLE", message: "The service does not answer." }
    : (toForeign(connectError) ?? toSpoken(connectError, info?.reason));
  const isTransient = isUnanswered || transientCodes.includes(connectError.code);
  const unrecordedField = info?.metadata["unrecorded_field"];
  return new ApiError(message, { errorCode, unrecordedField, isTransient, cause: error });
}

/** Answers of proxies that a person can do something about, by status. */
const foreignAnswers: Readonly<Record<string, Spoken>> = {
  "413": { errorCode: "BODY_TOO_LARGE", message: "A proxy refused so large a request." },
  "429": { errorCode: "TOO_MANY_REQUESTS", message: "There were too many requests at once." },
};

type Spoken = { readonly errorCode: string; readonly message: string };

/**
 * Returns words for an answer that the service did not write, such as the page of a proxy: the
 * library knows nothing of it but the status or the type.
 */
function toForeign({ rawMessage }: ConnectError): Spoken | undefined {
  const [, status] = /^HTTP (\d+)$/.exec(rawMessage) ?? [];
  if (status === undefined && !rawMessage.startsWith("unsupported content type")) return undefined;
  const detail = status === undefined ? "with a page of its own" : `with status ${status}`;
  const message = `A proxy in front of the service answered in its place, ${detail}.`;
  return foreignAnswers[status ?? ""] ?? { errorCode: "UNREACHABLE", message };
}

/** Returns whether the page itself cancelled the call; such an error is not shown. */
export function isCancelled(error: unknown): boolean {
  if (error instanceof ApiError) return isCancelled(error.cause);
  return ConnectError.from(error).code === Code.Canceled;
}

function codeNames(code: Code): string {
  return Code[code].replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}

function toSpoken({ code, rawMessage }: ConnectError, reason = codeNames(code)): Spoken {
  const unexplained =
    reason === "NOT_FOUND" ? "There is no such thing here." : `The service answered ${reason}.`;
  return { errorCode: reason, message: rawMessage || unexplained };
}
