// What the tests of a file, or of a `describe`, share.

import { afterAll, beforeAll } from "vitest";

/** A server of a test may need minutes on a busy machine. */
const startMs = 600_000;

type Stoppable = { stop(): Promise<unknown> };

/**
 * Registers hooks that start something before the tests, from when its members can be read, and
 * stop it after them. Starts that come later may need it, and are stopped first.
 */
export function givenStarted<T extends Stoppable>(start: () => Promise<T> | T): T;
export function givenStarted<T extends object>(
  start: () => Promise<T> | T,
  stop: (started: T) => Promise<unknown>,
): T;
export function givenStarted<T extends Stoppable>(
  start: () => Promise<T> | T,
  stop = (started: T) => started.stop(),
): T {
  const given = {} as T;
  let started: T | undefined;
  beforeAll(async () => {
    started = await start();
    Object.defineProperties(given, Object.getOwnPropertyDescriptors(started));
  }, startMs);
  afterAll(() => started && stop(started));
  return given;
}
