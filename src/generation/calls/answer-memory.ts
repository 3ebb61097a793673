// What a generation keeps until it is stored, of its answer and of a prompt that was filled in:
// bounded for itself, and together with all others. Source: docs/decisions.md, 21.

import { AsyncLocalStorage } from "node:async_hooks";
import type { Reservation } from "../../base/byte-budget.ts";
import { ServiceError } from "../../base/errors.ts";
import { createSharedBytes, type SharedBytes } from "../../base/shared-bytes.ts";
import { modelAnswerBytesMax } from "../../base/tenant-limits.ts";

/** Opens the memory of one generation, to be released when it is stored. */
export type AnswerMemory = SharedBytes;

/** Returns the memory of all generations: so many bytes, of which an organization has a part. */
export function createAnswerMemory(bytesMax: number): AnswerMemory {
  return createSharedBytes(bytesMax, "calls of models");
}

/** The memory of the generation that sends requests now: undici and the SDKs hand nothing on. */
export const currentAnswer = new AsyncLocalStorage<Reservation>();

/** Counts what is gathered of a stream. */
export type Keep = (bytes: number) => void;

/**
 * Returns what counts the gathered parts of one answer in the memory of its generation. It fails
 * with PROVIDER_FAILED where the answer is too large by itself, with OVERLOADED where all are.
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

/** Bytes that a character of a prompt takes: in the text, in the request, and in the event. */
const promptCharacterBytes = 3;

/** Counts a prompt that was filled in, of which the request has but the parts. */
export function keepPrompt(memory: Reservation, characters: number): void {
  memory.grow(promptCharacterBytes * characters);
}
