// Time limits of work that nothing can interrupt, such as a question to a database that is silent.

import { ServiceError } from "./errors.ts";
import { ingestionTimeoutMs } from "./limits.ts";

/** Settles like `work`, or fails with `late()` if that takes longer. The work runs on. */
export async function within<T>(
  timeoutMs: number,
  work: Promise<T>,
  late: () => Error,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(late()), timeoutMs);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

/**
 * Settles like `work`, a part of a longer call that waits for the database, or fails with
 * DATABASE_UNAVAILABLE after the time in which events must be stored. The work runs on.
 */
export function inDatabaseTime<T>(work: Promise<T>, timeoutMs = ingestionTimeoutMs): Promise<T> {
  const message = `the database did not answer in ${timeoutMs} ms`;
  return within(timeoutMs, work, () => new ServiceError("DATABASE_UNAVAILABLE", message));
}
