// OTLP TraceService: records spans and answers with the count of rejected ones, over HTTP and gRPC.
// Source: OpenTelemetry protocol, "Partial Success".

import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  ExportTraceServiceResponseSchema,
  type ExportTraceServiceResponse,
  type TraceService,
} from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { createPacer } from "../../base/pacer.ts";
import { runPaced } from "../../base/paced.ts";
import type { RejectedSpan } from "../../tracing/spans/span.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import { memoryOf, projectOf } from "../../access/call.ts";
import { readSpans } from "./spans.ts";

export function traceHandlers(tracingOf: TracingOf): ServiceImpl<typeof TraceService> {
  return {
    async export(request, context: HandlerContext) {
      const project = projectOf(context);
      const { traces } = tracingOf(project);
      const source = context.requestHeader.get("x-source") ?? undefined;
      const memory = memoryOf(context);
      const { spans, rejected } = await runPaced(readSpans(request), createPacer(memory.holder));
      const { projectId, orgId: organization } = project;
      const options = { source, organization, memory };
      const unstored = await traces.record(projectId, spans, options);
      return addRejected(create(ExportTraceServiceResponseSchema), [...rejected, ...unstored]);
    },
  };
}

/** Maximum reasons in an answer: a person reads them, and the first few are enough. */
const reasonsMax = 10;
const messageLengthMax = 2_000;

/** Returns the response with further rejected spans counted; unchanged if there are none. */
export function addRejected(
  response: ExportTraceServiceResponse,
  rejected: readonly RejectedSpan[],
): ExportTraceServiceResponse {
  if (rejected.length === 0) return response;
  const before = response.partialSuccess;
  const reasons = rejected.slice(0, reasonsMax).map(({ reason }) => reason);
  if (rejected.length > reasonsMax) reasons.push(`and ${rejected.length - reasonsMax} more`);
  const errorMessage = [before?.errorMessage ?? "", ...reasons]
    .filter((text) => text !== "")
    .join("; ");
  return create(ExportTraceServiceResponseSchema, {
    partialSuccess: {
      rejectedSpans: (before?.rejectedSpans ?? 0n) + BigInt(rejected.length),
      errorMessage: cut(errorMessage).toWellFormed(),
    },
  });
}

function cut(text: string): string {
  return text.length > messageLengthMax ? `${text.slice(0, messageLengthMax)}…` : text;
}
