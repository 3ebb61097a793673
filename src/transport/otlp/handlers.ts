// OTLP TraceService and LogsService, over HTTP and gRPC: the first records spans, the second the
// messages in logs. Each answers with the number of spans or log records that it rejected.
// Source: OpenTelemetry protocol, "Partial Success".

import { create } from "@bufbuild/protobuf";
import type { ContextValues, HandlerContext, ServiceImpl } from "@connectrpc/connect";
import {
  ExportLogsServiceResponseSchema,
  type LogsService,
} from "../../../gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import {
  ExportTraceServiceResponseSchema,
  type TraceService,
} from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { createPacer } from "../../base/pacer.ts";
import { runPaced } from "../../base/paced.ts";
import type { Rejected } from "../../tracing/spans/span.ts";
import type { TracingOf } from "../../tracing/tracing.ts";
import { memoryOf, noteIngested, projectOf } from "../../access/call.ts";
import { readLogs } from "./logs.ts";
import { addRejectedLogs, addRejectedSpans } from "./partial-success.ts";
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
      const refused = [...rejected, ...unstored];
      noteExported(context, spans.length - unstored.length, refused);
      return addRejectedSpans(create(ExportTraceServiceResponseSchema), refused);
    },
  };
}

export function logHandlers(tracingOf: TracingOf): ServiceImpl<typeof LogsService> {
  return {
    async export(request, context: HandlerContext) {
      const project = projectOf(context);
      const { spanLogs } = tracingOf(project);
      const memory = memoryOf(context);
      const { logs, rejected } = await runPaced(readLogs(request), createPacer(memory.holder));
      const { projectId, orgId: organization } = project;
      const unstored = await spanLogs.record(projectId, logs, { organization, memory });
      const refused = [...rejected, ...unstored];
      noteExported(context, logs.length - unstored.length, refused);
      return addRejectedLogs(create(ExportLogsServiceResponseSchema), refused);
    },
  };
}

/** Notes the spans or log records of an export that were stored, and those that were rejected. */
export function noteExported(
  context: { readonly values: ContextValues },
  stored: number,
  rejected: readonly Rejected[],
): void {
  noteIngested(context, { stored, reasons: rejected.map(({ reason }) => reason) });
}
