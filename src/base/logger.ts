// The service's log: JSON lines on standard error, so that standard output stays free for people.
// Never logs keys or bodies.

import { destination, type DestinationStream, pino } from "pino";

export type Logger = Pick<
  pino.Logger,
  "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "isLevelEnabled"
>;

const standardError = 2;

/**
 * Returns a logger to standard error that drops messages below `level`. Lines that cannot be
 * written, as on a full disk, are left out; the next one that can be is followed by their number.
 */
export function createLogger(level: string): Logger {
  let isLost = false;
  let lines = 0;
  let to = openStandardError();
  const logger = createLoggerTo({ write }, level);
  return logger;

  function openStandardError() {
    const opened = destination({ dest: standardError, sync: true });
    return opened.on("error", () => (isLost = true));
  }

  function write(line: string): void {
    isLost = false;
    to.write(line);
    if (isLost) {
      lines += 1;
      // The old one keeps the line.
      to = openStandardError();
    } else if (lines > 0) {
      const lost = { lines };
      lines = 0;
      logger.warn(lost, "lines before this one could not be written to the log");
    }
  }
}

/** Returns a logger that writes to `to` and drops messages below `level`. */
export function createLoggerTo(to: DestinationStream, level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // The name that Temporal's SDK gives to the cause; pino knows `err` alone.
      serializers: { error: pino.stdSerializers.err },
      formatters: {
        log: (fields) => (namesAuthorization(fields, 1) ? hide(fields, 1) : fields),
      },
    },
    to,
  );
}

/** Levels of objects in a line that are searched for a header with a credential. */
const levelsMax = 4;

/**
 * Returns whether a header with a credential is among the fields. A second safeguard, since no code
 * logs headers. pino's own `redact` takes 4 µs for a line without one.
 */
function namesAuthorization(fields: object, level: number): boolean {
  for (const [name, value] of Object.entries(fields)) {
    if (isAuthorization(name)) return true;
    if (isSearched(value, level) && namesAuthorization(value, level + 1)) return true;
  }
  return false;
}

function hide(fields: object, level: number): Record<string, unknown> {
  const plain = fields instanceof Error ? pino.stdSerializers.err(fields) : fields;
  const shown = Object.entries(plain).map(([name, value]: [string, unknown]) => {
    if (isAuthorization(name)) return [name, "[redacted]"] as const;
    return [name, isSearched(value, level) ? hide(value, level + 1) : value] as const;
  });
  return Object.fromEntries(shown);
}

function isAuthorization(name: string): boolean {
  return name.toLowerCase() === "authorization";
}

function isSearched(value: unknown, level: number): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value) && level < levelsMax;
}
