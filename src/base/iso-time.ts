// The one grammar of points in time, in requests and in SQL on stored JSON: Unix milliseconds as a
// number or as text, or ISO 8601 text. Source: docs/decisions.md, 2 and 16.

/** Range of Date; its microseconds fit Postgres' bigint. */
const timeMsMax = 8.64e15;

const numberPattern = /^[+-]?[0-9]+(?:\.[0-9]*)?$/;

/**
 * ISO 8601, letters in either case. Groups: year, month, day, hour, minute, second, digits of the
 * fraction, then sign, hours and minutes of the zone. Postgres uses the pattern too: digits are
 * spelled out because its `\d` matches digits of any script, and year 0 is excluded because
 * Postgres has none. Impossible days such as 30 February match.
 */
export const isoPattern =
  "^(?!0000)([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])" +
  "(?:[Tt ]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:[.,]([0-9]+))?)?" +
  "(?: ?(?:[Zz]|([+-])([01][0-9]|2[0-3])(?::?([0-5][0-9]))?))?)?$";
const iso = new RegExp(isoPattern);

/**
 * Reads a time as Unix milliseconds, with fractions down to the microsecond. Text without a zone is
 * UTC; text without a clock time is midnight. Returns undefined for anything else, 30 February
 * included.
 */
export function parseTimeMs(value: unknown): number | undefined {
  const timeMs = typeof value === "string" ? parseText(value.trim()) : value;
  return typeof timeMs === "number" && isTimeMs(timeMs) ? timeMs : undefined;
}

/** Returns true if a number of milliseconds is a time: finite and in the range of Date. */
export function isTimeMs(value: number): boolean {
  return Math.abs(value) <= timeMsMax;
}

function parseText(text: string): number | undefined {
  if (numberPattern.test(text)) return Number(text);
  const [, year, month, day, hour, minute, second, fraction, sign, zoneHours, zoneMinutes] =
    iso.exec(text) ?? [];
  if (year === undefined) return undefined;
  const midnight = new Date(0);
  midnight.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  // Date turns 30 February into a day of March.
  if (midnight.getUTCDate() !== Number(day)) return undefined;
  const zone = Number(zoneHours ?? 0) * 60 + Number(zoneMinutes ?? 0);
  const minutes = Number(hour ?? 0) * 60 + Number(minute ?? 0) - (sign === "-" ? -zone : zone);
  const fractionMs = Math.round(Number(`0.${fraction ?? 0}`) * 1e6) / 1e3;
  return midnight.getTime() + (minutes * 60 + Number(second ?? 0)) * 1000 + fractionMs;
}
