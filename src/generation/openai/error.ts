// Converts error answers of the OpenAI API to ProviderError, without secrets.
// Source: the OpenAI API reference, "Error codes"; docs/decisions.md, 21.1, 21.6.

import { isJsonObject, type JsonValue, tryParseJson } from "../../base/json.ts";
import { type Redactor, redactor } from "../providers/redact.ts";
import { ProviderError, retryAfterOf } from "../provider-error.ts";
import type { Connection } from "../provider.ts";
import type { ReadAnswer } from "./answer.ts";

/** Maximum bytes of an error body that are read. */
export const errorBytesMax = 65_536;

/** Converts an answer with an error status. `body` may be cut at `errorBytesMax`. */
export function statusFault(
  connection: Connection,
  status: number,
  retryAfter: string | undefined,
  body: Uint8Array,
): ProviderError {
  const clean = redactor(connection);
  const cleansed = clean.body(body);
  // Without a byte order mark.
  const text = new TextDecoder().decode(cleansed);
  const json = tryParseJson(text);
  const error = isJsonObject(json) ? json["error"] : undefined;
  const isOpenAi = isJsonObject(error) && typeof error["message"] === "string";
  const words = clean.message(wordsOf(json) ?? text.trim());
  return new ProviderError({
    failure: "status",
    status,
    what: `answered ${status}${words === "" ? "" : `: ${words}`}`,
    provider: connection.name,
    retryAfterSeconds: retryAfterOf(retryAfter),
    ...(isOpenAi && { body: relayedBody(cleansed, json, clean) }),
  });
}

/** Creates the error of a failed request that a provider answered with status 200. */
export function failedAnswer(connection: Connection, body: Uint8Array): ProviderError {
  return statusFault(connection, 502, undefined, body.subarray(0, errorBytesMax));
}

/** Returns the body for the client, formatted again if JSON escapes hid a secret in it. */
function relayedBody(bytes: Uint8Array, json: JsonValue | undefined, clean: Redactor): Uint8Array {
  const anew = Buffer.from(JSON.stringify(json));
  const cleansed = clean.body(anew);
  return anew.equals(cleansed) ? bytes : cleansed;
}

/** Creates the error of an unusable answer; `what` continues "answered". */
export function malformedFault(
  { name: provider }: Connection,
  what: string,
  answer?: ReadAnswer,
): ProviderError {
  return new ProviderError({ failure: "malformed", provider, what: `answered ${what}`, answer });
}

/** Creates the error of a chat that has no choice; `answer` is what it says besides. */
export function withoutChoices(connection: Connection, answer?: ReadAnswer): ProviderError {
  return malformedFault(connection, "with a chat without choices", answer);
}

/** Creates the error of a stream or answer that ends in its middle. */
export function brokenOff(
  { name: provider }: Connection,
  what = "broke off",
  answer?: ReadAnswer,
): ProviderError {
  return new ProviderError({ failure: "broken", provider, what, answer });
}

/** Creates the error of a stream that ends with an event that reports a failure. */
export function streamErrorFault(
  connection: Connection,
  json: JsonValue | undefined,
): ProviderError {
  const words = wordsOf(json);
  const said = words === undefined ? "" : `: ${redactor(connection).message(words)}`;
  return brokenOff(connection, `broke off with an error${said}`);
}

/** Creates the error of an answer of the Responses API whose model failed. */
export function failedResponse(connection: Connection, error: JsonValue): ProviderError {
  const words = wordsOf({ error });
  const said = words === undefined ? "" : `: ${redactor(connection).message(words)}`;
  return brokenOff(connection, `answered that the model failed${said}`);
}

/** Returns the message of an error body; servers like OpenAI's put it into different members. */
function wordsOf(json: JsonValue | undefined): string | undefined {
  if (!isJsonObject(json)) return undefined;
  const { error, message, detail } = json;
  const inner = isJsonObject(error) ? error["message"] : error;
  return [inner, message, detail].find((words) => typeof words === "string");
}
