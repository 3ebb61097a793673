// The signals of OTLP that the service takes, one entry each: traces, and logs for the messages of
// model calls.

import type { DescMethod, Message } from "@bufbuild/protobuf";
import {
  type ExportLogsServiceResponse,
  LogsService,
} from "../../../gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import {
  type ExportTraceServiceResponse,
  TraceService,
} from "../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import type { Reservation } from "../../base/byte-budget.ts";
import type { Rejected } from "../../tracing/spans/span.ts";
import { addRejectedLogs, addRejectedSpans } from "./partial-success.ts";
import { readJsonLogs } from "./json-logs.ts";
import { readJsonTraces } from "./json-traces.ts";

/** An export request, and the parts of a JSON body that could not be read. */
export type ReadRequest = { readonly request: Message; readonly rejected: readonly Rejected[] };

export type Signal = {
  readonly method: DescMethod;
  /** Last part of the exporters' path. */
  readonly name: "traces" | "logs";
  /** Reads a JSON body; fails with MALFORMED_BODY, BODY_TOO_LARGE or OVERLOADED. */
  readonly readJson: (json: unknown, memory: Reservation) => Promise<ReadRequest>;
  /** Counts further parts as rejected in a response of `method`. */
  readonly addRejected: (response: Message, rejected: readonly Rejected[]) => Message;
};

export const traces: Signal = {
  method: TraceService.method.export,
  name: "traces",
  readJson: readJsonTraces,
  addRejected: (response, rejected) =>
    addRejectedSpans(response as ExportTraceServiceResponse, rejected),
};

export const logs: Signal = {
  method: LogsService.method.export,
  name: "logs",
  readJson: readJsonLogs,
  addRejected: (response, rejected) =>
    addRejectedLogs(response as ExportLogsServiceResponse, rejected),
};

export const signals: readonly Signal[] = [traces, logs];
