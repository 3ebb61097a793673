// Long work in steps: it yields at each point where it may pause; its caller decides when it
// pauses.

import type { Pacer } from "./pacer.ts";

/** Work in steps. Returns its result after the last step. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Runs work and pauses between its steps when the pacer is due. */
export async function runPaced<T>(steps: Steps<T>, pacer: Pacer): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (pacer.due()) await pacer.rest();
  }
}
