// Where each request goes: an RPC handler, a REST route, an OTLP path, a page, health and the API
// document, else the fixed 404. The listener that transport.ts gives to server.ts.
// Source: docs/decisions.md, 10.

import { type ContextValues, createContextValues } from "@connectrpc/connect";
import { createUuid } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import { compressBody, type Encoding } from "./compression.ts";
import { connectionKey, requestIdKey } from "./context.ts";
import type { Cors } from "./cors.ts";
import {
  createExchange,
  type Exchange,
  headerOf,
  type NodeRequest,
  type NodeResponse,
  writeAnswer,
} from "./exchange.ts";
import type { OtlpRoute } from "./otlp/route.ts";
import type { PageRoute } from "./pages.ts";
import { notFoundAnswer } from "./rest/error-body.ts";
import type { Transcoder } from "./rest/transcoder.ts";
import type { RpcServer } from "./rpc.ts";

/** Whether the service can do its work now; `missing` names what it waits for. */
export type Readiness = {
  readonly ready: boolean;
  readonly missing: readonly string[];
  /** What is away for some callers only. */
  readonly degraded: readonly string[];
};

export type RoutesOptions = {
  readonly rpc: RpcServer;
  readonly transcoder: Transcoder;
  /** Undefined where the service takes no traces. */
  readonly otlp: OtlpRoute | undefined;
  /** Undefined where the service has no pages of its own. */
  readonly pages: PageRoute | undefined;
  readonly cors: Cors;
  readonly readiness: () => Promise<Readiness>;
  /** The OpenAPI document, as JSON text. */
  readonly openapi: Uint8Array;
  readonly logger: Logger;
};

export type RequestListener = (request: NodeRequest, response: NodeResponse) => void;

const requestIdHeader = "x-request-id";
const requestIdPattern = /^[\x21-\x7e]{1,128}$/;

/** Returns the listener. It never throws: what escapes every catch becomes a bare 500. */
export function createRequestListener(options: RoutesOptions): RequestListener {
  const fixed = fixedTable(options);
  return (request, response) => {
    // Errors on a connection that broke; the reader or writer of the moment sees them too.
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
  // Unlike an Authorization header, a cookie does not keep shared caches from storing the answer.
  if (request.headers.cookie !== undefined) response.setHeader("cache-control", "no-store");
  if (options.cors.handle(request, response)) return;
  const handler = options.rpc.find(exchange);
  if (handler) return options.rpc.serve(exchange, handler, values);
  const match = options.transcoder.find(exchange);
  if (match) return options.transcoder.serve(exchange, match, values);
  if (options.otlp?.matches(exchange)) return options.otlp.serve(exchange, values);
  if (options.pages?.matches(exchange)) return options.pages.serve(exchange);
  const answer = exchange.httpMethod === "GET" ? fixed[exchange.path] : undefined;
  if (answer) return answer(exchange);
  const { status, body } = notFoundAnswer();
  options.logger.debug({ request_id: values.get(requestIdKey) }, "no such route");
  await writeAnswer(exchange, { status, headers: { "content-type": jsonType }, body });
}

type FixedTable = Readonly<Record<string, (exchange: Exchange) => Promise<void>>>;

const jsonType = "application/json";

function fixedTable({ readiness, openapi }: RoutesOptions): FixedTable {
  const compress = compressedOnce(openapi);
  const document = { status: 200, headers: { "content-type": jsonType }, body: openapi, compress };
  const fixed: FixedTable = {
    "/healthz": (exchange) => writeJson(exchange, 200, { status: "ok" }),
    "/readyz": async (exchange) => {
      const { ready, missing, degraded } = await readiness();
      const body = {
        status: ready ? "ok" : "unavailable",
        ...(ready ? {} : { missing }),
        ...(degraded.length === 0 ? {} : { degraded }),
      };
      await writeJson(exchange, ready ? 200 : 503, body);
    },
    "/openapi.json": (exchange) => writeAnswer(exchange, document),
  };
  return Object.assign(Object.create(null) as object, fixed);
}

/** Unread answers of one document share its bytes, and cost no work. */
function compressedOnce(body: Uint8Array): (encoding: Encoding) => Promise<Uint8Array> {
  const compressed = new Map<Encoding, Promise<Uint8Array>>();
  return (encoding) => {
    const known = compressed.get(encoding) ?? compressBody(encoding, body);
    compressed.set(encoding, known);
    return known;
  };
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

/** An HTTP/2 request has a socket object of its own, so its connection is the session. */
function connectionOf(request: NodeRequest): object {
  return "stream" in request ? (request.stream.session ?? request.socket) : request.socket;
}

/** Takes the caller's id where it is printable, and says it back, to find the logs by. */
function setRequestId(exchange: Exchange, values: ContextValues): void {
  const given = headerOf(exchange.request, requestIdHeader);
  const requestId = given !== undefined && requestIdPattern.test(given) ? given : createUuid();
  values.set(requestIdKey, requestId);
  exchange.response.setHeader(requestIdHeader, requestId);
}

/**
 * HTTP/1.0 allows a request without Host, HTTP/1.1 one that is no authority; connect-node builds a
 * URL of it and throws. Nothing here reads the host, so any valid one will do.
 */
function repairHost(request: NodeRequest): void {
  if (request.httpVersionMajor >= 2) return;
  const { host } = request.headers;
  if (host === undefined || !URL.canParse(`http://${host}`)) request.headers.host = "localhost";
}
