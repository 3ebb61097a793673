// Charts computed in memory, for comparison: buckets by the calendar of a time zone, aggregations
// by their definitions.

export type ReferenceEvent = {
  /** Unix milliseconds. */
  readonly at: number;
  readonly split: string | null;
  /** By measure; null without a number. */
  readonly values: Readonly<Record<string, number | null>>;
};

export type ReferenceUnit = "minute" | "hour" | "day" | "week" | "month";

const minuteMs = 60_000;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  formats.set(timeZone, format);
  return format;
}

/** Returns the clock of a zone at a time. */
function clockOf(at: number, timeZone: string) {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts;
  return { year, month, day, hour, minute };
}

const starts = new Map<string, number>();

/** Returns the first time at which a zone's calendar shows a day, which is on a quarter hour. */
function startOfDay(timeZone: string, dayUtc: number): number {
  const key = `${timeZone} ${dayUtc}`;
  const known = starts.get(key);
  if (known !== undefined) return known;
  // A zone is little more than half a day away from UTC.
  for (let at = dayUtc - 16 * 60 * minuteMs; ; at += 15 * minuteMs) {
    const { year, month, day } = clockOf(at, timeZone);
    if (Date.UTC(year, month - 1, day) < dayUtc) continue;
    starts.set(key, at);
    return at;
  }
}

const quarterMs = 15 * minuteMs;

/**
 * Returns the start of the hour of a zone's clock: the last full hour, or the first moment that
 * shows the hour, where clocks were moved over its start.
 */
function startOfHour(at: number, timeZone: string): number {
  const { hour } = clockOf(at, timeZone);
  for (let start = Math.floor(at / quarterMs) * quarterMs; ; start -= quarterMs) {
    if (clockOf(start, timeZone).minute === 0) return start;
    if (clockOf(start - quarterMs, timeZone).hour !== hour) return start;
  }
}

/** Returns the start of the bucket of a time. */
export function bucketOf(at: number, unit: ReferenceUnit, timeZone: string): number {
  if (unit === "minute") return Math.floor(at / minuteMs) * minuteMs;
  if (unit === "hour") return startOfHour(at, timeZone);
  const clock = clockOf(at, timeZone);
  const date = new Date(Date.UTC(clock.year, clock.month - 1, clock.day));
  // Weeks begin on Monday.
  if (unit === "week") date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  if (unit === "month") date.setUTCDate(1);
  return startOfDay(timeZone, date.getTime());
}

function percentile(sorted: readonly number[], part: number): number | null {
  const place = (sorted.length - 1) * part;
  const low = sorted[Math.floor(place)];
  const high = sorted[Math.ceil(place)];
  if (low === undefined || high === undefined) return null;
  return low + (high - low) * (place - Math.floor(place));
}

const parts = { median: 0.5, p75: 0.75, p90: 0.9, p95: 0.95, p99: 0.99 } as const;

export const aggregations = ["count", "sum", "avg", "min", "max", ...Object.keys(parts)];

/** Returns the numbers that events have for a measure. */
export function numbersOf(events: readonly ReferenceEvent[], metric: string): readonly number[] {
  return events.flatMap(({ values }) => values[metric] ?? []);
}

/** Aggregates numbers; null without one, where there is no natural 0. */
export function aggregate(values: readonly number[], aggregation: string): number | null {
  const sum = values.reduce((left, right) => left + right, 0);
  if (aggregation === "count") return values.length;
  if (aggregation === "sum") return sum;
  if (values.length === 0) return null;
  if (aggregation === "avg") return sum / values.length;
  const sorted = values.toSorted((left, right) => left - right);
  if (aggregation === "min") return sorted[0] ?? null;
  if (aggregation === "max") return sorted.at(-1) ?? null;
  return percentile(sorted, parts[aggregation as keyof typeof parts]);
}

/**
 * Returns the values of the split with the number that ranks each, the greatest first. Those
 * without a number come last, also where the sum of nothing is shown as 0.
 */
export function splitsByRank(
  events: readonly ReferenceEvent[],
  { metric, aggregation }: { readonly metric: string; readonly aggregation: string },
): ReadonlyMap<string | null, number> {
  const groups = Map.groupBy(events, ({ split }) => split);
  const ranks = [...groups].map(([split, mine]): [string | null, number] => {
    const numbers = numbersOf(mine, metric);
    const isNone = numbers.length === 0 && aggregation !== "count";
    return [split, isNone ? -Infinity : (aggregate(numbers, aggregation) ?? -Infinity)];
  });
  return new Map(ranks.toSorted(([, left], [, right]) => right - left));
}

/** Returns the bars of a histogram, of one width between the least and the greatest number. */
export function barsOf(values: readonly number[], count: number) {
  if (values.length === 0) return [];
  const [least, greatest] = [Math.min(...values), Math.max(...values)];
  const bars = least === greatest ? 1 : count;
  const barOf = (value: number): number =>
    bars === 1 ? 0 : Math.min(Math.floor(bars * ((value - least) / (greatest - least))), bars - 1);
  const bound = (at: number): number => least + ((greatest - least) * at) / bars;
  return Array.from({ length: bars }, (_, at) => ({
    from: bound(at),
    to: bound(at + 1),
    count: values.filter((value) => barOf(value) === at).length,
  }));
}
