// Periods of alerts: hours, days, weeks from Monday, and months, in UTC.

export const frequencies = ["HOURLY", "DAILY", "WEEKLY", "MONTHLY"] as const;
export type Frequency = (typeof frequencies)[number];

/** A period in Unix milliseconds; the end is excluded. */
export type Period = { readonly startMs: number; readonly endMs: number };

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const lengthsMs = { HOURLY: hourMs, DAILY: dayMs, WEEKLY: 7 * dayMs } as const;
/** 1970-01-01 was a Thursday; the first Monday came four days later. */
const mondayMs = 4 * dayMs;

/** Returns the end of the first period that ends after a time. */
export function nextEnd(frequency: Frequency, afterMs: number): number {
  if (frequency === "MONTHLY") return shiftMonths(monthOf(afterMs), 1);
  const length = lengthsMs[frequency];
  const origin = frequency === "WEEKLY" ? mondayMs : 0;
  return (Math.floor((afterMs - origin) / length) + 1) * length + origin;
}

/** Returns whether a period of a frequency ends at a time. */
export function isEnd(frequency: Frequency, atMs: number): boolean {
  return nextEnd(frequency, atMs - 1) === atMs;
}

/** Returns the period that ends at an end. */
export function periodTo(frequency: Frequency, endMs: number): Period {
  if (frequency === "MONTHLY") return { startMs: shiftMonths(monthOf(endMs), -1), endMs };
  return { startMs: endMs - lengthsMs[frequency], endMs };
}

function monthOf(timeMs: number): readonly [year: number, month: number] {
  const time = new Date(timeMs);
  return [time.getUTCFullYear(), time.getUTCMonth()];
}

function shiftMonths([year, month]: readonly [number, number], months: number): number {
  return Date.UTC(year, month + months, 1);
}
