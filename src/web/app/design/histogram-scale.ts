// The axes of a histogram: places of buckets and ticks as shares of its width, heights of its bars.
// Pure.

export type Bucket = {
  /** First and last millisecond. */
  readonly from: number;
  readonly to: number;
  /** Place as shares of the whole width. */
  readonly left: number;
  readonly width: number;
};

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const unitMs: Readonly<Record<string, number>> = {
  minute: minuteMs,
  hour: hourMs,
  day: dayMs,
  week: 7 * dayMs,
  month: 30 * dayMs,
};

/** Returns the usual width of a bucket by its unit, such as `hour`. */
export function widthOfUnit(unit: string | undefined): number {
  return unitMs[unit ?? ""] ?? hourMs;
}

/**
 * Returns the buckets that begin at the given starts; the last two are equally wide. A single
 * bucket does not tell its width: it has that of the unit.
 */
export function toBuckets(times: readonly number[], unit?: string): readonly Bucket[] {
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return [];
  const lastMs = times.length > 1 ? last - (times.at(-2) ?? last) : widthOfUnit(unit);
  const spanMs = last + lastMs - first;
  return times.map((from, index) => {
    const end = times[index + 1] ?? from + lastMs;
    return { from, to: end - 1, left: (from - first) / spanMs, width: (end - from) / spanMs };
  });
}

/** Least height of a part of a bar that is not zero, in pixels. */
const partMinPx = 2;

/**
 * Returns the heights of the stacked parts of a bar, in pixels of a picture of `heightPx`. A part
 * that is not zero is always seen, however high the highest bar is: it takes its least height from
 * the largest part if the picture has no room above.
 */
export function stackHeights(
  values: readonly number[],
  { max, heightPx }: { readonly max: number; readonly heightPx: number },
): readonly number[] {
  const heights = values.map((value) =>
    value > 0 ? Math.max(partMinPx, (value / max) * heightPx) : 0,
  );
  const overPx = Math.max(0, heights.reduce((sum, height) => sum + height, 0) - heightPx);
  const largest = heights.indexOf(Math.max(...heights));
  return heights.map((height, at) => (at === largest ? height - overPx : height));
}

export type Tick = { readonly timeMs: number; readonly share: number };

const ticksMax = 6;
const steps = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * minuteMs),
  ...[1, 2, 3, 6, 12].map((hours) => hours * hourMs),
  ...[1, 2, 7, 14, 30, 60, 90, 180, 365].map((days) => days * dayMs),
];

/** Returns at most six ticks on whole minutes, hours or days of the reader's zone. */
export function tickTimes(buckets: readonly Bucket[]): readonly Tick[] {
  const [first, last] = [buckets[0], buckets.at(-1)];
  if (!first || !last) return [];
  const spanMs = last.to + 1 - first.from;
  const stepMs = steps.find((step) => spanMs / step <= ticksMax) ?? spanMs;
  const midnight = new Date(first.from);
  midnight.setHours(0, 0, 0, 0);
  const ticks: Tick[] = [];
  for (let count = 0; ; count += 1) {
    const timeMs = stepFrom(midnight, stepMs, count);
    if (timeMs > last.to) return ticks;
    if (timeMs >= first.from) ticks.push({ timeMs, share: (timeMs - first.from) / spanMs });
  }
}

/** Days are counted by the calendar: two of a year have 23 and 25 hours. */
function stepFrom(midnight: Date, stepMs: number, count: number): number {
  if (stepMs < dayMs) return midnight.getTime() + count * stepMs;
  const day = new Date(midnight);
  day.setDate(day.getDate() + Math.max(1, Math.round(stepMs / dayMs)) * count);
  return day.getTime();
}

const clock = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});
const date = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" });

/** Formats a tick: midnights carry the date, other ticks the time of day. */
export function formatTick(timeMs: number): string {
  const time = new Date(timeMs);
  const isMidnight = time.getHours() === 0 && time.getMinutes() === 0;
  return (isMidnight ? date : clock).format(time);
}
