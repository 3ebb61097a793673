// Points in time as filters and dates give them. Source: docs/decisions.md, 2, 3 and 16.

import { refuse } from "../../base/errors.ts";
import { isTimeMs, parseTimeMs } from "../../base/iso-time.ts";

/**
 * Range of microseconds that a time stands for, the end excluded. Answers show whole milliseconds,
 * so a whole millisecond stands for all its microseconds: a time read from an answer finds its
 * event.
 */
export type Instant = { readonly fromUs: number; readonly toUs: number };

const usPerMs = 1000;

/** Returns the instant of Unix milliseconds; fractions are exact to the microsecond. */
function toInstant(timeMs: number): Instant {
  const fromUs = Math.round(timeMs * usPerMs);
  return { fromUs, toUs: fromUs + (Number.isInteger(timeMs) ? usPerMs : 1) };
}

/** Reads a time in any form that request fields accept; undefined for anything else. */
export function parseInstant(value: unknown): Instant | undefined {
  const timeMs = parseTimeMs(value);
  return timeMs === undefined ? undefined : toInstant(timeMs);
}

/** Bounds on start times from a request, in Unix milliseconds and inclusive. Each may be absent. */
export type Bounds = {
  readonly fromMs: readonly (number | undefined)[];
  readonly toMs: readonly (number | undefined)[];
};

/**
 * Returns the narrowest of the bounds in microseconds: `fromUs` inclusive, `toUs` exclusive. Throws
 * INVALID_ARGUMENT for an invalid time.
 */
export function parseBounds({ fromMs, toMs }: Bounds): {
  readonly fromUs: number | undefined;
  readonly toUs: number | undefined;
} {
  const from = fromMs.filter((time) => time !== undefined);
  const to = toMs.filter((time) => time !== undefined);
  for (const time of [...from, ...to]) {
    if (!isTimeMs(time)) {
      refuse("dateRange", "must hold Unix milliseconds");
    }
  }
  return {
    fromUs: from.length ? Math.max(...from.map((time) => toInstant(time).fromUs)) : undefined,
    toUs: to.length ? Math.min(...to.map((time) => toInstant(time).toUs)) : undefined,
  };
}
