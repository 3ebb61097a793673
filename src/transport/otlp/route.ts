// OTLP over HTTP: serves the exporters' paths and calls the rpc of the signal as gRPC does. http.ts
// reads and writes the bodies. Source: OTLP specification, OTLP/HTTP; docs/decisions.md, 14, 36.1,
// 37.1.

import type { ContextValues } from "@connectrpc/connect";
import type { Reservation } from "../../base/byte-budget.ts";
import { outcomes } from "../../base/errors.ts";
import { accessRuleOf } from "../access-rules.ts";
import { invokeUnary, type MethodImplSpec } from "../connect-adapter.ts";
import { type Exchange, headerOf, writeAnswer } from "../exchange.ts";
import {
  headersOf as failureHeadersOf,
  publicMessageOf,
  serviceErrorOf,
} from "../interceptors/errors.ts";
import { type CallOptions, servePlainCall } from "../plain-call.ts";
import { hashedMessageBytesMax, setRequestDigest } from "../request-digest.ts";
import { noteExported } from "./handlers.ts";
import { notFoundAnswer } from "../rest/error-body.ts";
import { isGone } from "../write.ts";
import { encodingOf, formatExportError, formatExportResponse, parseExportRequest } from "./http.ts";
import { type Signal, signals } from "./signals.ts";

export type OtlpRoute = {
  /** Returns whether a request is an OTLP export, of metrics too. */
  matches(exchange: Exchange): boolean;
  /** Answers an export; never throws. */
  serve(exchange: Exchange, values: ContextValues): Promise<void>;
};

/** Folders of the exporters' paths: `/v1/traces`, `/opentelemetry/v1/traces`. */
const folders = ["/v1", "/opentelemetry/v1"];
const protocol = "otlp-http";

/** Returns the route of the signals whose rpc is among the specs. */
export function createOtlpRoute(options: CallOptions, specs: readonly MethodImplSpec[]): OtlpRoute {
  const routes = new Map<string, Route>();
  for (const signal of signals) {
    const spec = specs.find(({ method }) => method === signal.method);
    if (spec === undefined) continue;
    for (const folder of folders) routes.set(`${folder}/${signal.name}`, { signal, spec });
  }
  return {
    matches: (exchange) =>
      exchange.httpMethod === "POST" && (routes.has(exchange.path) || isMetricsExport(exchange)),
    async serve(exchange, values) {
      const route = routes.get(exchange.path);
      await (route ? serve(options, route, exchange, values) : refuseMetrics(exchange));
    },
  };
}

const metricsRefusal = "metrics are not stored; OTEL_METRICS_EXPORTER=none stops their export";

// `POST /v1/metrics` with JSON creates an evaluator.
function isMetricsExport({ path, request }: Exchange): boolean {
  if (path === "/opentelemetry/v1/metrics") return true;
  return path === "/v1/metrics" && encodingOf(headerOf(request, "content-type")) === "protobuf";
}

// An answer for every key: exporters cannot tell the 404 of a denial from a wrong address.
async function refuseMetrics(exchange: Exchange): Promise<void> {
  const contentType = headerOf(exchange.request, "content-type") ?? "";
  // Python's exporter logs the reason phrase and not the body. HTTP/2 has no phrase.
  if (exchange.request.httpVersionMajor < 2) exchange.response.statusMessage = metricsRefusal;
  await write(exchange, 400, formatExportError(contentType, 400, metricsRefusal));
}

type Route = { readonly signal: Signal; readonly spec: MethodImplSpec };

function serve(
  options: CallOptions,
  { signal, spec }: Route,
  exchange: Exchange,
  values: ContextValues,
): Promise<void> {
  const { method } = spec;
  const contentType = headerOf(exchange.request, "content-type") ?? "";
  return servePlainCall(options, exchange, {
    method,
    protocol,
    values,
    answer: async (context, body) => {
      const bytes = await body.read(accessRuleOf(method).bodyClass);
      if (bytes.length > hashedMessageBytesMax) setRequestDigest(exchange, values, bytes);
      const read = await parseExportRequest(signal, contentType, bytes, body.memory);
      noteExported({ values }, 0, read.rejected);
      const message = await invokeUnary(spec, context, read.request, options.interceptors);
      const response = signal.addRejected(message, read.rejected);
      await write(exchange, 200, formatExportResponse(signal, contentType, response), {
        memory: body.memory,
      });
    },
    answerError: (error, memory) => writeError(exchange, contentType, error, memory),
  });
}

async function writeError(
  exchange: Exchange,
  contentType: string,
  error: unknown,
  memory: Reservation | undefined,
): Promise<void> {
  if (isGone(exchange.response) || exchange.response.headersSent) return;
  const known = serviceErrorOf(error);
  // Every route has the same fixed body for a denial, regardless of the exporter's encoding.
  if (known.reason === "NOT_FOUND") {
    const { status, body } = notFoundAnswer();
    await write(exchange, status, { contentType: "application/json", body });
    return;
  }
  const { status } = outcomes[known.reason];
  const formatted = formatExportError(contentType, status, publicMessageOf(known));
  await write(exchange, status, formatted, { headers: failureHeadersOf(known), memory });
}

type WriteOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  /** Reservation that counts the answer until it is written. */
  readonly memory?: Reservation | undefined;
};

async function write(
  exchange: Exchange,
  status: number,
  { contentType, body }: { readonly contentType: string; readonly body: Uint8Array },
  { headers = {}, memory }: WriteOptions = {},
): Promise<void> {
  const all = { ...headers, "content-type": contentType };
  await writeAnswer(exchange, { status, headers: all, body }, memory);
}
