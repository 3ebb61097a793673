// Reads the logs of OTLP JSON to messages by hand, as json-traces.ts reads traces. A malformed
// record is left out; a malformed object around records fails the request. Resources and scopes are
// not read, because nothing of them is stored.
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
import { reserveDecoded } from "../../base/decode/tally.ts";
import { ServiceError } from "../../base/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { createPacer, type Pacer } from "../../base/pacer.ts";
import { quoteText } from "../../base/quote-text.ts";
import type { RejectedLog } from "../../tracing/spans/span.ts";
import { messageBytesOf } from "../decode/json-message.ts";
import {
  asObject,
  FieldError,
  pick,
  readBytes,
  readKeyValues,
  readList,
  readText,
  readUnsigned,
  readValue,
} from "./json-fields.ts";

type Reading = {
  readonly rejected: RejectedLog[];
  readonly pacer: Pacer;
  readonly memory: Reservation;
};

/**
 * Reads an export request. Fails with MALFORMED_BODY if it is not an object of that form, and with
 * BODY_TOO_LARGE or OVERLOADED if there is no memory for its records.
 */
export async function readJsonLogs(
  root: unknown,
  memory: Reservation,
): Promise<{
  readonly request: ExportLogsServiceRequest;
  readonly rejected: readonly RejectedLog[];
}> {
  if (!isJsonObject(root)) {
    throw new ServiceError("MALFORMED_BODY", "the body is not a JSON object");
  }
  const rejected: RejectedLog[] = [];
  const reading: Reading = { rejected, pacer: createPacer(memory.holder), memory };
  try {
    const resourceLogs: ResourceLogs[] = [];
    for (const item of readList(pick(root, "resourceLogs", "resource_logs"), "resourceLogs")) {
      resourceLogs.push(await readResourceLogs(asObject(item, "resourceLogs"), reading));
    }
    const request: ExportLogsServiceRequest = {
      $typeName: "opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest",
      resourceLogs,
    };
    return { request, rejected };
  } catch (cause) {
    if (!(cause instanceof FieldError)) throw cause;
    throw new ServiceError("MALFORMED_BODY", cause.message, { cause });
  }
}

async function readResourceLogs(source: JsonObject, reading: Reading): Promise<ResourceLogs> {
  const scopeLogs: ScopeLogs[] = [];
  for (const one of readList(pick(source, "scopeLogs", "scope_logs"), "scopeLogs")) {
    scopeLogs.push(await readScopeLogs(asObject(one, "scopeLogs"), reading));
  }
  return {
    $typeName: "opentelemetry.proto.logs.v1.ResourceLogs",
    scopeLogs,
    schemaUrl: "",
  };
}

async function readScopeLogs(source: JsonObject, reading: Reading): Promise<ScopeLogs> {
  const { rejected, pacer, memory } = reading;
  const logRecords: LogRecord[] = [];
  for (const one of readList(pick(source, "logRecords", "log_records"), "logRecords")) {
    if (pacer.due()) await pacer.rest();
    reserveDecoded(messageBytesOf(LogRecordSchema, one), memory);
    try {
      logRecords.push(readRecord(asObject(one, "log record")));
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      rejected.push({ reason: `log record ${nameOf(one)}: ${error.message}` });
    }
  }
  return { $typeName: "opentelemetry.proto.logs.v1.ScopeLogs", logRecords, schemaUrl: "" };
}

function nameOf(record: JsonValue): string {
  const name = isJsonObject(record) ? pick(record, "eventName", "event_name") : undefined;
  return quoteText(typeof name === "string" ? name : "");
}

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
