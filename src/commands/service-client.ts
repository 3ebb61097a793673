// Calls of a running service for commands, each made once: what fails is said in the service's own
// words.

import { STATUS_CODES } from "node:http";
import { isJsonObject, type JsonObject, tryParseJson } from "../base/json.ts";
import { OperatorError } from "../base/operator-error.ts";
import type { CallOptions } from "./service-call.ts";

/** Request of one call. */
export type ServiceCall = {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Query parameters; absent values are left out, a list is repeated. */
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  /** JSON, or the bytes of a file. */
  readonly body?: object | ReadableStream<Uint8Array>;
  /** Media types other than JSON. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Maximum time of the whole call; default one minute, 0 means no limit. */
  readonly timeoutMs?: number;
};

export type ServiceClient = {
  /** Returns a successful response. Throws OperatorError for any other. */
  open(call: ServiceCall): Promise<Response>;
  /** Returns the answer's text. */
  read(call: ServiceCall): Promise<string>;
};

const timeoutMsDefault = 60_000;
const balancerStatuses = new Set([408, 413, 429]);

export function createServiceClient({ url, key }: CallOptions): ServiceClient {
  async function open(call: ServiceCall): Promise<Response> {
    const { method, path, query = {}, body, headers, timeoutMs = timeoutMsDefault } = call;
    const target = new URL(path, url);
    for (const [name, value] of Object.entries(query)) {
      for (const one of [value ?? []].flat()) target.searchParams.append(name, String(one));
    }
    const response = await fetch(target, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        ...headers,
      },
      ...toBody(body),
      redirect: "manual",
      ...(timeoutMs > 0 && { signal: AbortSignal.timeout(timeoutMs) }),
    }).catch((cause: unknown) => {
      const { cause: fault } = cause as Error;
      // The error of the body's stream: its file cannot be read to the end.
      if (fault instanceof OperatorError) throw fault;
      throw new OperatorError(`${url} cannot be reached: ${reasonOf(cause)}`, { cause });
    });
    assertWaggle(url, response);
    if (response.ok) return response;
    const answer = toAnswer(response, await orBrokenOff(response.text()));
    const said = `${response.status}: ${messageOf(answer)}${adviceOn(response)}`;
    throw new OperatorError(`${method} ${path}: ${said}`);
  }
  return {
    open,
    read: async (call) => orBrokenOff((await open(call)).text()),
  };
}

/** Returns the way out of a refusal: what to check, or when to call again. */
function adviceOn({ status, headers }: Response): string {
  if (status === 404) return adviceOn404;
  const seconds = headers.get("retry-after") ?? "";
  return /^\d+$/.test(seconds) ? `; try again in ${seconds} s` : "";
}

/** What to check after the fixed 404, which says no more. */
export const adviceOn404 =
  "; the key of --key-file or WAGGLE_API_KEY is wrong, has ended or may not do this, or its " +
  "project does not have what was asked for";

/** Waits for the body of an answer. Throws OperatorError if it does not come to its end. */
export async function orBrokenOff<T>(body: Promise<T>): Promise<T> {
  return body.catch((cause: unknown) => {
    throw new OperatorError(`the answer broke off: ${reasonOf(cause)}`, { cause });
  });
}

/** Returns the object of an answer; for another text, such as a balancer's page, what it means. */
export function toAnswer({ status }: Response, text: string): JsonObject {
  const value = tryParseJson(text);
  return isJsonObject(value) ? value : { message: STATUS_CODES[status] ?? "no message" };
}

/**
 * Throws OperatorError for an answer that Waggle does not give: a redirection, which would lose the
 * body of a call, or a page. A balancer's page passes if its status says that Waggle is away, or
 * that the request is too large or one too many.
 */
export function assertWaggle(url: string, { status, headers }: Response): void {
  const type = headers.get("content-type") ?? "application/json";
  const target = status >= 300 && status < 400 ? (headers.get("location") ?? "") : undefined;
  if (target !== undefined) {
    const { origin } = new URL(target, url);
    throw new OperatorError(`${url} sends calls on to ${origin}: give the service's own --url`);
  }
  if (status >= 500 || balancerStatuses.has(status)) return;
  if (/^(application\/|text\/csv)/i.test(type)) return;
  throw new OperatorError(`${url} answers with ${type}, as no Waggle does: is --url right?`);
}

function toBody(body: ServiceCall["body"]): RequestInit {
  if (body === undefined) return {};
  if (body instanceof ReadableStream) return { body, duplex: "half" };
  return { body: JSON.stringify(body) };
}

/** Returns why a call got no answer, such as `connect ECONNREFUSED 127.0.0.1:8080`. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message : message;
}

/** Returns what an error's answer says; the code of one without a message, such as a 503. */
export function messageOf(body: JsonObject): string {
  const { error, message, errorCode } = body;
  const inner = isJsonObject(error) ? error["message"] : error;
  const texts = [inner, message, errorCode];
  for (const text of texts) if (typeof text === "string" && text !== "") return text;
  return JSON.stringify(body).slice(0, 500);
}
