// The only file that imports @connectrpc/connect/protocol, which does not follow semantic
// versioning (the package is pinned exactly). REST and OTLP call methods through it as Connect's
// protocols do.

import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import type {
  ContextValues,
  HandlerContext,
  Interceptor,
  MethodImplSpec,
  StreamRequest,
  StreamResponse,
} from "@connectrpc/connect";
import {
  type Compression,
  invokeUnaryImplementation,
  type UniversalHandler,
} from "@connectrpc/connect/protocol";
import { answerMetadataKey } from "../access/call.ts";
import { mapItems, onlyItem } from "./items.ts";

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

/**
 * Calls a server-streaming method through the interceptors. Connect's own function is compiled to
 * JavaScript without generators and assigns functions to properties. V8 allocates such functions
 * among its old objects, and they would keep all messages until the whole heap is collected.
 */
export async function* invokeStream(
  spec: MethodImplSpec,
  context: CallContext,
  request: Message,
  interceptors: readonly Interceptor[],
): AsyncIterable<Message> {
  if (spec.kind !== "server_streaming") throw new Error(`${spec.method.name} is no server stream`);
  const { method, impl } = spec;
  const { responseHeader: header, responseTrailer: trailer } = context;
  const call = async ({ message, ...given }: StreamRequest): Promise<StreamResponse> => {
    const [only] = await Array.fromAsync(message);
    const { header: requestHeader, signal, contextValues: values } = given;
    const answers = impl(only as never, { ...context, requestHeader, signal, values });
    // An implementation may set a part of a message.
    const whole = mapItems(answers, (answer) => create(method.output, answer as never));
    return { stream: true, service: method.parent, method, header, trailer, message: whole };
  };
  const intercepted = interceptors.reduceRight<AnyFn>((next, one) => one(next), call as AnyFn);
  const { message } = await intercepted({
    stream: true,
    service: method.parent,
    method,
    requestMethod: context.requestMethod,
    url: context.url,
    header: context.requestHeader,
    signal: context.signal,
    contextValues: context.values,
    message: onlyItem(request),
  });
  yield* message as AsyncIterable<Message>;
}

type AnyFn = Parameters<Interceptor>[0];
