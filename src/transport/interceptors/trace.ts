// The service's own spans: one a call, under the caller's `traceparent`. Off by default: `--tracing
// on` and an OpenTelemetry SDK loaded by `node --import` turn it on; only the API is built in.
// Called by transport.ts. Source: OpenTelemetry semantic conventions, RPC server spans.

import {
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { Interceptor } from "@connectrpc/connect";
import { serviceErrorOf } from "./errors.ts";
import { protocolKey } from "./log.ts";

/** Returns the interceptor. A span of a stream ends with its last message. */
export function createTraceInterceptor(): Interceptor {
  const tracer = trace.getTracer("waggle");
  return (next) => async (request) => {
    const parent = propagation.extract(context.active(), request.header, {
      get: (header, key) => header.get(key) ?? undefined,
      keys: (header) => [...header.keys()],
    });
    const rpc = `${request.service.typeName}/${request.method.name}`;
    const options = {
      kind: SpanKind.SERVER,
      attributes: {
        "rpc.system.name": request.contextValues.get(protocolKey),
        "rpc.method": rpc,
      },
    };
    const span = tracer.startSpan(rpc, options, parent);
    try {
      const answer = await context.with(trace.setSpan(parent, span), () => next(request));
      if (answer.stream) return { ...answer, message: endWith(span, answer.message) };
      span.end();
      return answer;
    } catch (error) {
      endFailed(span, error);
      throw error;
    }
  };
}

async function* endWith<T>(span: Span, messages: AsyncIterable<T>): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (error) {
    endFailed(span, error);
    throw error;
  } finally {
    // After a failure the span has ended, and ending it again does nothing.
    span.end();
  }
}

function endFailed(span: Span, error: unknown): void {
  const { reason } = serviceErrorOf(error);
  span.setAttribute("error.type", reason);
  span.setStatus({ code: SpanStatusCode.ERROR, message: reason });
  span.end();
}
