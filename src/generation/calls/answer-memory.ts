// What a generation keeps of its answer until it is stored: bounded for itself, and together with
// all others. Opened by chat and proxy; counted by answer-watch.ts where an answer comes whole, and
// by whoever gathers a stream. Source: docs/decisions.md, 21.

import { AsyncLocalStorage } from "node:async_hooks";
import { type ByteBudget, createByteBudget, type Reservation } from "../../base/byte-budget.ts";
import { ServiceError } from "../../base/errors.ts";

/** Bytes of an answer that is kept. */
export const answerBytesMax = 32_000_000;

/** A project whose provider says much, and slowly, leaves others the rest. */
const projectShare = 1 / 2;

export type AnswerMemory = {
  /** Returns the memory of one generation, to be released when it is stored. */
  open(projectId: string): Reservation;
};

/** Returns the memory of all generations: so many bytes, of which a project has half at most. */
export function createAnswerMemory(bytesMax: number): AnswerMemory {
  const all = createByteBudget(bytesMax);
  const projects = new Map<string, { readonly budget: ByteBudget; open: number }>();

  return {
    open(projectId) {
      const project = projects.get(projectId) ?? {
        budget: createByteBudget(bytesMax * projectShare),
        open: 0,
      };
      projects.set(projectId, project);
      project.open += 1;
      const own = project.budget.open();
      const shared = all.open();
      let isReleased = false;
      return {
        grow(bytes) {
          own.grow(bytes);
          try {
            shared.grow(bytes);
          } catch (error) {
            own.shrink(bytes);
            throw error;
          }
        },
        shrink(bytes) {
          own.shrink(bytes);
          shared.shrink(bytes);
        },
        release() {
          if (isReleased) return;
          isReleased = true;
          own.release();
          shared.release();
          project.open -= 1;
          if (project.open === 0) projects.delete(projectId);
        },
      };
    },
  };
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
    if (kept > answerBytesMax) {
      throw new ServiceError("PROVIDER_FAILED", `the answer is over ${answerBytesMax} bytes`);
    }
    memory.grow(bytes);
  };
}
