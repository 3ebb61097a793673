// OpenAPI paths of the routes without an http rule: OTLP over HTTP, health and the document itself.
// Source: ../routes.ts; ../otlp/http.ts; OTLP specification, OTLP/HTTP.

import type { BodyLimits } from "../access-rules.ts";
import type { Schema } from "./schemas.ts";

const jsonType = "application/json";
const protobufType = "application/x-protobuf";

function exportResponse(count: string, what: string): Schema {
  return {
    type: "object",
    properties: {
      partialSuccess: {
        type: "object",
        description: `Absent when every ${what} was stored.`,
        properties: {
          [count]: { type: "string", pattern: "^[0-9]+$" },
          errorMessage: { type: "string", description: `Why, for the first few ${what}s.` },
        },
        additionalProperties: false,
      },
    },
    additionalProperties: false,
  };
}

/** Components that only these routes reference. */
export const fixedSchemas: Schema = {
  ExportTraceServiceResponse: exportResponse("rejectedSpans", "span"),
  ExportLogsServiceResponse: exportResponse("rejectedLogRecords", "log record"),
  Status: {
    type: "object",
    description: "google.rpc.Status",
    properties: {
      code: { type: "integer", description: "The code of gRPC." },
      message: { type: "string", description: "What was wrong; absent in a 5xx." },
    },
    required: ["code"],
    additionalProperties: false,
  },
};

const bytes: Schema = { type: "string", format: "binary" };

/** Returns an OTLP answer, which has the encoding of the request. */
function otlpAnswer(description: string, schema: string): Schema {
  const json = { schema: { $ref: `#/components/schemas/${schema}` } };
  return { description, content: { [protobufType]: { schema: bytes }, [jsonType]: json } };
}

const retryAfter: Schema = {
  "retry-after": { description: "Seconds to wait", schema: { type: "integer" } },
};

/** Returns the paths of a signal of OTLP; `response` is the name of its response's schema. */
function exportPaths(signal: "traces" | "logs", response: string, bodyBytesMax: number): Schema {
  const tag = signal === "traces" ? "TraceService" : "LogsService";
  const operation: Schema = {
    tags: [tag],
    summary: "OTLP over HTTP, in Protobuf or JSON.",
    "x-body-bytes-max": bodyBytesMax,
    requestBody: {
      required: true,
      content: { [protobufType]: { schema: bytes }, [jsonType]: { schema: { type: "object" } } },
    },
    responses: {
      200: otlpAnswer("Success, or partialSuccess with the count of what was left out", response),
      400: otlpAnswer("The body is no export request, or its content type is unknown", "Status"),
      404: { $ref: "#/components/responses/NotFound" },
      413: otlpAnswer("The body is too large, after inflating", "Status"),
      503: {
        ...otlpAnswer("Nothing is stored for certain; send again", "Status"),
        headers: retryAfter,
      },
      default: otlpAnswer("Any other failure", "Status"),
    },
  };
  return {
    [`/opentelemetry/v1/${signal}`]: { post: { operationId: `${tag}_Export`, ...operation } },
    [`/v1/${signal}`]: { post: { operationId: `${tag}_Export_2`, ...operation } },
  };
}

function page(operationId: string, summary: string, responses: Schema): Schema {
  return { get: { operationId, tags: ["Service"], summary, security: [], responses } };
}

function jsonAnswer(description: string, schema: Schema): Schema {
  return { description, content: { [jsonType]: { schema } } };
}

const ok = jsonAnswer("Success", {
  type: "object",
  properties: { status: { const: "ok" } },
  required: ["status"],
  additionalProperties: false,
});

const degraded = { type: "array", items: { type: "string" }, minItems: 1 };

const ready = jsonAnswer(
  "Success; some projects, or writes, cannot be served when something is degraded",
  {
    type: "object",
    properties: { status: { const: "ok" }, degraded },
    required: ["status"],
    additionalProperties: false,
  },
);

const unavailable = jsonAnswer("The service cannot do its work now", {
  type: "object",
  properties: {
    status: { const: "unavailable" },
    missing: { type: "array", items: { type: "string" }, minItems: 1 },
    degraded,
  },
  required: ["status", "missing"],
  additionalProperties: false,
});

/** Returns the paths of these routes. */
export function fixedPaths({ traces }: BodyLimits): Schema {
  return {
    ...exportPaths("traces", "ExportTraceServiceResponse", traces),
    ...exportPaths("logs", "ExportLogsServiceResponse", traces),
    ...operatorPaths,
  };
}

const operatorPaths: Schema = {
  "/healthz": page("Service_GetHealth", "Answers while the process runs.", { 200: ok }),
  "/readyz": page(
    "Service_GetReadiness",
    "Answers 200 while the service can do its work, else 503; names what is missing or degraded.",
    { 200: ready, 503: { ...unavailable, headers: retryAfter } },
  ),
  "/openapi.json": page("Service_GetOpenApi", "This document.", {
    200: jsonAnswer("OpenAPI 3.1", { type: "object" }),
  }),
};
