// The service's log: JSON lines on standard error, so that standard output stays free for people.
// Never logs keys or bodies.

import { destination, pino } from "pino";

export type Logger = Pick<
  pino.Logger,
  "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "isLevelEnabled"
>;

const standardError = 2;

/** Returns a logger that drops messages below `level`. */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // A second safeguard: no code logs headers.
      redact: [
        "authorization",
        "*.authorization",
        "headers.authorization",
        "*.headers.authorization",
      ],
    },
    destination({ dest: standardError, sync: true }),
  );
}
