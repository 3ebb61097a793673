// Long work in steps: it yields where it may rest, and its caller decides when it does.

import type { Pacer } from "./pacer.ts";

/** Work in steps; it returns its result after the last. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Runs work, with a rest between its steps whenever one is due. */
export async function runPaced<T>(steps: Steps<T>, pacer: Pacer): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (pacer.due()) await pacer.rest();
  }
}
