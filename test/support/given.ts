// What the tests of a file, or of a `describe`, share.

import { afterAll, beforeAll } from "vitest";

type Stoppable = { stop(): Promise<unknown> };

/**
 * Registers hooks that start something before the tests and stop it after them. Its members can be
 * read from then on; what is given later may need it, and stops first.
 */
export function given<T extends Stoppable>(start: () => Promise<T>): T;
export function given<T extends object>(
  start: () => Promise<T>,
  stop: (started: T) => Promise<unknown>,
): T;
export function given<T extends Stoppable>(
  start: () => Promise<T>,
  stop = (started: T) => started.stop(),
): T {
  let started: T | undefined;
  beforeAll(async () => {
    started = await start();
  });
  afterAll(() => started && stop(started));
  return new Proxy({} as T, {
    get(_, name): unknown {
      if (!started) throw new Error(`${String(name)} is read before the tests`);
      return Reflect.get(started, name);
    },
  });
}
