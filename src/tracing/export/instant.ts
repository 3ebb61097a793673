// Points in time as filters and dates give them. Called by filter.ts, export.ts and the session
// list. Source: docs/decisions.md, 2, 3 and 16.

import { ServiceError } from "../../base/errors.ts";
import { isTimeMs, parseTimeMs } from "../../base/iso-time.ts";

/**
 * The microseconds that a time stands for, the end excluded. Answers show whole milliseconds, so a
 * time that is a whole millisecond stands for all of it: what was read can be asked for again.
 */
export type Instant = { readonly fromUs: number; readonly toUs: number };

const usPerMs = 1000;

/** Returns the instant of Unix milliseconds; fractions count to the microsecond. */
function toInstant(timeMs: number): Instant {
  const fromUs = Math.round(timeMs * usPerMs);
  return { fromUs, toUs: fromUs + (Number.isInteger(timeMs) ? usPerMs : 1) };
}

/** Reads a time in any form that fields of requests take too; undefined for anything else. */
export function parseInstant(value: unknown): Instant | undefined {
  const timeMs = parseTimeMs(value);
  return timeMs === undefined ? undefined : toInstant(timeMs);
}

/** Bounds on start times as requests carry them: Unix milliseconds, included, any may be absent. */
export type Bounds = {
  readonly fromMs: readonly (number | undefined)[];
  readonly toMs: readonly (number | undefined)[];
};

/**
 * Returns the narrowest of the bounds in microseconds: `fromUs` included, `toUs` not. Throws
 * INVALID_ARGUMENT for what is no time.
 */
export function parseBounds({ fromMs, toMs }: Bounds): {
  readonly fromUs: number | undefined;
  readonly toUs: number | undefined;
} {
  const from = fromMs.filter((time) => time !== undefined);
  const to = toMs.filter((time) => time !== undefined);
  for (const time of [...from, ...to]) {
    if (!isTimeMs(time)) {
      throw new ServiceError("INVALID_ARGUMENT", "dateRange: must hold Unix milliseconds");
    }
  }
  return {
    fromUs: from.length ? Math.max(...from.map((time) => toInstant(time).fromUs)) : undefined,
    toUs: to.length ? Math.min(...to.map((time) => toInstant(time).toUs)) : undefined,
  };
}
