// Buckets of time of a chart. Postgres lists their starts in a named zone, so that days, weeks and
// months begin at local midnight, daylight saving included.

import { LRUCache } from "lru-cache";
import { refuseChoice } from "../../base/choices.ts";
import { refuse } from "../../base/errors.ts";
import { chartBucketsMax } from "../../base/tenant-limits.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Units of one length in UTC; a month has none. */
export const fixedUnits = {
  minute: { lengthMs: minuteMs, originMs: 0 },
  hour: { lengthMs: 60 * minuteMs, originMs: 0 },
  day: { lengthMs: dayMs, originMs: 0 },
  // The first Monday of 1970 was its fifth day.
  week: { lengthMs: 7 * dayMs, originMs: 4 * dayMs },
} as const;

export type BucketUnit = keyof typeof fixedUnits | "month";

const units = [...(Object.keys(fixedUnits) as (keyof typeof fixedUnits)[]), "month"] as const;

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

/** Range of a chart and the zone by whose clock its buckets begin. */
export type ZonedRange = TimeRange & { readonly timezone: string };

/** Returns the smallest unit that makes at most `pointsMax` buckets of a range; else a month. */
export function pickUnit(range: ZonedRange, pointsMax: number): BucketUnit {
  const count = bucketCounter(range);
  return units.find((unit) => count(unit) <= pointsMax) ?? "month";
}

/** Throws INVALID_ARGUMENT naming the field if a chart of the range would have too many buckets. */
export function assertBuckets(field: string, range: ZonedRange, unit: BucketUnit): void {
  if (bucketCounter(range)(unit) <= chartBucketsMax) return;
  const hint = "ask for a larger bucket or a narrower date range";
  refuse(field, `the range has more than ${chartBucketsMax} buckets of one ${unit}; ${hint}`);
}

/**
 * Returns what counts the buckets of a unit that the range touches. Between two ends where the
 * clock differs by half an hour, or a date was left out, the count may be one off.
 */
function bucketCounter({ fromMs, toMs, timezone }: ZonedRange): (unit: BucketUnit) => number {
  const ends = [fromMs, toMs - 1].map((at) => ({ at, offsetMs: zoneOffsetMs(at, timezone) }));
  return (unit) => {
    const [first = 0, last = 0] = ends.map(({ at, offsetMs }) => bucketNumber(unit, at, offsetMs));
    return last - first + 1;
  };
}

function bucketNumber(unit: BucketUnit, at: number, offsetMs: number): number {
  if (unit === "month") {
    const clock = new Date(at + offsetMs);
    return clock.getUTCFullYear() * 12 + clock.getUTCMonth();
  }
  const { lengthMs, originMs } = fixedUnits[unit];
  // Clocks that are moved by whole hours begin no hour twice.
  const movedMs = unit === "minute" || unit === "hour" ? offsetMs % lengthMs : offsetMs;
  return Math.floor((at + movedMs - originMs) / lengthMs);
}

const offsetPattern = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/;

/** Returns by how much the clock of a zone is ahead of UTC. */
function zoneOffsetMs(at: number, timeZone: string): number {
  if (timeZone === "UTC") return 0;
  const text = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" }).format(at);
  const [, sign, hours = 0, minutes = 0, seconds = 0] = offsetPattern.exec(text) ?? [];
  const ahead = (Number(hours) * 60 + Number(minutes)) * minuteMs + Number(seconds) * 1_000;
  return sign === "-" ? -ahead : ahead;
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
