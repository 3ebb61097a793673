// Memory of the events that evaluators run on, bounded per event and for all events together.
// Source: docs/evaluators.md, "Under load".

import type { JsonObject } from "../../base/json.ts";
import { memoryOfText } from "../../base/json-memory.ts";
import { createSharedBytes, type SharedBytes } from "../../base/shared-bytes.ts";
import { evaluatedBytesMax } from "../../base/tenant-limits.ts";

/** Opens the memory of one task that runs evaluators on events. */
export type EventMemory = SharedBytes;

/** Maximum bytes of one event, as counted by `memoryOfEvent`: a project's whole share. */
export const eventMemoryMax = evaluatedBytesMax / 2;

/** Fault of a larger event. */
export const tooLarge =
  "takes more memory than evaluators are given: 16 MB of text, less where it has many objects";

/**
 * Copies of an event's text: in addition to the parsed event, its text and its bytes on the way to
 * a sandbox exist.
 */
const copies = 3;

export function createEventMemory(): EventMemory {
  return createSharedBytes(evaluatedBytesMax, "events of evaluators");
}

/** Returns the approximate bytes of an event while an evaluator runs on it. */
export function memoryOfEvent(event: JsonObject): number {
  const text = JSON.stringify(event);
  return copies * text.length + memoryOfText(text);
}
