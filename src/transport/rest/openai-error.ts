// The OpenAI API's form of errors, for routes with clients of that API. A denied or absent resource
// is the fixed 404 here too.
// Source: the OpenAI API reference, "Error codes"; docs/decisions.md, 10, 21.1.

import { outcomes, type ServiceError } from "../../base/errors.ts";
import { headersOf, publicMessageOf } from "../interceptors/errors.ts";
import { type ErrorAnswer, notFoundAnswer } from "./error-body.ts";

/**
 * Returns the answer for an error: the provider's own answer if there is one, else the form
 * `{error: {message, type, param, code}}` with our reason as code, save for a spent budget. The
 * message of our 5xx is the reason.
 */
export function openAiErrorAnswer(error: ServiceError): ErrorAnswer {
  if (error.reason === "NOT_FOUND") return notFoundAnswer();
  // OpenAI's clients would ask again within seconds; a budget renews in hours or days.
  const isSpent = error.reason === "BUDGET_EXHAUSTED";
  const headers = { ...headersOf(error), ...(isSpent && { "x-should-retry": "false" }) };
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

/** Returns the JSON form of an error of this service. */
export function openAiErrorBody(error: ServiceError): object {
  const type = typeOf(error);
  const message = publicMessageOf(error);
  // In a stream, clients recognize an error only if it has a message.
  const text = message === "" ? error.reason : message;
  return { error: { message: text, type, param: null, code: codeOf(error) } };
}

/** Type and code in OpenAI's API of a spent quota. */
const spentQuota = "insufficient_quota";

function typeOf({ reason }: ServiceError): string {
  if (reason === "BUDGET_EXHAUSTED") return spentQuota;
  return outcomes[reason].status < 500 ? "invalid_request_error" : "server_error";
}

function codeOf({ reason }: ServiceError): string {
  return reason === "BUDGET_EXHAUSTED" ? spentQuota : reason;
}
