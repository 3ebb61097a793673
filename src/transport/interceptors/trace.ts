// OpenTelemetry spans about the service itself: one per call, under the caller's `traceparent`. Off
// by default; OTEL_EXPORTER_OTLP_ENDPOINT turns them on, or `--tracing on` with an SDK loaded by
// `node --import`.
// Source: OpenTelemetry semantic conventions, RPC server spans.

import {
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { Interceptor } from "@connectrpc/connect";
import { exportHeader } from "../../observability/own-traces.ts";
import { protocolKey, reasonOf, watchStream } from "./log.ts";

/** Returns the interceptor. The span of a stream ends with the stream, with the logged reason. */
export function createTraceInterceptor(): Interceptor {
  const tracer = trace.getTracer("waggle");
  return (next) => async (request) => {
    // The export of such spans makes none, at whichever Waggle it arrives.
    if (request.header.has(exportHeader)) return next(request);
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
      if (answer.stream) {
        const end = (error: unknown): void => endSpan(span, error);
        return { ...answer, message: watchStream(answer.message, request.signal, end) };
      }
      endSpan(span, undefined);
      return answer;
    } catch (error) {
      endSpan(span, error);
      throw error;
    }
  };
}

function endSpan(span: Span, error: unknown): void {
  const reason = reasonOf(error);
  if (reason !== "OK") span.setAttribute("error.type", reason);
  // A client that left is not an error of the service.
  if (reason !== "OK" && reason !== "CANCELED") {
    span.setStatus({ code: SpanStatusCode.ERROR, message: reason });
  }
  span.end();
}
