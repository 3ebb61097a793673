// gRPC, gRPC-Web and Connect: the router's handlers behind our limits. Each rpc is registered with
// the body limit of its class; its body is metered on the way in.
// Called by routes.ts. Source: docs/decisions.md, 36.

import { type ContextValues, createConnectRouter } from "@connectrpc/connect";
import {
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import type { Reservation } from "../base/byte-budget.ts";
import { messageDepthMax } from "../base/limits.ts";
import { ServiceError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { rpcBodyClassOf } from "./access-rules.ts";
import { currentReservation } from "./admission.ts";
import { tooLarge } from "./body.ts";
import { rpcCompressions } from "./compression.ts";
import type { MethodImplSpec, UniversalHandler } from "./connect-adapter.ts";
import { answerMetadataKey } from "./context.ts";
import {
  discardRest,
  endStream,
  type Exchange,
  hasUnreadBody,
  headerOf,
  type NodeRequest,
} from "./exchange.ts";
import { toConnectError } from "./interceptors/errors.ts";
import { protocolKey } from "./interceptors/log.ts";
import type { CallOptions } from "./plain-call.ts";

export type RpcOptions = CallOptions & {
  readonly specs: readonly MethodImplSpec[];
  readonly logger: Logger;
};

export type RpcServer = {
  /** Returns the handler of a request; none where path, HTTP method or content type is foreign. */
  find(exchange: Exchange): UniversalHandler | undefined;
  /** Answers a request that `find` knows; never throws. */
  serve(exchange: Exchange, handler: UniversalHandler, values: ContextValues): Promise<void>;
};

/** Bytes before each message of gRPC, gRPC-Web and Connect streams: a flag and a length. */
const envelopeBytes = 5;

export function createRpcServer(options: RpcOptions): RpcServer {
  const router = createConnectRouter({
    interceptors: [...options.interceptors],
    acceptCompression: rpcCompressions(),
    shutdownSignal: options.shutdownSignal,
    binaryOptions: { recursionLimit: messageDepthMax },
    jsonOptions: { recursionLimit: messageDepthMax },
    requestGate: async (context) => {
      const { method, protocolName, requestHeader, values } = context;
      values.set(protocolKey, protocolName);
      const metadata = { header: context.responseHeader, trailer: context.responseTrailer };
      values.set(answerMetadataKey, metadata);
      const header = (name: string): string | undefined => requestHeader.get(name) ?? undefined;
      const credentials = {
        httpMethod: context.requestMethod,
        authorization: header("authorization"),
        cookie: header("cookie"),
        origin: header("origin"),
        host: header("host"),
      };
      try {
        await options.gate({ method, protocol: protocolName, credentials, values });
      } catch (error) {
        throw options.mapError(error);
      }
    },
  });
  for (const { method, impl } of options.specs) {
    const readMaxBytes = options.bodyLimits[rpcBodyClassOf(method)];
    router.rpc(method, impl as never, { readMaxBytes });
  }
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return {
    find(exchange) {
      const handler = handlers.get(exchange.path);
      if (!handler?.allowedMethods.includes(exchange.httpMethod)) return undefined;
      const contentType = headerOf(exchange.request, "content-type") ?? "";
      const isGet = exchange.httpMethod === "GET";
      return isGet || handler.supportedContentType(contentType) ? handler : undefined;
    },
    serve: (exchange, handler, values) => serve(options, exchange, handler, values),
  };
}

async function serve(
  options: RpcOptions,
  exchange: Exchange,
  handler: UniversalHandler,
  values: ContextValues,
): Promise<void> {
  const { request, response } = exchange;
  const startedAtMs = performance.now();
  const reservation = options.admission.open();
  response.once("close", () => reservation.release());
  const fail = (error: ServiceError): Error => {
    const { method } = handler;
    const protocol = values.get(protocolKey);
    options.callLog.end({ method, protocol, values, startedAtMs, error });
    return toConnectError(error);
  };
  try {
    const universal = universalRequestFromNodeRequest(request, response, undefined, values);
    const body = (universal.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    // Connect would refuse a body by this header, in words of its own and unlogged; the meter does.
    if (isDeclaredOver(exchange, bytesMaxOf(handler, options))) {
      universal.header.delete("content-length");
    }
    const metered = meterBody(body, exchange, handler, options, reservation, fail);
    const answer = await currentReservation.run(reservation, () =>
      handler({ ...universal, body: metered }),
    );
    await universalResponseToNodeResponse(
      withBodyRead(withPlainMessage(answer), request, body),
      response,
    );
  } catch (error) {
    // Here the answer itself failed to be written; there is no one left to tell.
    options.logger.debug({ err: error }, "an RPC answer could not be written");
    response.destroy();
  }
}

type UniversalAnswer = Awaited<ReturnType<UniversalHandler>>;

/** Behind an answer, body bytes that nobody has read are thrown away; then the exchange ends. */
function withBodyRead(
  answer: UniversalAnswer,
  request: NodeRequest,
  body: AsyncIterator<Uint8Array>,
): UniversalAnswer {
  if (!hasUnreadBody(request)) return answer;
  const isHttp2 = request.httpVersionMajor >= 2;
  if (!isHttp2) answer.header?.set("connection", "close");
  async function* thenDiscard(bytes: UniversalAnswer["body"]): AsyncIterable<Uint8Array> {
    if (bytes) yield* bytes;
    if (!hasUnreadBody(request)) return;
    const discarded = discardRest(body);
    // gRPC's status follows the last byte, and must not wait.
    if (isHttp2) void discarded.then(() => endStream(request));
    else await discarded;
  }
  return { ...answer, body: thenDiscard(answer.body) };
}

/**
 * Connect percent-encodes more of `grpc-message` than gRPC asks for, and @grpc/grpc-js decodes no
 * more than gRPC asks for: its callers would read `limit%3A must be`.
 */
function withPlainMessage(answer: UniversalAnswer): UniversalAnswer {
  const { body, trailer } = answer;
  if (!body || !trailer) return answer;
  async function* untilTrailer(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    yield* bytes;
    const message = trailer?.get("grpc-message");
    if (message) trailer?.set("grpc-message", formatGrpcMessage(decodeURIComponent(message)));
  }
  return { ...answer, body: untilTrailer(body) };
}

/** gRPC over HTTP/2, "Percent-Encoded": printable ASCII other than `%` stands for itself. */
function formatGrpcMessage(message: string): string {
  return message.replace(/[^\x20-\x24\x26-\x7e]/gu, encodeURIComponent);
}

function bytesMaxOf({ method }: UniversalHandler, { bodyLimits }: RpcOptions): number {
  return bodyLimits[rpcBodyClassOf(method)];
}

function isDeclaredOver({ request }: Exchange, bytesMax: number): boolean {
  return Number(headerOf(request, "content-length")) > bytesMax + envelopeBytes;
}

/** Passes a body on while it is in time, within its limit and within the bytes in flight. */
async function* meterBody(
  body: AsyncIterator<Uint8Array>,
  exchange: Exchange,
  handler: UniversalHandler,
  options: RpcOptions,
  reservation: Reservation,
  fail: (error: ServiceError) => Error,
): AsyncIterable<Uint8Array> {
  // A bidirectional stream may rightly be silent for long, and has no size as a whole.
  const { methodKind } = handler.method;
  const isBounded = methodKind === "unary" || methodKind === "server_streaming";
  const bytesMax = bytesMaxOf(handler, options);
  const isEnveloped = !isPlainConnect(headerOf(exchange.request, "content-type") ?? "");
  let head = Buffer.alloc(0);
  let total = 0;
  try {
    if (isBounded && isDeclaredOver(exchange, bytesMax)) throw tooLarge(bytesMax);
    for (;;) {
      const next = await (isBounded ? inTime(body.next(), options.bodyStallMs) : body.next());
      if (next.done) return;
      total += next.value.length;
      if (isEnveloped && head.length < envelopeBytes) {
        head = Buffer.concat([head, next.value.subarray(0, envelopeBytes)]);
        const isRead = head.length >= envelopeBytes;
        if (isRead && head.readUInt32BE(1) > bytesMax) throw tooLarge(bytesMax);
      }
      if (isBounded) {
        if (total > bytesMax + envelopeBytes) throw tooLarge(bytesMax);
        reservation.grow(next.value.length);
      }
      yield next.value;
    }
  } catch (error) {
    throw error instanceof ServiceError ? fail(error) : error;
  }
}

/** Connect's unary calls carry the message bare; everything else comes in envelopes. */
function isPlainConnect(contentType: string): boolean {
  return /^application\/(json|proto)\b/i.test(contentType) || contentType === "";
}

async function inTime<T>(next: Promise<T>, stallMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new ServiceError("BODY_TIMEOUT", `no byte of the body came for ${stallMs} ms`));
    }, stallMs);
  });
  try {
    return await Promise.race([next, stalled]);
  } finally {
    clearTimeout(timer);
  }
}
