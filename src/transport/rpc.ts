// gRPC, gRPC-Web and Connect: the router's handlers behind our limits. rpc-request.ts reads and
// decodes the request, an interceptor passes the message on, and Connect frames the answer.
// Source: docs/limits.md; docs/decisions.md, 36.1.

import type { DescMethod, Message } from "@bufbuild/protobuf";
import {
  type ContextValues,
  createConnectRouter,
  createContextKey,
  type Interceptor,
} from "@connectrpc/connect";
import { universalRequestFromNodeRequest } from "@connectrpc/connect-node";
import { messageDepthMax, requestStreamStalls, streamedCallBytes } from "../base/limits.ts";
import { refuse, ServiceError } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import { rpcBodyClassOf } from "./access-rules.ts";
import { rpcCompressions } from "./compression.ts";
import { hashedMessageBytesMax, setRequestDigest } from "./request-digest.ts";
import { free } from "./body-parts.ts";
import type { MethodImplSpec, UniversalHandler } from "./connect-adapter.ts";
import { answerMetadataKey, memoryKey, releaseAfterWork } from "../access/call.ts";
import {
  credentialsOf,
  discardRest,
  endStream,
  type Exchange,
  hasUnreadBody,
  headerOf,
} from "./exchange.ts";
import { protocolKey } from "./interceptors/log.ts";
import { onlyItem } from "./items.ts";
import { type CallOptions, openMemory } from "./plain-call.ts";
import {
  compressionOf,
  emptyMessage,
  type Framing,
  framingOf,
  readRpcMessage,
} from "./rpc-request.ts";
import { largeAnswers, writeRpcAnswer } from "./rpc-answer.ts";
import { breakOff } from "./write.ts";

export type RpcOptions = CallOptions & {
  readonly specs: readonly MethodImplSpec[];
  readonly logger: Logger;
};

export type RpcServer = {
  /**
   * Returns the handler of a request; undefined for an unknown path, HTTP method or content type.
   */
  find(exchange: Exchange): UniversalHandler | undefined;
  /** Answers a request for which `find` returned the handler; never throws. */
  serve(exchange: Exchange, handler: UniversalHandler, values: ContextValues): Promise<void>;
};

/** State of a call with which the gate reads the request after it has authenticated the caller. */
type RpcCall = {
  readonly exchange: Exchange;
  /** Undefined if Connect refuses the request or reads it itself. */
  readonly read: { readonly framing: Framing; readonly compression: string } | undefined;
  readonly startedAtMs: number;
};

const callKey = createContextKey<RpcCall | undefined>(undefined, { description: "the RPC call" });

const messageKey = createContextKey<Message | undefined>(undefined, {
  description: "the request message, decoded before Connect sees the call",
});

const answersInPieces = largeAnswers((values) => values.get(callKey)?.read?.framing);

