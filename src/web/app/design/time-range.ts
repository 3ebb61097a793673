// Time ranges in addresses: a number of minutes back from now, or two times. Both read as one range
// of Unix milliseconds.

export type TimeRange =
  /** The last minutes up to now. */
  { readonly last: number } | { readonly from: number; readonly to: number };

export const rangeDefault: TimeRange = { last: 24 * 60 };
export const weekRange: TimeRange = { last: 7 * 24 * 60 };
export const monthRange: TimeRange = { last: 30 * 24 * 60 };

export const lastChoices: readonly { readonly minutes: number; readonly label: string }[] = [
  { minutes: 15, label: "Last 15 minutes" },
  { minutes: 60, label: "Last hour" },
  { minutes: 6 * 60, label: "Last 6 hours" },
  { minutes: 24 * 60, label: "Last 24 hours" },
  { minutes: 7 * 24 * 60, label: "Last 7 days" },
  { minutes: 30 * 24 * 60, label: "Last 30 days" },
];

/** End of the year 9999: no date of the API is later. */
const timeMaxMs = 253_402_300_799_999;
const lastMaxMinutes = 100 * 365 * 24 * 60;

/** Reads the range of an address; undefined for another form. */
export function parseTimeRange(range: unknown): TimeRange | undefined {
  if (typeof range !== "object" || range === null) return undefined;
  const { last, from, to } = range as Record<string, unknown>;
  if (isWhole(last, lastMaxMinutes)) return { last };
  if (isWhole(from, timeMaxMs) && isWhole(to, timeMaxMs) && from < to) return { from, to };
  return undefined;
}

function isWhole(value: unknown, max: number): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0 && (value as number) <= max;
}

/**
 * Steps to which the start of a moving range is rounded, so that the same question is asked again.
 */
const stepMs = 60_000;

/** Returns the bounds in Unix milliseconds; a range up to now has no end. */
export function boundsOf(range: TimeRange, nowMs: number): { from: number; to?: number } {
  if ("from" in range) return { from: range.from, to: range.to };
  return { from: Math.floor(nowMs / stepMs) * stepMs - range.last * 60_000 };
}

const minuteMs = 60_000;

/** Formats a range for its button; years and seconds stand where the range needs them. */
export function formatRange(range: TimeRange): string {
  if ("from" in range) {
    const times = [range.from, range.to];
    const thisYear = new Date().getFullYear();
    const format = new Intl.DateTimeFormat("en", {
      ...(times.some((time) => new Date(time).getFullYear() !== thisYear) && { year: "numeric" }),
      month: "short",
      day: "numeric",
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
      ...(times.some((time) => time % minuteMs >= 1_000) && { second: "2-digit" }),
    });
    return format.formatRange(range.from, range.to);
  }
  const choice = lastChoices.find(({ minutes }) => minutes === range.last);
  return choice?.label ?? `Last ${range.last} minutes`;
}

/** Name of the time zone in which times are shown. */
export const zoneName = Intl.DateTimeFormat().resolvedOptions().timeZone;
