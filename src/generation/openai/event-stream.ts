// Server-sent events of the OpenAI API to parts of a stream and back. Only well-formed events pass.
// Source: the OpenAI API reference, "Streaming"; docs/decisions.md, 21.1, 21.4.

import { isJsonObject, type JsonValue, tryParseJson } from "../../base/json.ts";
import { hasMoreContainers } from "../../base/json-containers.ts";
import { containersMax, nestingDepthMax } from "../../base/limits.ts";
import { isSound } from "../../tracing/events/parse-event.ts";
import type { Operation, StreamPart } from "../calls/model-call.ts";
import { redactor } from "../providers/redact.ts";
import { ProviderError } from "../provider-error.ts";
import type { Connection } from "../provider.ts";
import { brokenOff, failedAnswer, malformedFault, streamErrorFault } from "./error.ts";
import { createSseReader, type SseEvent } from "./sse-reader.ts";

const done = "[DONE]";
const doneEvent = Buffer.from(`data: ${done}\n\n`);
/** Maximum bytes from `[DONE]` on that are kept; providers send little after it. */
const endBytesMax = 65_536;
/** Time to wait for the end of the connection after `[DONE]`, which ends the answer. */
const afterDoneMs = 200;
/** Two levels less than in an event, because the recorded part is in a list of choices. */
const chunkDepthMax = nestingDepthMax - 2;

/** Bytes of a stream, and a function that ends the connection. */
export type EventSource = {
  readonly chunks: AsyncIterator<Uint8Array>;
  readonly close: () => void;
};

/**
 * Yields the parts of a stream. Everything from `[DONE]` on is one part. A stream of the Responses
 * or Messages API ends with its last event (`lastTypes`). Fails with a ProviderError after the
 * parts before a fault, and like `chunks`.
 */
export async function* readParts(
  source: EventSource,
  connection: Connection,
  operation: Operation = "chat",
): AsyncGenerator<readonly StreamPart[]> {
  const { chunks, close } = source;
  const sse = createSseReader();
  let hasBegun = false;
  try {
    for (;;) {
      const next = await chunks.next();
      const last = next.done ? sse.end() : undefined;
      const events = next.done ? (last ? [last] : []) : sse.push(next.value);
      const doneAt = events.findIndex(isDoneEvent);
      const answered = doneAt === -1 ? events : events.slice(0, doneAt);
      const { parts, fault } = toParts(answered, { connection, operation, hasBegun });
      const isCut = fault && last !== undefined && isHalf(last);
      hasBegun ||= parts.length > 0;
      if (parts.length > 0) yield parts;
      if (fault) throw isCut ? brokenOff(connection) : fault;
      if (parts.at(-1)?.isDone) return;
      if (doneAt !== -1) {
        const rest = sse.end();
        const ends = [...events.slice(doneAt), ...(rest ? [rest] : [])].map(({ bytes }) => bytes);
        yield [{ isDone: true, bytes: await readEnd(ends, source) }];
        return;
      }
      if (next.done) return;
    }
  } finally {
    // Ends the call if the consumer leaves early.
    close();
  }
}

/** Returns the bytes of the end. Failures of the connection do not concern the answer any more. */
async function readEnd(begun: readonly Uint8Array[], source: EventSource): Promise<Uint8Array> {
  const { chunks, close } = source;
  const kept: Uint8Array[] = [];
  let bytes = 0;
  const keep = (chunk: Uint8Array): void => {
    bytes += chunk.length;
    if (kept.length === 0 || bytes <= endBytesMax) kept.push(chunk);
  };
  begun.forEach(keep);
  const timer = setTimeout(close, afterDoneMs);
  try {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) keep(next.value);
  } catch {
    // The answer is complete.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(kept);
}

function isDoneEvent({ data }: SseEvent): boolean {
  return data?.trim() === done;
}

type Read = { readonly parts: readonly StreamPart[]; readonly fault: ProviderError | undefined };

type Reading = {
  readonly connection: Connection;
  readonly operation: Operation;
  /** Whether earlier events of the stream passed. */
  readonly hasBegun: boolean;
};

/** Returns the parts before the first fault, and up to the event that ends the stream. */
function toParts(events: readonly SseEvent[], reading: Reading): Read {
  const parts: StreamPart[] = [];
  for (const event of events) {
    const hasBegun = reading.hasBegun || parts.length > 0;
    const part = toPart(event, { ...reading, hasBegun });
    if (part instanceof ProviderError) return { parts, fault: part };
    parts.push(part);
    if (part.isDone) break;
  }
  return { parts, fault: undefined };
}

function toPart(
  { bytes, data, name }: SseEvent,
  { connection, operation, hasBegun }: Reading,
): StreamPart | ProviderError {
  if (data === undefined || data === "") return { bytes };
  const chunk = hasMoreContainers(bytes, containersMax) ? undefined : tryParseJson(data);
  if (isError(chunk, name)) {
    // An answer that begins with an error is one with a wrong status: a retry may help.
    if (!hasBegun) return failedAnswer(connection, Buffer.from(data));
    return streamErrorFault(connection, chunk);
  }
  if (!isJsonObject(chunk) || !isSound(chunk, chunkDepthMax)) {
    return malformedFault(connection, "with an invalid event");
  }
  if (!lastTypes[operation].includes(chunk["type"])) return { bytes, chunk };
  // A model that failed may repeat a secret.
  return { bytes: redactor(connection).body(bytes), chunk, isDone: true };
}

/** Types of the events that end a stream; chats end by `[DONE]`. */
const lastTypes: { readonly [O in Operation]: readonly (JsonValue | undefined)[] } = {
  chat: [],
  embedding: [],
  response: ["response.completed", "response.incomplete", "response.failed"],
  message: ["message_stop"],
};

/** Returns whether a stream ended within an event; a missing blank line alone does not count. */
function isHalf({ data }: SseEvent): boolean {
  return data !== undefined && tryParseJson(data) === undefined;
}

/** Returns whether an event is an error; servers like OpenAI's report errors in several forms. */
function isError(json: JsonValue | undefined, name: string): boolean {
  if (name === "error") return true;
  if (!isJsonObject(json)) return false;
  const { error = null, object, type } = json;
  return error !== null || object === "error" || type === "error";
}

/** Returns the bytes of parts for a client of the OpenAI API. */
export function toEventBytes(parts: readonly StreamPart[]): Uint8Array {
  const events = parts.map(bytesOf);
  return events.length === 1 && events[0] ? events[0] : Buffer.concat(events);
}

function bytesOf({ bytes, chunk }: StreamPart): Uint8Array {
  return bytes ?? (chunk ? Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`) : doneEvent);
}
