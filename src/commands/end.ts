// The log of a process that runs until it is told to stop, and what tells it.

import { createLogger } from "../base/logger.ts";
import type { Logger } from "../base/logger.ts";
import type { Config } from "../config.ts";
import { onSupervisorEnd } from "./supervised.ts";

export type End = {
  /** The exit code: 0 after SIGTERM, SIGINT or the supervisor's end, 1 after an uncaught bug. */
  readonly code: Promise<number>;
  /** Aborted at the same time, so that a start is not finished first. */
  readonly signal: AbortSignal;
  /** Settles at a second signal: whoever sends it does not want to wait for running requests. */
  readonly hurry: Promise<void>;
};

/** npm hands on the Ctrl-C that the terminal has already sent us: both are one wish. */
const sameSignalMs = 1_000;

export type WatchForEndOptions = {
  /** Whether the process that started this one is its supervisor, and ends it by ending. */
  readonly isSupervised?: boolean;
};

/** Watches, from now on, for what ends the service. */
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
      logger.fatal({ err: error }, "stopping for a bug");
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

/** Makes the log that a configuration asks for. */
export function loggerOf(config: Config): Logger {
  return createLogger(config.logLevel);
}
