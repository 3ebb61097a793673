// Memory of a generation until it is stored: its answer and its filled-in prompt. Limited for each
// generation and for all together. Source: docs/decisions.md, 21.7.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Reservation } from "../../base/byte-budget.ts";
import { ServiceError } from "../../base/errors.ts";
import { createSharedBytes, type SharedBytes } from "../../base/shared-bytes.ts";
import { modelAnswerBytesMax } from "../../base/tenant-limits.ts";

/** Opens the memory of one generation, which is released when the generation is stored. */
export type AnswerMemory = SharedBytes;

/** Creates the memory of all generations; an organization or project may use a part of it. */
export function createAnswerMemory(bytesMax: number): AnswerMemory {
  return createSharedBytes(bytesMax, "calls of models");
}

/** Memory of the generation that sends the current request: undici and the SDKs pass no context. */
export const currentAnswer = new AsyncLocalStorage<Reservation>();

/** Counts bytes that are gathered from a stream. */
export type Keep = (bytes: number) => void;

/**
 * Returns a counter for the gathered parts of one answer, charged to the memory of its generation.
 * It fails with PROVIDER_FAILED if this answer is too large, with OVERLOADED if all together are.
 */
export function keeperOf(memory: Reservation): Keep {
  let kept = 0;
  return (bytes) => {
    kept += bytes;
    if (kept > modelAnswerBytesMax) {
      throw new ServiceError("PROVIDER_FAILED", `the answer is over ${modelAnswerBytesMax} bytes`);
    }
    memory.grow(bytes);
  };
}

/** Bytes for each character of a prompt: in the text, in the request and in the event. */
const promptCharacterBytes = 3;

/** Charges a filled-in prompt: the request itself contains only the template and its values. */
export function keepPrompt(memory: Reservation, characters: number): void {
  memory.grow(promptCharacterBytes * characters);
}
