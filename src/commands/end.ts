// Logger of a long-running process, and the events that end it.

import { createLogger, type Logger } from "../base/logger.ts";
import type { Config } from "../config.ts";
import { isOfOpening } from "../postgres/faults.ts";
import { onSupervisorEnd } from "./supervised.ts";

export type End = {
  /** Exit code: 0 after SIGTERM, SIGINT or the supervisor's end, 1 after an uncaught error. */
  readonly code: Promise<number>;
  /** Aborted at the same time, so that a start is interrupted. */
  readonly signal: AbortSignal;
  /** Settles at a second signal, which asks to stop without waiting for running requests. */
  readonly hurry: Promise<void>;
};

/** Time within which a repeated signal is ignored: npm forwards the Ctrl-C of the terminal. */
const sameSignalMs = 1_000;

export type WatchForEndOptions = {
  /** Whether the parent process is a supervisor whose end also ends this process. */
  readonly isSupervised?: boolean;
};

/** Starts watching for the events that end the service. */
export function watchForEnd(logger: Logger, options: WatchForEndOptions = {}): End {
  const code = Promise.withResolvers<number>();
  const controller = new AbortController();
  const hurry = Promise.withResolvers<undefined>();
  let firstMs: number | undefined;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      firstMs ??= Date.now();
      logger.info({ signal }, "stopping");
      code.resolve(0);
      controller.abort();
      if (Date.now() - firstMs > sameSignalMs) hurry.resolve(undefined);
    });
  }
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      if (isOfOpening(error)) {
        logger.warn({ err: error }, "a connection to Postgres was lost while it opened");
        return;
      }
      logger.fatal({ err: error }, "stopping after an unexpected error");
      code.resolve(1);
      controller.abort();
    });
  }
  if (options.isSupervised === true) {
    onSupervisorEnd(() => {
      logger.error("stopping: the supervisor has ended");
      code.resolve(0);
      controller.abort();
    });
  }
  return { code: code.promise, signal: controller.signal, hurry: hurry.promise };
}

/** Creates the logger of a configuration. */
export function loggerOf(config: Config): Logger {
  return createLogger(config.logLevel);
}
