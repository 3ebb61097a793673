// The only file that imports @connectrpc/connect/protocol, which does not follow semantic
// versioning (the package is pinned exactly). REST and OTLP call methods through it as Connect's
// protocols do.

import type { DescMethod, Message } from "@bufbuild/protobuf";
import type {
  ContextValues,
  HandlerContext,
  Interceptor,
  MethodImplSpec,
} from "@connectrpc/connect";
import {
  type Compression,
  createAsyncIterable,
  invokeUnaryImplementation,
  transformInvokeImplementation,
  type UniversalHandler,
} from "@connectrpc/connect/protocol";
import { answerMetadataKey } from "../access/call.ts";

export type { Compression, MethodImplSpec, UniversalHandler };

export type CallContext = HandlerContext & { abort(reason?: unknown): void };

export type CallContextInit = {
  readonly method: DescMethod;
  readonly protocol: string;
  readonly httpMethod: string;
  readonly url: string;
  readonly header: Headers;
  readonly values: ContextValues;
  readonly shutdownSignal: AbortSignal;
};

/**
 * Returns the context of a call over a protocol other than Connect's own. It has one signal, where
 * Connect's links three and copies the headers.
 */
export function createCallContext(init: CallContextInit): CallContext {
  const { method, values, shutdownSignal } = init;
  const metadata = { header: new Headers(), trailer: new Headers() };
  values.set(answerMetadataKey, metadata);
  const controller = new AbortController();
  const onShutdown = (): void => abort(shutdownSignal.reason);
  function abort(reason?: unknown): void {
    shutdownSignal.removeEventListener("abort", onShutdown);
    controller.abort(reason);
  }
  if (shutdownSignal.aborted) onShutdown();
  else shutdownSignal.addEventListener("abort", onShutdown);
  return {
    service: method.parent,
    method,
    protocolName: init.protocol,
    requestMethod: init.httpMethod,
    url: init.url,
    requestHeader: init.header,
    responseHeader: metadata.header,
    responseTrailer: metadata.trailer,
    values,
    signal: controller.signal,
    timeoutMs: () => undefined,
    abort,
  };
}

/** Calls a unary method through the interceptors. */
export async function invokeUnary(
  spec: MethodImplSpec,
  context: CallContext,
  request: Message,
  interceptors: readonly Interceptor[],
): Promise<Message> {
  if (spec.kind !== "unary") throw new Error(`${spec.method.name} is not unary`);
  return await invokeUnaryImplementation(spec, context, request as never, [...interceptors]);
}

/** Calls a server-streaming method through the interceptors. */
export function invokeStream(
  spec: MethodImplSpec,
  context: CallContext,
  request: Message,
  interceptors: readonly Interceptor[],
): AsyncIterable<Message> {
  const transform = transformInvokeImplementation(spec, context, [...interceptors]);
  return transform(createAsyncIterable([request as never])) as AsyncIterable<Message>;
}
