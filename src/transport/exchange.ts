// One HTTP request with its answer, the same for HTTP/1.1 and HTTP/2, and how an answer is written:
// compressed if the client accepts it, and with the connection closed after an unread body.

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { constants, type Http2ServerRequest } from "node:http2";
import type { Credentials } from "../access/authenticate.ts";
import type { Reservation } from "../base/byte-budget.ts";
import { compressBody, type Encoding, encodingFor } from "./compression.ts";
import { endAnswer, isGone } from "./write.ts";

export type NodeRequest = IncomingMessage | Http2ServerRequest;
/** Type of both responses: HTTP/2's has the methods of HTTP/1.1's, and a union is not callable. */
export type NodeResponse = ServerResponse;

export type Exchange = {
  readonly request: NodeRequest;
  readonly response: NodeResponse;
  readonly httpMethod: string;
  /** Path of the target, still percent-encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
};

export type Answer = {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Uint8Array;
  /**
   * Compresses the body in place of the default, for a body that never changes and is cached
   * compressed.
   */
  readonly compress?: (encoding: Encoding) => Promise<Uint8Array>;
};

/**
 * Maximum body bytes, and maximum time, that are discarded after an early answer so that the client
 * reads it. Many clients send the whole body before they read. The bytes are those of the largest
 * body class.
 */
const lingerBytesMax = 64_000_000;
const lingerMs = 2_000;

/** Splits the request target; the absolute form (`GET http://host/path`) is a path too. */
export function createExchange(request: NodeRequest, response: NodeResponse): Exchange {
  const target = (request.url ?? "/").replace(/^https?:\/\/[^/?#]*/i, "");
  const mark = target.indexOf("?");
  return {
    request,
    response,
    httpMethod: request.method ?? "",
    path: mark < 0 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1)),
  };
}

/** Returns the credentials of a request and the headers that verify its origin. */
export function credentialsOf({ request, httpMethod }: Exchange): Credentials {
  return {
    httpMethod,
    authorization: headerOf(request, "authorization") ?? bearerOf(headerOf(request, "x-api-key")),
    cookie: headerOf(request, "cookie"),
    origin: headerOf(request, "origin"),
    host: headerOf(request, "host") ?? headerOf(request, ":authority"),
  };
}

/** Anthropic's clients send a key alone, in a header of its own. */
function bearerOf(key: string | undefined): string | undefined {
  return key === undefined ? undefined : `Bearer ${key}`;
}

/** Returns the value of a header; the first one if there are several. */
export function headerOf(request: NodeRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Returns the request headers as Fetch `Headers`, without HTTP/2's pseudo-headers. */
export function headersOf(request: NodeRequest): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.startsWith(":") || value === undefined) continue;
    for (const one of Array.isArray(value) ? value : [value]) headers.append(name, one);
  }
  return headers;
}

/** Returns whether the request has unread body bytes. */
export function hasUnreadBody(request: NodeRequest): boolean {
  if (request.complete || request.readableEnded) return false;
  if (request.httpVersionMajor >= 2) return !request.readableEnded;
  const { "content-length": length, "transfer-encoding": transfer } = request.headers;
  return transfer !== undefined || (length !== undefined && length !== "0");
}

/**
 * Writes a whole answer and resolves when it is on its way to the client; `memory` counts the
 * answer until then. A disconnected client is not an error; a client that reads nothing is cut off.
 * Fails with OVERLOADED, before anything is written, if there is no memory for the answer.
 */
export async function writeAnswer(
  exchange: Exchange,
  answer: Answer,
  memory?: Reservation,
): Promise<void> {
  const { request, response } = exchange;
  memory?.grow(answer.body.length);
  const encoding = encodingFor(answer.body.length, headerOf(request, "accept-encoding"));
  const compress = answer.compress ?? ((name: Encoding) => compressBody(name, answer.body));
  const body = encoding ? await compress(encoding) : answer.body;
  if (isGone(response) || response.headersSent) return;
  const isUnread = hasUnreadBody(request);
  if (isUnread && request.httpVersionMajor < 2) response.setHeader("connection", "close");
  response.writeHead(answer.status, {
    ...answer.headers,
    ...(encoding ? { "content-encoding": encoding } : {}),
    ...(answer.body.length > 0 ? { vary: varyOf(response) } : {}),
    "content-length": body.length,
  });
  if (isUnread && request.httpVersionMajor < 2) {
    // Closing at once would reset the connection, and the client could lose the answer.
    response.write(body);
    await discardBody(request);
    await endAnswer(response);
    return;
  }
  await endAnswer(response, body);
  if (isUnread) void discardBody(request).then(() => endStream(request));
}

/**
 * Closes an HTTP/2 stream after its answer if the client still sends: a half-open stream would live
 * as long as the connection. The code NO_ERROR says that nothing failed (RFC 9113, 8.1).
 */
export function endStream(request: NodeRequest): void {
  // A finished request no longer has its stream.
  const { stream } = request as Partial<Pick<Http2ServerRequest, "stream">>;
  if (stream && hasUnreadBody(request) && !stream.closed) stream.close(constants.NGHTTP2_NO_ERROR);
}

/** Returns whether a request is GET, or HEAD, which Node answers without a body. */
export function isRead({ httpMethod }: Pick<Exchange, "httpMethod">): boolean {
  return httpMethod === "GET" || httpMethod === "HEAD";
}

/** Returns the `Vary` of a compressible answer, beside that of CORS. */
export function varyOf(response: NodeResponse): string {
  const before = response.getHeader("vary");
  return before === undefined ? "accept-encoding" : `${String(before)}, accept-encoding`;
}

/**
 * Discards the rest of a body, within the bounds of `discardBody`: closing a connection or a stream
 * with unread bytes could lose the answer.
 */
export async function discardRest(chunks: AsyncIterator<Uint8Array>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), lingerMs);
  });
  try {
    for (let bytes = 0; bytes <= lingerBytesMax;) {
      const next = await Promise.race([chunks.next(), late]);
      if (next === undefined || next.done) return;
      bytes += next.value.length;
    }
  } catch {
    // The body broke off: the client has gone.
  } finally {
    clearTimeout(timer);
  }
}

/** Discards body bytes until the end of the body, the maximum bytes or the maximum time. */
function discardBody(request: NodeRequest): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const done = (): void => {
      clearTimeout(timer);
      request.off("data", count).off("end", done).off("close", done).off("error", done);
      resolve();
    };
    const timer = setTimeout(done, lingerMs);
    const count = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > lingerBytesMax) done();
    };
    request.on("data", count).once("end", done).once("close", done).once("error", done);
    request.resume();
  });
}
