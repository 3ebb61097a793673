// OTLP over HTTP: serves the exporters' paths and calls TraceService.Export as gRPC does. http.ts
// reads and writes the bodies. Source: OTLP specification, OTLP/HTTP; docs/decisions.md, 14, 36.1,
// 37.1.

import type { ContextValues } from "@connectrpc/connect";
import type { ExportTraceServiceResponse } from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
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
import { notFoundAnswer } from "../rest/error-body.ts";
import { isGone } from "../write.ts";
import { addRejected } from "./handlers.ts";
import { formatTraceError, formatTraceResponse, parseTraceRequest } from "./http.ts";

export type OtlpRoute = {
  /** Returns whether a request is an OTLP export. */
  matches(exchange: Exchange): boolean;
  /** Answers an export; never throws. */
  serve(exchange: Exchange, values: ContextValues): Promise<void>;
};

const paths: ReadonlySet<string> = new Set(["/opentelemetry/v1/traces", "/v1/traces"]);
const protocol = "otlp-http";

export function createOtlpRoute(options: CallOptions, spec: MethodImplSpec): OtlpRoute {
  return {
    matches: ({ httpMethod, path }) => httpMethod === "POST" && paths.has(path),
    serve: (exchange, values) => serve(options, spec, exchange, values),
  };
}

function serve(
  options: CallOptions,
  spec: MethodImplSpec,
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
      const { request, rejected } = await parseTraceRequest(contentType, bytes, body.memory);
      const message = await invokeUnary(spec, context, request, options.interceptors);
      const response = addRejected(message as ExportTraceServiceResponse, rejected);
      await write(exchange, 200, formatTraceResponse(contentType, response), {
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
  const formatted = formatTraceError(contentType, status, publicMessageOf(known));
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
