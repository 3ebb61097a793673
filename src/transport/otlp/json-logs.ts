// Reads the logs of OTLP JSON to messages by hand, as json-traces.ts reads traces. Resources and
// scopes are not read, because nothing of them is stored.
// Source: OpenTelemetry protocol, "JSON Protobuf Encoding".

import type { ExportLogsServiceRequest } from "../../../gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import {
  type LogRecord,
  LogRecordSchema,
  type ResourceLogs,
  type ScopeLogs,
  SeverityNumber,
} from "../../../gen/opentelemetry/proto/logs/v1/logs_pb.js";
import type { Reservation } from "../../base/byte-budget.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Rejected } from "../../tracing/spans/span.ts";
import {
  asObject,
  pick,
  readBytes,
  readKeyValues,
  readList,
  readText,
  readUnsigned,
  readValue,
} from "./json-fields.ts";
import { type ItemsOptions, readItems, type Reading, readRequest } from "./json-request.ts";

/** Reads an export request; fails as `readRequest` does. */
export async function readJsonLogs(
  root: unknown,
  memory: Reservation,
): Promise<{
  readonly request: ExportLogsServiceRequest;
  readonly rejected: readonly Rejected[];
}> {
  const list = ["resourceLogs", "resource_logs"] as const;
  const { parts: resourceLogs, rejected } = await readRequest(root, memory, list, readResourceLogs);
  const request: ExportLogsServiceRequest = {
    $typeName: "opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest",
    resourceLogs,
  };
  return { request, rejected };
}

async function readResourceLogs(source: JsonObject, reading: Reading): Promise<ResourceLogs> {
  const scopeLogs: ScopeLogs[] = [];
  for (const one of readList(pick(source, "scopeLogs", "scope_logs"), "scopeLogs")) {
    const logRecords = await readItems(asObject(one, "scopeLogs"), reading, records);
    scopeLogs.push({
      $typeName: "opentelemetry.proto.logs.v1.ScopeLogs",
      logRecords,
      schemaUrl: "",
    });
  }
  return { $typeName: "opentelemetry.proto.logs.v1.ResourceLogs", scopeLogs, schemaUrl: "" };
}

const records: ItemsOptions<LogRecord> = {
  list: ["logRecords", "log_records"],
  what: "log record",
  name: ["eventName", "event_name"],
  schema: LogRecordSchema,
  read: readRecord,
};

function readRecord(source: JsonObject): LogRecord {
  const time = pick(source, "timeUnixNano", "time_unix_nano");
  const observed = pick(source, "observedTimeUnixNano", "observed_time_unix_nano");
  const name = pick(source, "eventName", "event_name");
  return {
    $typeName: "opentelemetry.proto.logs.v1.LogRecord",
    timeUnixNano: readUnsigned(time, "timeUnixNano"),
    observedTimeUnixNano: readUnsigned(observed, "observedTimeUnixNano"),
    severityNumber: SeverityNumber.UNSPECIFIED,
    severityText: "",
    body: readValue(source["body"] ?? undefined, "body"),
    attributes: readKeyValues(source["attributes"] ?? undefined),
    droppedAttributesCount: 0,
    flags: Number(readUnsigned(source["flags"] ?? undefined, "flags")),
    traceId: readBytes(pick(source, "traceId", "trace_id"), "traceId"),
    spanId: readBytes(pick(source, "spanId", "span_id"), "spanId"),
    eventName: readText(name, "eventName"),
  };
}
