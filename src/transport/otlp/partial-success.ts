// Counts what an export request had to leave out, with the first reasons.
// Source: OpenTelemetry protocol, "Partial Success".

import { create } from "@bufbuild/protobuf";
import {
  type ExportLogsServiceResponse,
  ExportLogsServiceResponseSchema,
} from "../../../gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import {
  type ExportTraceServiceResponse,
  ExportTraceServiceResponseSchema,
} from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import type { Rejected } from "../../tracing/spans/span.ts";

/** Returns the response with further rejected spans counted; unchanged if there are none. */
export function addRejectedSpans(
  response: ExportTraceServiceResponse,
  rejected: readonly Rejected[],
): ExportTraceServiceResponse {
  if (rejected.length === 0) return response;
  const { rejectedSpans = 0n, errorMessage = "" } = response.partialSuccess ?? {};
  return create(ExportTraceServiceResponseSchema, {
    partialSuccess: {
      rejectedSpans: rejectedSpans + BigInt(rejected.length),
      errorMessage: joinReasons(errorMessage, rejected),
    },
  });
}

/** Returns the response with further rejected log records counted; unchanged if there are none. */
export function addRejectedLogs(
  response: ExportLogsServiceResponse,
  rejected: readonly Rejected[],
): ExportLogsServiceResponse {
  if (rejected.length === 0) return response;
  const { rejectedLogRecords = 0n, errorMessage = "" } = response.partialSuccess ?? {};
  return create(ExportLogsServiceResponseSchema, {
    partialSuccess: {
      rejectedLogRecords: rejectedLogRecords + BigInt(rejected.length),
      errorMessage: joinReasons(errorMessage, rejected),
    },
  });
}

/** Maximum reasons in an answer: a person reads them, and the first few are enough. */
const reasonsMax = 10;
const messageLengthMax = 2_000;

function joinReasons(before: string, rejected: readonly Rejected[]): string {
  const reasons = rejected.slice(0, reasonsMax).map(({ reason }) => reason);
  if (rejected.length > reasonsMax) reasons.push(`and ${rejected.length - reasonsMax} more`);
  const text = [before, ...reasons].filter((one) => one !== "").join("; ");
  return cut(text).toWellFormed();
}

function cut(text: string): string {
  return text.length > messageLengthMax ? `${text.slice(0, messageLengthMax)}…` : text;
}
