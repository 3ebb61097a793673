// OTLP over HTTP: the exporters' paths, their bodies, and TraceService.Export called as gRPC would
// call it. What the bodies mean is in http.ts and the service.
// Called by routes.ts. Source: OTLP specification, OTLP/HTTP; docs/decisions.md, 14, 36, 37.

import type { ContextValues } from "@connectrpc/connect";
import type { ExportTraceServiceResponse } from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { outcomes } from "../../base/errors.ts";
import { accessRuleOf } from "../access-rules.ts";
import { readBody } from "../body.ts";
import { createCallContext, invokeUnary, type MethodImplSpec } from "../connect-adapter.ts";
import { type Exchange, headerOf, headersOf, writeAnswer } from "../exchange.ts";
import {
  headersOf as reasonHeadersOf,
  publicMessageOf,
  serviceErrorOf,
} from "../interceptors/errors.ts";
import { protocolKey } from "../interceptors/log.ts";
import { notFoundAnswer } from "../rest/error-body.ts";
import type { TranscoderOptions } from "../rest/transcoder.ts";
import { addRejected } from "./handlers.ts";
import { formatTraceError, formatTraceResponse, parseTraceRequest } from "./http.ts";

export type OtlpRoute = {
  /** Tells whether a request is an OTLP export. */
  matches(exchange: Exchange): boolean;
  /** Answers it; never throws. */
  serve(exchange: Exchange, values: ContextValues): Promise<void>;
};

const paths: ReadonlySet<string> = new Set(["/opentelemetry/v1/traces", "/v1/traces"]);
const protocol = "otlp-http";

export function createOtlpRoute(
  options: Omit<TranscoderOptions, "specs" | "streamEncoders">,
  spec: MethodImplSpec,
): OtlpRoute {
  return {
    matches: ({ httpMethod, path }) => httpMethod === "POST" && paths.has(path),
    serve: (exchange, values) => serve(options, spec, exchange, values),
  };
}

async function serve(
  options: Omit<TranscoderOptions, "specs" | "streamEncoders">,
  spec: MethodImplSpec,
  exchange: Exchange,
  values: ContextValues,
): Promise<void> {
  const startedAtMs = performance.now();
  const { method } = spec;
  const contentType = headerOf(exchange.request, "content-type") ?? "";
  values.set(protocolKey, protocol);
  const gone = new AbortController();
  const reservation = options.admission.open();
  exchange.response.once("close", () => {
    gone.abort();
    reservation.release();
  });
  const context = createCallContext({
    method,
    protocol,
    httpMethod: exchange.httpMethod,
    url: exchange.request.url ?? "",
    header: headersOf(exchange.request),
    values,
    signal: gone.signal,
    shutdownSignal: options.shutdownSignal,
  });
  try {
    const authorization = headerOf(exchange.request, "authorization");
    await options.gate({ method, protocol, authorization, values });
    const body = await readBody(exchange.request, exchange.request.headers, {
      bytesMax: options.bodyLimits[accessRuleOf(method).bodyClass],
      stallMs: options.bodyStallMs,
      reservation,
    });
    const { request, rejected } = parseTraceRequest(contentType, body);
    const message = await invokeUnary(spec, context, request, options.interceptors);
    const response = addRejected(message as ExportTraceServiceResponse, rejected);
    await write(exchange, 200, formatTraceResponse(contentType, response));
  } catch (error) {
    const mapped = options.mapError(error);
    options.callLog.end({ method, protocol, values, startedAtMs, error: mapped });
    await writeError(exchange, contentType, mapped);
  } finally {
    context.abort();
    reservation.release();
  }
}

async function writeError(exchange: Exchange, contentType: string, error: unknown): Promise<void> {
  if (exchange.response.destroyed || exchange.response.headersSent) return;
  const known = serviceErrorOf(error);
  // Denied is denied alike on every route: the fixed body, whatever the exporter speaks.
  if (known.reason === "NOT_FOUND") {
    const { status, body } = notFoundAnswer();
    await write(exchange, status, { contentType: "application/json", body });
    return;
  }
  const { status } = outcomes[known.reason];
  const formatted = formatTraceError(contentType, status, publicMessageOf(known));
  await write(exchange, status, formatted, reasonHeadersOf(known.reason));
}

async function write(
  exchange: Exchange,
  status: number,
  { contentType, body }: { readonly contentType: string; readonly body: Uint8Array },
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  await writeAnswer(exchange, {
    status,
    headers: { ...headers, "content-type": contentType },
    body,
  });
}
