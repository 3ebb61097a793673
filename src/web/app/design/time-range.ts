// Time ranges in addresses: a number of minutes back from now, or two times. Both read as one range
// of Unix milliseconds.

export type TimeRange =
  /** The last minutes up to now. */
  { readonly last: number } | { readonly from: number; readonly to: number };

export const rangeDefault: TimeRange = { last: 24 * 60 };

export const lastChoices: readonly { readonly minutes: number; readonly label: string }[] = [
  { minutes: 15, label: "Last 15 minutes" },
  { minutes: 60, label: "Last hour" },
  { minutes: 6 * 60, label: "Last 6 hours" },
  { minutes: 24 * 60, label: "Last 24 hours" },
  { minutes: 7 * 24 * 60, label: "Last 7 days" },
  { minutes: 30 * 24 * 60, label: "Last 30 days" },
];

/** Reads `range` of search parameters; leaves out what is no range. */
export function parseTimeRange(search: Record<string, unknown>): { range?: TimeRange } {
  const { range } = search;
  if (typeof range !== "object" || range === null) return {};
  const { last, from, to } = range as Record<string, unknown>;
  if (isTime(last)) return { range: { last } };
  if (isTime(from) && isTime(to) && from < to) return { range: { from, to } };
  return {};
}

function isTime(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
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

const dateTime = new Intl.DateTimeFormat("en", {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});

/** Formats a range for its button. */
export function formatRange(range: TimeRange): string {
  if ("from" in range) return dateTime.formatRange(range.from, range.to);
  const choice = lastChoices.find(({ minutes }) => minutes === range.last);
  return choice?.label ?? `Last ${range.last} minutes`;
}

/** Name of the time zone in which times are shown. */
export const zoneName = Intl.DateTimeFormat().resolvedOptions().timeZone;
