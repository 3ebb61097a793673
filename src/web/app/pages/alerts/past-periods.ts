// The periods before the current one that the preview of an alert measures, and the changes
// between them. Pure.

const hourMs = 3_600_000;

/** Number of whole periods by frequency. */
const counts: Readonly<Record<string, number>> = { DAILY: 30, WEEKLY: 12, MONTHLY: 12 };
const hours = 72;

/** Returns the range of the last whole periods before the current one, in UTC milliseconds. */
export function pastPeriods(frequency: string, nowMs: number): { from: number; to: number } {
  const count = counts[frequency] ?? hours;
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  switch (frequency) {
    case "MONTHLY":
      return upTo(Date.UTC(year, month - count), Date.UTC(year, month));
    case "WEEKLY": {
      const monday = day - ((now.getUTCDay() + 6) % 7);
      return upTo(Date.UTC(year, month, monday - 7 * count), Date.UTC(year, month, monday));
    }
    case "DAILY":
      return upTo(Date.UTC(year, month, day - count), Date.UTC(year, month, day));
    default: {
      const end = Math.floor(nowMs / hourMs) * hourMs;
      return upTo(end - count * hourMs, end);
    }
  }
}

/** Both bounds of a chart's range are included. */
function upTo(from: number, end: number): { from: number; to: number } {
  return { from, to: end - 1 };
}

type Values = readonly (number | null)[];

/**
 * Returns the change of each value from the one before in percent, as a check has it: null without
 * both numbers, and from 0 to anything else.
 */
export function changesOf(values: Values): Values {
  return values.map((value, at) => {
    const before = values[at - 1];
    if (value === null || typeof before !== "number") return null;
    if (value === before) return 0;
    return before === 0 ? null : ((value - before) / Math.abs(before)) * 100;
  });
}

/** Returns the number of events behind each change: that of the period with fewer. */
export function fewestOf(samples: Values): Values {
  return samples.map((count, at) => Math.min(count ?? 0, samples[at - 1] ?? 0));
}
