// The OpenAI API's form of errors, for the routes whose clients speak that API. Denied and absent
// are the fixed 404 here too. Called by transcoder.ts and http-body.ts.
// Source: the OpenAI API reference, "Error codes"; docs/decisions.md, 10, 21.

import { outcomes, type ServiceError } from "../../base/errors.ts";
import { headersOf, publicMessageOf } from "../interceptors/errors.ts";
import { type ErrorAnswer, notFoundAnswer } from "./error-body.ts";

/**
 * Returns the answer to a failure: what a provider answered where one did, else
 * `{error: {message, type, param, code}}`, the code our reason. A 5xx of ours has no message.
 */
export function openAiErrorAnswer(error: ServiceError): ErrorAnswer {
  if (error.reason === "NOT_FOUND") return notFoundAnswer();
  const headers = headersOf(error);
  if (error.relayed) {
    const { status, contentType, body } = error.relayed;
    return {
      status,
      headers: { ...headers, "content-type": contentType },
      body: Buffer.from(body),
    };
  }
  const { status } = outcomes[error.reason];
  return { status, headers, body: Buffer.from(JSON.stringify(openAiErrorBody(error))) };
}

/** Returns the JSON form of a failure of ours. */
export function openAiErrorBody(error: ServiceError): object {
  const type = outcomes[error.reason].status < 500 ? "invalid_request_error" : "server_error";
  const message = publicMessageOf(error);
  // Clients that meet an error in a stream look whether there is a message at all.
  const text = message === "" ? error.reason : message;
  return { error: { message: text, type, param: null, code: error.reason } };
}
