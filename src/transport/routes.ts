// The request listener: sends each request to an RPC handler, a REST route, an OTLP path, a page,
// health or the API document, else answers the fixed 404. Source: docs/decisions.md, 10.

import { type ContextValues, createContextValues } from "@connectrpc/connect";
import { createUuid } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import { compressBody, type Encoding } from "./compression.ts";
import { connectionKey, requestIdKey } from "../access/call.ts";
import { formatReadiness } from "../observability/readiness.ts";
import type { Cors } from "./cors.ts";
import {
  type Answer,
  createExchange,
  type Exchange,
  headerOf,
  isRead,
  type NodeRequest,
  type NodeResponse,
  writeAnswer,
} from "./exchange.ts";
import type { OtlpRoute } from "./otlp/route.ts";
import type { PageRoute } from "./pages.ts";
import { notFoundAnswer } from "./rest/error-body.ts";
import type { Transcoder } from "./rest/transcoder.ts";
import type { RpcServer } from "./rpc.ts";

/** Whether the service is ready; `missing` names the dependencies that it waits for. */
export type Readiness = {
  readonly ready: boolean;
  readonly missing: readonly string[];
  /** Names of the clusters that are down. */
  readonly degraded: readonly string[];
};

export type RoutesOptions = {
  readonly rpc: RpcServer;
  readonly transcoder: Transcoder;
  /** OTLP route; undefined if the service takes no traces. */
  readonly otlp: OtlpRoute | undefined;
  /** Pages; undefined if the service has none. */
  readonly pages: PageRoute | undefined;
  /** The web app; undefined if the service has none. */
  readonly web: PageRoute | undefined;
  readonly cors: Cors;
  readonly readiness: () => Promise<Readiness>;
  /** Returns the OpenAPI document, as JSON text; the first request for it calls this. */
  readonly openapi: () => Uint8Array;
  readonly logger: Logger;
};

export type RequestListener = (request: NodeRequest, response: NodeResponse) => void;

const requestIdHeader = "x-request-id";
const requestIdPattern = /^[\x21-\x7e]{1,128}$/;

/** Returns the request listener. It never throws: an uncaught error becomes a bare 500. */
export function createRequestListener(options: RoutesOptions): RequestListener {
  const fixed = fixedTable(options);
  return (request, response) => {
    // Errors on a broken connection; the current reader or writer sees them too.
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    void dispatch(options, fixed, request, response).catch((error: unknown) => {
      options.logger.error({ err: error }, "a request escaped every handler");
      if (!response.headersSent) response.writeHead(500).end();
      else response.destroy();
    });
  };
}

async function dispatch(
  options: RoutesOptions,
  fixed: FixedTable,
  request: NodeRequest,
  response: NodeResponse,
): Promise<void> {
  repairHost(request);
  const exchange = createExchange(request, response);
  const values = createContextValues();
  setRequestId(exchange, values);
  values.set(connectionKey, connectionOf(request));
  // Unlike an Authorization header, a cookie does not stop shared caches from storing the answer.
  if (request.headers.cookie !== undefined) response.setHeader("cache-control", "no-store");
  if (options.cors.handle(request, response)) return;
  const handler = options.rpc.find(exchange);
  if (handler) return options.rpc.serve(exchange, handler, values);
  // Before REST, which has `POST /v1/metrics` too.
  if (options.otlp?.matches(exchange)) return options.otlp.serve(exchange, values);
  const match = options.transcoder.find(exchange);
  if (match) return options.transcoder.serve(exchange, match, values);
  if (options.pages?.matches(exchange)) return options.pages.serve(exchange);
  if (options.web?.matches(exchange)) return options.web.serve(exchange);
  const answer = isRead(exchange) ? fixed[exchange.path] : undefined;
  if (answer) return answer(exchange);
  const { status, body } = notFoundAnswer();
  options.logger.debug({ request_id: values.get(requestIdKey) }, "no such route");
  await writeAnswer(exchange, { status, headers: { "content-type": jsonType }, body });
}

type FixedTable = Readonly<Record<string, (exchange: Exchange) => Promise<void>>>;

const jsonType = "application/json";

function fixedTable({ readiness, openapi }: RoutesOptions): FixedTable {
  let document: Answer | undefined;
  const fixed: FixedTable = {
    "/healthz": (exchange) => writeJson(exchange, 200, { status: "ok" }),
    "/readyz": async (exchange) => {
      const state = await readiness();
      await writeJson(exchange, state.ready ? 200 : 503, formatReadiness(state));
    },
    "/openapi.json": (exchange) => writeAnswer(exchange, (document ??= documentOf(openapi()))),
  };
  return Object.assign(Object.create(null) as object, fixed);
}

/** Compresses the document once per encoding, so that all its answers share the bytes. */
function documentOf(body: Uint8Array): Answer {
  const compressed = new Map<Encoding, Promise<Uint8Array>>();
  const compress = (encoding: Encoding) => {
    const known = compressed.get(encoding) ?? compressBody(encoding, body);
    compressed.set(encoding, known);
    return known;
  };
  return { status: 200, headers: { "content-type": jsonType }, body, compress };
}

async function writeJson(exchange: Exchange, status: number, body: unknown): Promise<void> {
  await writeAnswer(exchange, {
    status,
    headers: {
      "content-type": jsonType,
      "cache-control": "no-store",
      ...(status === 503 ? { "retry-after": "1" } : {}),
    },
    body: Buffer.from(JSON.stringify(body)),
  });
}

/**
 * Returns the connection of a request. With HTTP/2 it is the session, since each request has a
 * separate socket object.
 */
function connectionOf(request: NodeRequest): object {
  return "stream" in request ? (request.stream.session ?? request.socket) : request.socket;
}

/**
 * Sets the request id: the caller's if it is printable, else a new one. The answer repeats it, so
 * that callers can find the logs.
 */
function setRequestId(exchange: Exchange, values: ContextValues): void {
  const given = headerOf(exchange.request, requestIdHeader);
  const requestId = given !== undefined && requestIdPattern.test(given) ? given : createUuid();
  values.set(requestIdKey, requestId);
  exchange.response.setHeader(requestIdHeader, requestId);
}

/**
 * Replaces a missing or invalid Host header, which HTTP/1.0 and HTTP/1.1 allow, because
 * connect-node would build a URL from it and throw. The service never reads the host, so any valid
 * value works.
 */
function repairHost(request: NodeRequest): void {
  if (request.httpVersionMajor >= 2) return;
  const { host } = request.headers;
  if (host === undefined || !URL.canParse(`http://${host}`)) request.headers.host = "localhost";
}
