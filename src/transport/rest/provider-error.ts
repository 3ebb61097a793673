// Forms of errors of the OpenAI API and of Anthropic's, for routes with clients of these APIs. A
// denied or absent resource is the fixed 404 here too.
// Source: the OpenAI API reference, "Error codes"; the Anthropic API reference, "Errors";
// docs/decisions.md, 10, 21.1, 21.9.

import { ErrorForm } from "../../../gen/waggle/v1/options_pb.js";
import { outcomes, type ServiceError } from "../../base/errors.ts";
import { headersOf, publicMessageOf } from "../interceptors/errors.ts";
import { type ErrorAnswer, notFoundAnswer } from "./error-body.ts";

/** Form of errors that clients of a provider's API read. */
export type ProviderForm = {
  /** Returns the JSON form of an error of this service. */
  readonly bodyOf: (error: ServiceError) => object;
  /** Name of the event that ends a failed stream; empty: none. */
  readonly eventName: string;
};

const openAiForm: ProviderForm = { bodyOf: openAiErrorBody, eventName: "" };

/** Anthropic's clients leave out events of a stream that have no name. */
const anthropicForm: ProviderForm = { bodyOf: anthropicErrorBody, eventName: "error" };

/** Forms of providers; undefined for Waggle's own. */
export const providerForms: Readonly<Record<ErrorForm, ProviderForm | undefined>> = {
  [ErrorForm.UNSPECIFIED]: undefined,
  [ErrorForm.OPENAI]: openAiForm,
  [ErrorForm.ANTHROPIC]: anthropicForm,
};

/**
 * Returns the answer for an error: the provider's own answer if there is one, else the form of the
 * provider's API with our reason as code, save for a spent budget. The message of our 5xx is the
 * reason.
 */
export function providerErrorAnswer(error: ServiceError, { bodyOf }: ProviderForm): ErrorAnswer {
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
  return { status, headers, body: Buffer.from(JSON.stringify(bodyOf(error))) };
}

/** Returns the last event of a failed stream. */
export function errorEvent(error: ServiceError, { bodyOf, eventName }: ProviderForm): Uint8Array {
  const name = eventName === "" ? "" : `event: ${eventName}\n`;
  return Buffer.from(`${name}data: ${JSON.stringify(bodyOf(error))}\n\n`);
}

function openAiErrorBody(error: ServiceError): object {
  return { error: partsOf(error, typeOf(error)) };
}

function anthropicErrorBody(error: ServiceError): object {
  const { status } = outcomes[error.reason];
  const type = anthropicTypes.get(status) ?? (status < 500 ? "invalid_request_error" : "api_error");
  return { type: "error", error: partsOf(error, type) };
}

/** Types of errors in Anthropic's API by the statuses that have one of their own. */
const anthropicTypes: ReadonlyMap<number, string> = new Map([
  [408, "timeout_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [503, "overloaded_error"],
  [504, "timeout_error"],
]);

function partsOf(error: ServiceError, type: string) {
  const message = publicMessageOf(error);
  // In a stream, clients recognize an error only if it has a message.
  const text = message === "" ? error.reason : message;
  return { message: text, type, param: null, code: codeOf(error) };
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
