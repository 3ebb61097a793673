// Converts OTLP log records to the logs of spans: ids to hex, nanoseconds to milliseconds, typed
// values to JSON. A record that belongs to no stored span is left out, with its reason.
// Source: OpenTelemetry protocol, logs.proto.

import { create } from "@bufbuild/protobuf";
import type { ExportLogsServiceRequest } from "../../../gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import {
  type KeyValue,
  KeyValueSchema,
} from "../../../gen/opentelemetry/proto/common/v1/common_pb.js";
import type { LogRecord } from "../../../gen/opentelemetry/proto/logs/v1/logs_pb.js";
import type { Steps } from "../../base/paced.ts";
import { quoteText } from "../../base/quote-text.ts";
import type { Rejected, SpanLog } from "../../tracing/spans/span.ts";
import { AttributeError, createValueCount, readAttributes } from "./attributes.ts";
import { isId, lengthFaultOf, spanIdBytes, toHex, toMs, traceIdBytes } from "./spans.ts";

/** Flag of a span that is exported. Source: W3C Trace Context, "Sampled flag". */
const sampledFlag = 1;

/** Returns the logs of a request in order, and the reasons for the records left out. */
export function* readLogs(request: ExportLogsServiceRequest): Steps<{
  readonly logs: readonly SpanLog[];
  readonly rejected: readonly Rejected[];
}> {
  const logs: SpanLog[] = [];
  const rejected: Rejected[] = [];
  for (const { scopeLogs } of request.resourceLogs) {
    for (const { logRecords } of scopeLogs) {
      for (const record of logRecords) {
        const read = readLog(record);
        if ("reason" in read) {
          rejected.push({ reason: `log record ${quoteText(nameOf(record))}: ${read.reason}` });
        } else logs.push(read);
        yield;
      }
    }
  }
  return { logs, rejected };
}

function readLog(record: LogRecord): SpanLog | Rejected {
  const reason = faultOf(record);
  if (reason !== undefined) return { reason };
  const { timeUnixNano, observedTimeUnixNano } = record;
  const time = timeUnixNano === 0n ? observedTimeUnixNano : timeUnixNano;
  try {
    return {
      traceId: toHex(record.traceId),
      spanId: toHex(record.spanId),
      event: {
        name: nameOf(record),
        timeMs: time === 0n ? undefined : toMs(time),
        attributes: readAttributes(toldBy(record), createValueCount()),
      },
    };
  } catch (error) {
    if (error instanceof AttributeError) return { reason: error.message };
    throw error;
  }
}

// Senders of earlier versions name the event by an attribute.
function nameOf({ eventName, attributes }: LogRecord): string {
  if (eventName !== "") return eventName;
  const named = attributes.find(({ key }) => key === "event.name")?.value?.value;
  return named?.case === "stringValue" ? named.value : "";
}

// Beside a body, other attributes tell of the record, such as its place in the code.
function toldBy(record: LogRecord): readonly KeyValue[] {
  const fields = fieldsOf(record);
  if (fields.length === 0) return record.attributes;
  return [...record.attributes.filter(({ key }) => key.startsWith("gen_ai.")), ...fields];
}

/**
 * Returns the fields of a body that is an object. JSON text of one, as Semantic Kernel for Python
 * has it, is one field, under the name that earlier conventions gave such a text.
 */
function fieldsOf({ body }: LogRecord): readonly KeyValue[] {
  if (body?.value.case === "kvlistValue") return body.value.value.values;
  if (body?.value.case !== "stringValue" || !body.value.value.startsWith("{")) return [];
  return [create(KeyValueSchema, { key: "gen_ai.event.content", value: body })];
}

function faultOf(record: LogRecord): string | undefined {
  const { traceId, spanId, flags, attributes } = record;
  if (!isId(traceId, traceIdBytes) || !isId(spanId, spanIdBytes)) {
    return "has no trace id and span id, and only messages and scores of a span are stored";
  }
  if ((flags & sampledFlag) === 0) {
    return "its flags say that its span is not sampled, and so not sent";
  }
  return lengthFaultOf("attributes", attributes) ?? lengthFaultOf("body", fieldsOf(record));
}
