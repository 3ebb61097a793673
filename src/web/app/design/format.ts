// Numbers, times and sizes as text: short in lists, exact on hover; numbers from text. Pure.

const locale = "en";
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 });
const exact = new Intl.NumberFormat(locale, { maximumFractionDigits: 20 });
const exactTime = new Intl.DateTimeFormat(locale, {
  dateStyle: "medium",
  timeStyle: "long",
  // The axes of charts use the same hours.
  hourCycle: "h23",
});

/** Formats a count: `1,234`; from 100,000 on `123.4K`. */
export function formatCount(count: number): string {
  return Math.abs(count) < 100_000 ? whole.format(count) : compact.format(count);
}

/** Formats a count exactly: `1,234,567`. */
export function formatExactCount(count: number): string {
  return whole.format(count);
}

/** Formats a number with all its digits, but for those that are off by the sums of doubles. */
export function formatExactNumber(value: number): string {
  return exact.format(toExact(value));
}

function toExact(value: number): number {
  return Number(value.toPrecision(12));
}

/** Formats a count with its noun: `1 event`, `1,234 events`. The plural is the noun with an `s`. */
export function formatCounted(count: number, noun: string): string {
  return `${formatExactCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Formats a score: `0.123`, `1234`; a dash for an absent one. */
export function formatScore(score: number | null | undefined): string {
  if (score === undefined || score === null) return "–";
  return String(Number(Math.abs(score) < 100 ? score.toPrecision(3) : score.toFixed(0)));
}

/**
 * Returns whether a difference is rounding alone: sums of the same numbers in another order differ
 * by less than a billionth of their size.
 */
export function isRounding(difference: number, size: number): boolean {
  return Math.abs(difference) <= Math.abs(size) * 1e-9;
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Formats milliseconds: `0.004 ms`, `340 ms`, `1.24 s`, `-2 m 05 s`, `3 h 12 m`, `2 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 0) return `-${formatDuration(-ms)}`;
  // Two decimals of less would be a zero.
  if (ms < 0.01) return `${exact.format(Number(ms.toPrecision(1)))} ms`;
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < second - 0.5) return `${Math.round(ms)} ms`;
  if (ms < 10 * second - 5) return `${(ms / second).toFixed(2)} s`;
  if (ms < minute - 50) return `${(ms / second).toFixed(1)} s`;
  // Rounded to tenths of a second it is a minute.
  if (ms < minute) return formatDuration(minute);
  const pad = (value: number) => String(Math.floor(value)).padStart(2, "0");
  if (ms < hour) return `${Math.floor(ms / minute)} m ${pad((ms % minute) / second)} s`;
  if (ms < day) return `${Math.floor(ms / hour)} h ${pad((ms % hour) / minute)} m`;
  return `${Math.floor(ms / day)} d ${Math.floor((ms % day) / hour)} h`;
}

/** Formats milliseconds as `formatDuration` where that rounds nothing, else as `2,345 ms`. */
export function formatExactDuration(ms: number): string {
  const steps = [second, 10 * second, minute, hour, day].filter(
    (from) => Math.abs(ms) >= from,
  ).length;
  const step = [1, 10, 100, second, minute, hour][steps] ?? hour;
  return ms % step === 0 ? formatDuration(ms) : `${formatExactNumber(ms)} ms`;
}

/** Formats US dollars with the digits that matter: `$12.40`, `$0.0034`, `<$0.0001`. */
export function formatCost(usd: number): string {
  if (usd === 0) return "$0";
  if (Math.abs(usd) < 0.0001) return usd < 0 ? ">-$0.0001" : "<$0.0001";
  const digits = Math.abs(usd) < 0.01 ? 4 : Math.abs(usd) < 1 ? 3 : 2;
  const text = Math.abs(usd).toLocaleString(locale, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${usd < 0 ? "-" : ""}$${text}`;
}

const exactCost = new Intl.NumberFormat(locale, {
  style: "currency",
  currency: "USD",
  maximumFractionDigits: 20,
});

/** Formats US dollars with the digits of `formatExactNumber`: `$12.40`, `$0.00005`. */
export function formatExactCost(usd: number): string {
  return exactCost.format(toExact(usd));
}

const ages: readonly (readonly [number, string])[] = [
  [day, "d"],
  [hour, "h"],
  [minute, "m"],
];

/** Formats how long ago a time is: `now`, `4m ago`, `in 3h`; from 30 days on the date. */
export function formatAge(timeMs: number, nowMs: number): string {
  const ageMs = nowMs - timeMs;
  if (Math.abs(ageMs) >= 30 * day) {
    return new Date(timeMs).toLocaleDateString(locale, {
      day: "numeric",
      month: "short",
      year: "numeric",
    });
  }
  if (Math.abs(ageMs) < 10 * second) return "now";
  const [unitMs, name] = ages.find(([one]) => Math.abs(ageMs) >= one) ?? [second, "s"];
  const value = Math.floor(Math.abs(ageMs) / unitMs);
  return ageMs < 0 ? `in ${value}${name}` : `${value}${name} ago`;
}

/** Formats a time with date, seconds and zone. */
export function formatTime(timeMs: number): string {
  return exactTime.format(timeMs);
}

/** Formats an id by its ends: the first digits of ids that are made together are the same. */
export function formatId(id: string): string {
  return id.length > 16 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id;
}

/** Formats who did a thing: a key, which is named with its id, without the id. */
export function formatActor(actor: string): string {
  return actor.replace(/^(key .*) \([^ ()]+\)$/s, "$1");
}

/** Formats bytes: `812 B`, `4.1 kB`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1_000 ** power).toFixed(1)} ${units[power - 1] ?? "B"}`;
}

/** Formats any value: a text as it is, another as JSON in lines; nothing for an absent one. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** Returns the number that a field holds; undefined if it is empty or no number. */
export function toNumber(text: string): number | undefined {
  const value = Number(text);
  return text.trim() === "" || !Number.isFinite(value) ? undefined : value;
}

/** Puts an apostrophe before a leading sign that sheets take for a formula; numbers stay. */
export function toInertCell(text: string): string {
  return /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
}
