// Requests of the OpenTelemetry Collector's file exporter: sent as they are, so that the service
// maps them as it would have mapped the exporter's own calls. Source: docs/otlp.md.

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { deriveEventId } from "../../tracing/spans/identity.ts";
import type { Mapped } from "./mapping.ts";
import { BadRecord } from "./source-record.ts";

/** Maps a request: its text, unchanged, and the ids that its spans will have. */
export function mapOtlp(request: JsonObject, text: string): Mapped {
  const resources = request["resourceSpans"] ?? request["resource_spans"];
  if (!isJsonArray(resources)) {
    throw new BadRecord("has no resourceSpans: only traces are imported, not metrics or logs");
  }
  const spans = resources.flatMap((resource) =>
    listIn(resource, "scopeSpans", "scope_spans").flatMap((scope) =>
      listIn(scope, "spans", "spans"),
    ),
  );
  const eventIds = spans.map(idOf);
  return {
    writes: spans.length === 0 ? [] : [{ kind: "spans", eventIds, spans: text }],
    records: spans.length,
    mapped: ["resourceSpans"],
    raw: [],
  };
}

function listIn(value: JsonValue, camel: string, snake: string): readonly JsonValue[] {
  const list = isJsonObject(value) ? (value[camel] ?? value[snake]) : undefined;
  return isJsonArray(list) ? list : [];
}

const eventKeys = ["honeyhive_event_id", "honeyhive.event_id"];

function idOf(span: JsonValue): string {
  if (!isJsonObject(span)) return "";
  for (const attribute of listIn(span, "attributes", "attributes")) {
    if (!isJsonObject(attribute) || !isEventKey(attribute["key"])) continue;
    const value = isJsonObject(attribute["value"]) ? attribute["value"]["stringValue"] : undefined;
    if (typeof value === "string" && value !== "") return value;
  }
  const traceId = toHex(span["traceId"] ?? span["trace_id"]);
  return deriveEventId(traceId, toHex(span["spanId"] ?? span["span_id"]));
}

function isEventKey(key: JsonValue | undefined): boolean {
  return typeof key === "string" && eventKeys.includes(key);
}

function toHex(id: JsonValue | undefined): string {
  return typeof id === "string" ? id.toLowerCase() : "";
}