export function createRpcServer(options: RpcOptions): RpcServer {
  const router = createConnectRouter({
    interceptors: [decodedMessage, answersInPieces, ...options.interceptors],
    acceptCompression: rpcCompressions(),
    shutdownSignal: options.shutdownSignal,
    binaryOptions: { recursionLimit: messageDepthMax, readUnknownFields: false },
    jsonOptions: { recursionLimit: messageDepthMax },
    requestGate: async (context) => {
      const { method, protocolName, values } = context;
      const call = values.get(callKey);
      if (!call) throw new Error("a call that was not begun");
      values.set(protocolKey, protocolName);
      const metadata = { header: context.responseHeader, trailer: context.responseTrailer };
      values.set(answerMetadataKey, metadata);
      try {
        const credentials = credentialsOf(call.exchange);
        await options.gate({ method, protocol: protocolName, credentials, values });
        await readCall(options, call, method, values);
      } catch (error) {
        // Frees the memory before the answer is written, so that a refused call makes room for
        // others.
        values.get(memoryKey)?.release();
        const { startedAtMs } = call;
        options.callLog.end({ method, protocol: protocolName, values, startedAtMs, error });
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

/** Opens the memory of a call with a known caller and reads the request into it. */
async function readCall(
  options: RpcOptions,
  { exchange, read }: RpcCall,
  method: DescMethod,
  values: ContextValues,
): Promise<void> {
  assertDeadline(exchange, values.get(protocolKey));
  const memory = openMemory(options, exchange, { values, bodyClass: rpcBodyClassOf(method) });
  if (!read) {
    openStreamed(exchange, method, values);
    return;
  }
  const { framing, compression } = read;
  const given = { ...options, memory };
  const request = await readRpcMessage(exchange, method, framing, compression, given);
  const { message, bytes, holdsBytes } = request;
  values.set(messageKey, message);
  if (bytes.length > hashedMessageBytesMax) setRequestDigest(exchange, values, bytes);
  if (!holdsBytes) free(bytes);
}

/**
 * Reserves memory for a stream of messages, which Connect reads itself. Refuses a unary or
 * server-streaming call with a foreign content type or an unknown compression.
 */
function openStreamed(exchange: Exchange, method: DescMethod, values: ContextValues): void {
  if (!isReadByUs(method)) {
    values.get(memoryKey)?.grow(streamedCallBytes);
    return;
  }
  const { encodingHeader } = framingOf(exchange) ?? {};
  if (encodingHeader === undefined) {
    throw new ServiceError("MALFORMED_BODY", "Content-Type: is not one of gRPC or Connect");
  }
  const known = rpcCompressions().map(({ name }) => name);
  const acceptHeader = encodingHeader.replace(/(content-)?encoding/, "accept-encoding");
  values.get(answerMetadataKey)?.header.set(acceptHeader, known.join(","));
  const message = `${encodingHeader}: must be ${known.join(", ")} or identity`;
  throw new ServiceError("NOT_IMPLEMENTED", message);
}

function isReadByUs({ methodKind }: DescMethod): boolean {
  return methodKind === "unary" || methodKind === "server_streaming";
}

/** Replaces the empty message that Connect has read by the decoded one. */
const decodedMessage: Interceptor = (next) => (request) => {
  const message = request.contextValues.get(messageKey);
  if (!message) return next(request);
  if (!request.stream) return next({ ...request, message });
  return next({ ...request, message: onlyItem(message) });
};

async function serve(
  options: RpcOptions,
  exchange: Exchange,
  handler: UniversalHandler,
  values: ContextValues,
): Promise<void> {
  const { request, response } = exchange;
  const read = readingOf(exchange, handler.method);
  values.set(callKey, { exchange, read, startedAtMs: performance.now() });
  try {
    const universal = universalRequestFromNodeRequest(request, response, undefined, values);
    removeDistantDeadline(universal.header);
    const bytes = (universal.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    const discard = (): Promise<void> => discardRest(bytes);
    const answer = await handler({
      ...universal,
      ...(read
        ? withoutMessage(exchange, universal, read.framing)
        : { body: streamed(bytes, options) }),
    });
    await writeRpcAnswer(exchange, answer, values, discard);
    // The status of gRPC follows the last byte of the answer and must not wait for the discarding.
    if (request.httpVersionMajor >= 2 && hasUnreadBody(request)) {
      void discard().then(() => endStream(request));
    }
  } catch (error) {
    // The answer itself could not be written, so no error can be sent either.
    options.logger.debug({ err: error }, "an RPC answer could not be written");
    breakOff(response);
  } finally {
    releaseAfterWork(values, values.get(memoryKey));
  }
}

/** Refuses a deadline of the wrong form, which Connect would refuse without a reason. */
function assertDeadline({ request }: Exchange, protocol: string): void {
  const { name, pattern, words } = deadlineForms[protocol === "connect" ? "connect" : "grpc"];
  const value = headerOf(request, name);
  if (value === undefined || pattern.test(value)) return;
  refuse(name, `must be ${words}`);
}

const deadlineForms = {
  connect: { name: "connect-timeout-ms", pattern: /^\d{1,10}$/, words: "1 to 10 digits" },
  grpc: {
    name: "grpc-timeout",
    pattern: /^\d{1,8}[HMSmun]$/,
    words: "1 to 8 digits and one of H, M, S, m, u and n",
  },
};

/** Longest time of a timer, which ends at once where it is set to more. */
const timerMsMax = 2 ** 31 - 1;

/** Removes a deadline over 24 days away, for which Connect would set a timer that ends at once. */
function removeDistantDeadline(header: Headers): void {
  for (const [name, pattern] of Object.entries(deadlinePatterns)) {
    const [, digits, unit = ""] = pattern.exec(header.get(name) ?? "") ?? [];
    if (Number(digits) * (unitMs[unit] ?? 1) > timerMsMax) header.delete(name);
  }
}

/** Forms of long deadlines; Connect reads the short ones. */
const deadlinePatterns = {
  "grpc-timeout": /^(\d{1,8})([HMS])$/,
  "connect-timeout-ms": /^(\d{1,10})$/,
};
const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000 };

function readingOf(exchange: Exchange, method: DescMethod): RpcCall["read"] {
  if (!isReadByUs(method)) return undefined;
  const framing = framingOf(exchange);
  const compression = framing && compressionOf(exchange, framing);
  return compression === undefined || !framing ? undefined : { framing, compression };
}

/** Returns the request for Connect, with an empty message in place of the one that we read. */
function withoutMessage(
  { httpMethod, query }: Exchange,
  { url, header }: { readonly url: string; readonly header: Headers },
  framing: Framing,
): { readonly body: AsyncIterable<Uint8Array>; readonly url: string } {
  header.delete(framing.encodingHeader);
  header.delete("content-length");
  const body = onlyItem(emptyMessage(framing));
  if (httpMethod !== "GET") return { body, url };
  const rest = new URLSearchParams(query);
  for (const name of ["base64", "compression"]) rest.delete(name);
  rest.set("message", Buffer.from(emptyMessage(framing)).toString());
  return { body, url: `${url.split("?", 1)[0] ?? ""}?${rest.toString()}` };
}

/**
 * Passes on the bytes of a client's stream to a method that takes a stream. Fails with BODY_TIMEOUT
 * if no bytes arrive within the stall time or if the whole stream takes too long. Unary calls come
 * here only to be refused by `readCall`.
 */
async function* streamed(
  bytes: AsyncIterator<Uint8Array>,
  { bodyStallMs, mapError }: Pick<RpcOptions, "bodyStallMs" | "mapError">,
): AsyncIterable<Uint8Array> {
  const timeoutMs = requestStreamStalls * bodyStallMs;
  const endsAtMs = performance.now() + timeoutMs;
  const late = (message: string): Error => mapError(new ServiceError("BODY_TIMEOUT", message));
  for (;;) {
    const next = await within(bytes.next(), bodyStallMs);
    if (next === undefined) throw late(`no byte of the body came for ${bodyStallMs} ms`);
    if (next.done) return;
    if (performance.now() > endsAtMs) {
      throw late(`the stream of requests took longer than ${timeoutMs} ms`);
    }
    yield next.value;
  }
}

async function within<T>(next: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([next, late]);
  } finally {
    clearTimeout(timer);
  }
}
