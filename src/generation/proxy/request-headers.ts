// Reads the headers of a proxy call that affect its recording and its time-out.
// Source: docs/decisions.md, 21.2; W3C Trace Context, 3.2 (traceparent).

import { isUtf8 } from "node:buffer";
import { refuse } from "../../base/errors.ts";
import { callHeaderLengthMax, callTimeoutMsMax } from "../../base/field-limits.ts";
import { isRecordId } from "../../base/ids.ts";
import { isJsonObject, type JsonObject, tryParseJson } from "../../base/json.ts";
import { nestingDepthMax } from "../../base/limits.ts";
import { isSound } from "../../tracing/events/parse-event.ts";
import { findOwnKey } from "../calls/generation-event.ts";
import { deriveEventId, deriveSessionId } from "../../tracing/spans/identity.ts";

export type CallHeaders = {
  readonly sessionId: string | undefined;
  readonly parentId: string | undefined;
  readonly name: string | undefined;
  readonly user: string | undefined;
  readonly metadata: JsonObject;
  /** Shortens the maximum duration of the call. */
  readonly timeoutMs: number | undefined;
  /** See ModelRequest. */
  readonly betas: string | undefined;
};

const prefix = "x-waggle-";

/** Reads the headers. Fails with INVALID_ARGUMENT naming the header. */
export function parseCallHeaders(headers: Pick<Headers, "get">): CallHeaders {
  const read = (name: string): string | undefined => textOf(headers.get(`${prefix}${name}`));
  const trace = parseTraceparent(headers.get("traceparent"));
  return {
    sessionId: parseId("session-id", read("session-id")) ?? trace?.sessionId,
    parentId: parseId("parent-id", read("parent-id")) ?? trace?.parentId,
    name: parseName("name", read("name")),
    user: parseName("user", read("user")),
    metadata: parseMetadata(read("metadata")),
    timeoutMs: parseTimeout(read("timeout-ms")),
    betas: parseBetas(headers.get("anthropic-beta") ?? ""),
  };
}

// Node decodes headers as Latin-1; clients send UTF-8.
function textOf(header: string | null): string | undefined {
  if (header === null || header === "") return undefined;
  const bytes = Buffer.from(header, "latin1");
  return bytes.length === header.length && isUtf8(bytes) ? bytes.toString("utf8") : header;
}

function parseBetas(text: string): string | undefined {
  if (text === "") return undefined;
  if (/^[\w.,: -]{1,1000}$/.test(text)) return text;
  return refuse("anthropic-beta", "must be names with commas between them, up to 1,000 characters");
}

function parseId(name: string, text: string | undefined): string | undefined {
  if (text === undefined || isRecordId(text)) return text;
  return refuse(`${prefix}${name}`, "must be 1 to 128 printable characters");
}

function parseName(name: string, text: string | undefined): string | undefined {
  if (text === undefined || text.length <= callHeaderLengthMax) return text;
  return refuse(`${prefix}${name}`, `must have at most ${callHeaderLengthMax} characters`);
}

function parseMetadata(text: string | undefined): JsonObject {
  if (text === undefined) return {};
  const value = tryParseJson(text);
  if (!isJsonObject(value) || !isSound(value, nestingDepthMax)) {
    return refuse(`${prefix}metadata`, 'must be a JSON object, such as {"release":"7"}');
  }
  const ownKey = findOwnKey(value);
  if (ownKey !== undefined) {
    return refuse(`${prefix}metadata`, `must not have ${ownKey}, which the service writes`);
  }
  return value;
}

function parseTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const timeoutMs = Number(text);
  if (/^\d+$/.test(text) && timeoutMs >= 1 && timeoutMs <= callTimeoutMsMax) return timeoutMs;
  return refuse(`${prefix}timeout-ms`, `must be a whole number from 1 to ${callTimeoutMsMax}`);
}

/** Later versions may append fields; version ff is invalid. */
const traceparent = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:$|-)/;

/** Returns our ids of the caller's trace and span; an invalid header is ignored. */
function parseTraceparent(
  header: string | null,
): { readonly sessionId: string; readonly parentId: string } | undefined {
  const [, traceId = "", spanId = ""] = traceparent.exec(header?.trim() ?? "") ?? [];
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  return { sessionId: deriveSessionId(traceId), parentId: deriveEventId(traceId, spanId) };
}
