// Checks and records a stream of the OpenAI API while it passes. Only well-formed events pass, and
// the end is held back until the generation is stored. Source: docs/decisions.md, 20, 21.

import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from "../../base/json.ts";
import { hasMoreContainers } from "../../base/json-containers.ts";
import { containersMax, nestingDepthMax } from "../../base/limits.ts";
import type { Keep } from "../calls/answer-memory.ts";
import { isSound } from "../../tracing/events/parse-event.ts";
import { type ReadAnswer, reasonsOf, textOf, toOutputs } from "./answer.ts";
import { createDeltaGatherer } from "./delta-gatherer.ts";
import { parseUsage } from "./usage.ts";
import { createSseReader, type SseEvent } from "./sse-reader.ts";

/** Fault of a stream. */
export type StreamFault =
  /** An event that cannot be read. */
  | { readonly kind: "malformed" }
  /** The provider's event that reports a failure; `said` is its data. */
  | { readonly kind: "error"; readonly said: JsonValue }
  /** The stream ended in the middle of the answer. */
  | { readonly kind: "broken" };

export type StreamReader = {
  /** Adds a chunk, and returns the bytes that may pass: all before a fault. */
  push(chunk: Uint8Array): Uint8Array | undefined;
  /** Ends the stream, and returns the bytes that may pass. */
  end(): Uint8Array | undefined;
  /** Returns the fault of the stream; undefined without a fault so far. */
  fault(): StreamFault | undefined;
  /** Whether the stream sent `[DONE]`. */
  isDone(): boolean;
  /** Whether all choices are finished, possibly before `[DONE]`. */
  isWhole(): boolean;
  /** Returns the bytes that are held back until the generation is stored. */
  held(): Uint8Array;
  /** Returns the answer so far. */
  answer(): ReadAnswer;
};

const done = "[DONE]";
/** Maximum bytes of the end that are held back; providers send little after `[DONE]`. */
const heldBytesMax = 65_536;
/** Two levels less than in an event, because the recorded part is in a list of choices. */
const eventDepthMax = nestingDepthMax - 2;

/** `choices` is the number that the request asks for; `keep` counts the gathered bytes. */
export function createStreamReader(choices: number, keep: Keep): StreamReader {
  const sse = createSseReader();
  const gatherer = createDeltaGatherer(keep);
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  let isDone = false;
  let fault: StreamFault | undefined;
  let usage: JsonValue | undefined;
  let model: string | undefined;
  let id: string | undefined;

  function record(json: JsonObject): boolean {
    model ??= textOf(json["model"]);
    id ??= textOf(json["id"]);
    if (isJsonObject(json["usage"])) usage = json["usage"];
    return gatherer.add(json["choices"]);
  }

  function faultOf({ bytes, data, name }: SseEvent): StreamFault | undefined {
    if (data === undefined || data === "") return undefined;
    const json = hasMoreContainers(bytes, containersMax) ? undefined : tryParseJson(data);
    if (isError(json, name)) return { kind: "error", said: json ?? null };
    const isRead = isJsonObject(json) && isSound(json, eventDepthMax) && record(json);
    return isRead ? undefined : { kind: "malformed" };
  }

  function hold(bytes: Uint8Array): void {
    heldBytes += bytes.length;
    if (held.length === 0 || heldBytes <= heldBytesMax) held.push(bytes);
  }

  function take(events: readonly SseEvent[]): Uint8Array | undefined {
    const passing: Uint8Array[] = [];
    for (const event of events) {
      isDone ||= event.data?.trim() === done;
      if (!isDone) fault ??= faultOf(event);
      if (fault) break;
      if (isDone) hold(event.bytes);
      else passing.push(event.bytes);
    }
    return passing.length > 1 ? Buffer.concat(passing) : passing[0];
  }

  function isWhole(): boolean {
    const came = gatherer.choices();
    return came.length >= choices && came.every(({ finishReason }) => finishReason !== undefined);
  }

  return {
    push: (chunk) => take(sse.push(chunk)),
    end() {
      const rest = sse.end();
      if (rest && isCut(rest) && !isDone) fault ??= { kind: "broken" };
      const passing = rest && take([rest]);
      if (!isDone && !isWhole()) fault ??= { kind: "broken" };
      return passing;
    },
    fault: () => fault,
    isDone: () => isDone,
    isWhole,
    held: () => Buffer.concat(held),
    answer() {
      const came = gatherer.choices();
      return {
        outputs: toOutputs(came),
        finishReasons: reasonsOf(came),
        responseModel: model,
        responseId: id,
        usage: parseUsage(usage),
      };
    },
  };
}

/** Returns whether a stream ended within an event; a missing blank line alone does not count. */
function isCut({ data }: SseEvent): boolean {
  return data !== undefined && data.trim() !== done && tryParseJson(data) === undefined;
}

/** Returns whether an event is an error; servers like OpenAI's report errors in several forms. */
function isError(json: JsonValue | undefined, name: string): boolean {
  if (name === "error") return true;
  if (!isJsonObject(json)) return false;
  return (json["error"] ?? null) !== null || json["object"] === "error";
}
