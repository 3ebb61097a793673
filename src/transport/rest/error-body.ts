// The JSON form of errors, and the fixed 404, which is byte for byte the same for a denial, an
// absent resource, an unknown route and a wrong method.
// Source: docs/decisions.md, 9 and 10; base/errors.ts.

import { outcomes, type ServiceError } from "../../base/errors.ts";
import { headersOf, notFoundMessage, publicMessageOf } from "../interceptors/errors.ts";

export type ErrorAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

const notFound: ErrorAnswer = {
  status: 404,
  headers: {},
  body: Buffer.from(
    JSON.stringify({
      success: false,
      statusCode: 404,
      errorCode: "NOT_FOUND",
      message: notFoundMessage,
    }),
  ),
};

/** Returns the answer for an error. A 5xx has no message; a rejected batch has a special body. */
export function errorAnswer(error: ServiceError): ErrorAnswer {
  if (error.reason === "NOT_FOUND") return notFound;
  const { status } = outcomes[error.reason];
  const message = publicMessageOf(error);
  const body =
    error.reason === "BATCH_REJECTED" && error.details
      ? { ...error.details, success: false }
      : {
          success: false,
          statusCode: status,
          errorCode: error.reason,
          ...(message === "" ? {} : { message }),
          ...error.details,
        };
  return { status, headers: headersOf(error), body: Buffer.from(JSON.stringify(body)) };
}

/** Returns the fixed 404. */
export function notFoundAnswer(): ErrorAnswer {
  return notFound;
}
