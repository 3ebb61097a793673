// Buckets of time of a chart. Postgres lists their starts in a named zone, so that days, weeks and
// months begin at local midnight, daylight saving included.

import { LRUCache } from "lru-cache";
import { refuseChoice } from "../../base/choices.ts";
import { refuse } from "../../base/errors.ts";
import { chartBucketsMax } from "../../base/tenant-limits.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;

/**
 * Shortest length of each unit in milliseconds; a month has 28 days at least, and a day may be an
 * hour or more shorter where clocks are moved.
 */
const lengthsMs = {
  minute: minuteMs,
  hour: 60 * minuteMs,
  day: dayMs,
  week: 7 * dayMs,
  month: 28 * dayMs,
} as const;

/** Units of one length in UTC. */
export const fixedUnits = {
  minute: { lengthMs: minuteMs, originMs: 0 },
  hour: { lengthMs: 60 * minuteMs, originMs: 0 },
  day: { lengthMs: dayMs, originMs: 0 },
  // The first Monday of 1970 was its fifth day.
  week: { lengthMs: 7 * dayMs, originMs: 4 * dayMs },
} as const;

export type BucketUnit = keyof typeof lengthsMs;

const units = Object.keys(lengthsMs) as BucketUnit[];

/** Short names that older clients send; `1m` is a minute, `1M` a month. */
const shortNames: Readonly<Record<string, BucketUnit>> = {
  "1m": "minute",
  "1h": "hour",
  "1d": "day",
  "1w": "week",
  "1M": "month",
};

/** Range of start times in Unix milliseconds: `fromMs` included, `toMs` excluded. */
export type TimeRange = { readonly fromMs: number; readonly toMs: number };

/** Returns the unit of a name. Throws INVALID_ARGUMENT naming the field. */
export function parseUnit(field: string, name: string): BucketUnit {
  const unit = units.find((one) => one === name || `${one}s` === name);
  if (unit !== undefined) return unit;
  const short = Object.hasOwn(shortNames, name) ? shortNames[name] : undefined;
  return short ?? refuseChoice(field, units, name);
}

/** Returns the greatest number of buckets that a range may touch. */
function countBuckets({ fromMs, toMs }: TimeRange, unit: BucketUnit): number {
  return Math.ceil((toMs - fromMs) / lengthsMs[unit]) + 1;
}

/**
 * Returns the starts of all buckets of a range in UTC, empty ones included; undefined for months,
 * which have no fixed length.
 */
export function startsInUtc(
  { fromMs, toMs }: TimeRange,
  unit: BucketUnit,
): readonly number[] | undefined {
  if (unit === "month") return undefined;
  const { lengthMs, originMs } = fixedUnits[unit];
  const [first, last] = [fromMs, toMs - 1].map((at) => Math.floor((at - originMs) / lengthMs));
  if (first === undefined || last === undefined) return undefined;
  return Array.from({ length: last - first + 1 }, (_, at) => (first + at) * lengthMs + originMs);
}

/** Returns the smallest unit that makes at most `pointsMax` buckets of a range; else a month. */
export function pickUnit(range: TimeRange, pointsMax: number): BucketUnit {
  return units.find((unit) => countBuckets(range, unit) <= pointsMax) ?? "month";
}

/** Throws INVALID_ARGUMENT naming the field if a chart of the range would have too many buckets. */
export function assertBuckets(field: string, range: TimeRange, unit: BucketUnit): void {
  if (countBuckets(range, unit) <= chartBucketsMax) return;
  const hint = "ask for a larger bucket or a narrower date range";
  refuse(field, `the range has more than ${chartBucketsMax} buckets of a ${unit}; ${hint}`);
}

/** Names of time zones by how they were asked for; looking one up takes a millisecond. */
const knownZones = new LRUCache<string, string>({ max: 1_000 });

/** Returns a time zone's name. Throws INVALID_ARGUMENT naming the field. */
export function parseZone(field: string, name: string): string {
  const known = knownZones.get(name) ?? findZone(field, name);
  knownZones.set(name, known);
  return known;
}

function findZone(field: string, name: string): string {
  // Offsets such as +02:00 mean the opposite to Postgres.
  if (!/^[a-z]/i.test(name)) refuse(field, zoneFault);
  try {
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
    // Short names such as CET are fixed offsets to Postgres, whatever the season.
    return name.includes("/") ? name : timeZone;
  } catch {
    return refuse(field, zoneFault);
  }
}

export const zoneFault = "must be the name of a time zone, such as Europe/Paris";
