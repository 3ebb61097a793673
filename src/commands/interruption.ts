// Interruption of commands that wait for something or have started a Postgres.

import { OperatorError } from "../base/operator-error.ts";

/**
 * Waits for `work`, but throws the signal's reason as soon as it is aborted; `work` continues
 * unobserved.
 */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason as Error);
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Runs `work` with a signal that SIGTERM and SIGINT abort. They do not end the process, so that
 * `work` can stop what it has started. The signal's reason says that the command did not finish.
 */
export async function interruptibly<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupt = (name: NodeJS.Signals) => {
    controller.abort(new OperatorError(`stopped by ${name} before it was done`));
  };
  process.on("SIGTERM", interrupt).on("SIGINT", interrupt);
  try {
    return await work(controller.signal);
  } finally {
    process.off("SIGTERM", interrupt).off("SIGINT", interrupt);
  }
}
