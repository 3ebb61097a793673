// OTLP TraceService and LogsService, over HTTP and gRPC: the first records spans, the second the
// messages in logs. Each answers with the number of spans or log records that it rejected.
// Source: OpenTelemetry protocol, "Partial Success".

import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
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
import type { TracingOf } from "../../tracing/tracing.ts";
import { memoryOf, projectOf } from "../../access/call.ts";
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
      return addRejectedSpans(create(ExportTraceServiceResponseSchema), [...rejected, ...unstored]);
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
      return addRejectedLogs(create(ExportLogsServiceResponseSchema), [...rejected, ...unstored]);
    },
  };
}
