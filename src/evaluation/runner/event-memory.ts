// Memory of the events that evaluators run on: bounded for one event, and for all of them together.
// Source: docs/evaluators.md, "Under load".

import type { JsonObject } from "../../base/json.ts";
import { memoryOfText } from "../../base/json-memory.ts";
import { createSharedBytes, type SharedBytes } from "../../base/shared-bytes.ts";
import { evaluatedBytesMax } from "../../base/tenant-limits.ts";

/** Opens the memory of one work that runs evaluators on events. */
export type EventMemory = SharedBytes;

/** Bytes of one event, as `memoryOfEvent` counts: all that a project may have at a time. */
export const eventMemoryMax = evaluatedBytesMax / 2;

/** What is wrong with an event that takes more. */
export const tooLarge =
  "takes more memory than evaluators are given: 16 MB of text, less where it has many objects";

/** Beside the parsed event there are its text and bytes on the way to a sandbox. */
const copies = 3;

export function createEventMemory(): EventMemory {
  return createSharedBytes(evaluatedBytesMax, "events of evaluators");
}

/** Returns the bytes that an event takes while an evaluator runs on it, roughly. */
export function memoryOfEvent(event: JsonObject): number {
  const text = JSON.stringify(event);
  return copies * text.length + memoryOfText(text);
}
