// Points in time as filters and dates give them. Called by filter.ts, export.ts and the session
// list. Source: docs/decisions.md, 2, 3 and 16.

import { parseTimeMs } from "../../base/iso-time.ts";

/**
 * The microseconds that a time stands for, the end excluded. Answers show whole milliseconds, so a
 * time that is a whole millisecond stands for all of it: what was read can be asked for again.
 */
export type Instant = { readonly fromUs: number; readonly toUs: number };

const usPerMs = 1000;

/** Returns the instant of Unix milliseconds; fractions count to the microsecond. */
export function toInstant(timeMs: number): Instant {
  const fromUs = Math.round(timeMs * usPerMs);
  return { fromUs, toUs: fromUs + (Number.isInteger(timeMs) ? usPerMs : 1) };
}

/** Reads a time in any form that fields of requests take too; undefined for anything else. */
export function parseInstant(value: unknown): Instant | undefined {
  const timeMs = parseTimeMs(value);
  return timeMs === undefined ? undefined : toInstant(timeMs);
}
