// Calls of a running service for commands, each made once: what fails is said in the service's own
// words.

import { STATUS_CODES } from "node:http";
import { isJsonObject, type JsonObject, tryParseJson } from "../base/json.ts";
import { OperatorError } from "../base/operator-error.ts";
import { codeOf } from "../base/error-code.ts";
import type { z } from "zod";
import type { CallOptions } from "./service-call.ts";

/** Request of one call. */
export type ServiceCall = {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Query parameters; absent values are left out, a list is repeated. */
  readonly query?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  /** JSON, or the bytes of a file. */
  readonly body?: object | ReadableStream<Uint8Array>;
  /** Media types other than JSON. An answer of another type than `accept` is refused. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Maximum time of the whole call; default one minute, 0 means no limit. */
  readonly timeoutMs?: number;
};

export type ServiceClient = {
  /**
   * Returns a successful response. Throws PassingFault where the same call may succeed later, and
   * OperatorError for any other answer.
   */
  open(call: ServiceCall): Promise<Response>;
  /** Returns the answer's text. */
  read(call: ServiceCall): Promise<string>;
  /** Returns the answer as it came, if it has the shape; throws OperatorError for another one. */
  readAs<Shape extends z.ZodType>(call: ServiceCall, shape: Shape): Promise<z.output<Shape>>;
};

/** No answer, one that broke off, or a status that says so: the same call may succeed later. */
export class PassingFault extends OperatorError {
  override readonly name = "PassingFault";
  /** Wait that the service asks for; undefined where it asks for none. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { retryAfterMs, cause }: PassingFaultOptions) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

type PassingFaultOptions = { readonly retryAfterMs?: number | undefined; readonly cause?: unknown };

/** Returns whether a status says that the same call may succeed later. */
export function isPassing(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

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
      throw new PassingFault(`${url} cannot be reached: ${reasonOf(cause)}`, { cause });
    });
    assertWaggle(url, response, headers?.["accept"]);
    if (response.ok) return response;
    const answer = toAnswer(response, await orBrokenOff(response.text()));
    const said = `${method} ${path}: ${response.status}: ${messageOf(answer)}${adviceOn(response)}`;
    if (!isPassing(response.status)) throw new OperatorError(said);
    throw new PassingFault(said, { retryAfterMs: retryAfterMsOf(response) });
  }
  async function read(call: ServiceCall): Promise<string> {
    return orBrokenOff((await open(call)).text());
  }
  return {
    open,
    read,
    async readAs(call, shape) {
      const answer = tryParseJson(await read(call));
      const parsed = shape.safeParse(answer);
      // Not `parsed.data`, in which the shape's keys would come first.
      if (parsed.success) return answer as typeof parsed.data;
      const { method, path } = call;
      throw new OperatorError(
        `${url} answers ${method} ${path} in another form than Waggle's${isItRight}`,
      );
    },
  };
}

const isItRight = ": is --url right?";

/** Returns the wait that an answer asks for: seconds or an HTTP date (RFC 9110, 10.2.3). */
export function retryAfterMsOf({ headers }: Response): number | undefined {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
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

/** Waits for the body of an answer. Throws PassingFault if it does not come to its end. */
export async function orBrokenOff<T>(body: Promise<T>): Promise<T> {
  return body.catch((cause: unknown) => {
    throw new PassingFault(`the answer broke off: ${reasonOf(cause)}`, { cause });
  });
}

/** Returns the object of an answer; for another text, such as a balancer's page, what it means. */
export function toAnswer({ status }: Response, text: string): JsonObject {
  const value = tryParseJson(text);
  return isJsonObject(value) ? value : { message: STATUS_CODES[status] ?? "no message" };
}

/**
 * Throws OperatorError for an answer that Waggle does not give: a redirection, which would lose the
 * body of a call, a page, or another type than `accept`. A balancer's page passes if its status
 * says that Waggle is away, or that the request is too large or one too many.
 */
export function assertWaggle(url: string, { status, ok, headers }: Response, accept = ""): void {
  const type = headers.get("content-type") ?? "application/json";
  const target = status >= 300 && status < 400 ? (headers.get("location") ?? "") : undefined;
  if (target !== undefined) {
    const { origin } = new URL(target, url);
    throw new OperatorError(`${url} sends calls on to ${origin}: give the service's own --url`);
  }
  if (status >= 500 || balancerStatuses.has(status)) return;
  const isOurs = /^(application\/|text\/csv)/i.test(type);
  if (isOurs && (!ok || type.toLowerCase().startsWith(accept))) return;
  throw new OperatorError(`${url} answers with ${type}, as no Waggle does${isItRight}`);
}

function toBody(body: ServiceCall["body"]): RequestInit {
  if (body === undefined) return {};
  if (body instanceof ReadableStream) return { body, duplex: "half" };
  return { body: JSON.stringify(body) };
}

/** Returns why a call got no answer, such as `connect ECONNREFUSED 127.0.0.1:8080`. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  if (!(cause instanceof Error)) return message;
  // OpenSSL's message is a line of its own source.
  if (codeOf(cause) === "ERR_SSL_WRONG_VERSION_NUMBER") return "it speaks no TLS: is it http://?";
  return cause.message;
}

/** Returns what an error's answer says; the code of one without a message, such as a 503. */
export function messageOf(body: JsonObject): string {
  const { error, message, errorCode } = body;
  const inner = isJsonObject(error) ? error["message"] : error;
  const texts = [inner, message, errorCode];
  for (const text of texts) if (typeof text === "string" && text !== "") return text;
  return JSON.stringify(body).slice(0, 500);
}
