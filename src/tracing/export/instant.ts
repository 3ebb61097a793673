// Points in time as filters give them: Unix milliseconds or ISO 8601 text. Called by filter.ts.
// Source: docs/decisions.md, 2, 3 and 16.

/**
 * The microseconds that a time stands for, the end excluded. Answers show whole milliseconds, so a
 * time that is a whole millisecond stands for all of it: what was read can be asked for again.
 */
export type Instant = { readonly fromUs: number; readonly toUs: number };

const usPerMs = 1000;
const daysUs = 86_400_000_000;

// For Postgres too: digits are spelled out, since its `\d` takes those of any script.
export const isoPattern =
  "^([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])" +
  "(?:[T ]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])([.][0-9]{1,9})?)?" +
  "(Z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])?)?$";
const iso = new RegExp(isoPattern);
const numeric = /^[+-]?\d+(?:\.\d+)?$/;

/** Returns the instant of Unix milliseconds; fractions count to the microsecond. */
export function toInstant(timeMs: number): Instant {
  const fromUs = Math.round(timeMs * usPerMs);
  return { fromUs, toUs: fromUs + (fromUs % usPerMs === 0 ? usPerMs : 1) };
}

/**
 * Reads a time: a number of Unix milliseconds, the same as text, or ISO 8601 text. Without a zone
 * it is UTC, without a clock time midnight; a day past its month's end counts on into the next.
 * Returns undefined for anything else.
 */
export function parseInstant(value: unknown): Instant | undefined {
  if (typeof value === "number") return isInRange(value) ? toInstant(value) : undefined;
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  if (numeric.test(text)) return isInRange(Number(text)) ? toInstant(Number(text)) : undefined;
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = 0, zone = "Z"] =
    iso.exec(text) ?? [];
  if (year === undefined || year === "0000") return undefined;
  const midnight = new Date(0);
  midnight.setUTCFullYear(Number(year), Number(month) - 1, 1);
  const dayUs = midnight.getTime() * usPerMs + (Number(day) - 1) * daysUs;
  const minutes = Number(hour) * 60 + Number(minute) - zoneMinutes(zone);
  const fractionUs = Math.round(Number(fraction) * 1_000_000);
  const fromUs = dayUs + (minutes * 60 + Number(second)) * 1_000_000 + fractionUs;
  return { fromUs, toUs: fromUs + (fromUs % usPerMs === 0 ? usPerMs : 1) };
}

// Microseconds of a time must stay whole in a double.
function isInRange(timeMs: number): boolean {
  return Math.abs(timeMs * usPerMs) < Number.MAX_SAFE_INTEGER;
}

function zoneMinutes(zone: string): number {
  if (zone === "Z") return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2));
  return zone.startsWith("-") ? -minutes : minutes;
}
