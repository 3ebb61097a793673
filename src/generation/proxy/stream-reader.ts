// Reads a stream of the OpenAI API as it passes: what of it may go to the client now, what it says,
// and whether it came to its end. Nothing passes that is no sound event, and the end not before the
// generation is stored. Source: docs/decisions.md, 20, 21.

import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from "../../base/json.ts";
import { hasMoreContainers } from "../../base/json-containers.ts";
import { containersMax, nestingDepthMax } from "../../base/limits.ts";
import type { Keep } from "../calls/answer-memory.ts";
import { isSound } from "../../tracing/events/parse-event.ts";
import { type ReadAnswer, reasonsOf, textOf, toOutputs } from "./answer-reader.ts";
import { createDeltaGatherer } from "./delta-gatherer.ts";
import { parseUsage } from "./openai-usage.ts";
import { createSseReader, type SseEvent } from "./sse-reader.ts";

/** Why a stream is no answer. */
export type StreamFault =
  /** An event that cannot be read. */
  | { readonly kind: "malformed" }
  /** An event of the provider's that says that it failed; `said` is its data. */
  | { readonly kind: "error"; readonly said: JsonValue }
  /** The end came in the middle. */
  | { readonly kind: "broken" };

export type StreamReader = {
  /** Takes what came, and returns what may pass: all of it before a fault. */
  push(chunk: Uint8Array): Uint8Array | undefined;
  /** Takes the end of the stream, and returns what may pass. */
  end(): Uint8Array | undefined;
  /** Why the stream is no answer; undefined as long as it can be one. */
  fault(): StreamFault | undefined;
  /** Whether the stream has said that it is over. */
  isDone(): boolean;
  /** Whether the model has said all, if not yet the stream that it is over. */
  isWhole(): boolean;
  /** What is kept until the generation is stored. */
  held(): Uint8Array;
  /** What came so far. */
  answer(): ReadAnswer;
};

const done = "[DONE]";
/** Bytes that are kept of the end; behind `[DONE]` no provider says much. */
const heldBytesMax = 65_536;
/** What is recorded of an event lies in a list of choices. */
const eventDepthMax = nestingDepthMax - 2;

/** `choices` is how many the request asks for; `keep` is told of what is kept. */
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

/** Tells whether a stream ended in the middle of an event, and not only before its blank line. */
function isCut({ data }: SseEvent): boolean {
  return data !== undefined && data.trim() !== done && tryParseJson(data) === undefined;
}

/** Servers that are like OpenAI's tell in several ways that they failed. */
function isError(json: JsonValue | undefined, name: string): boolean {
  if (name === "error") return true;
  if (!isJsonObject(json)) return false;
  return (json["error"] ?? null) !== null || json["object"] === "error";
}
