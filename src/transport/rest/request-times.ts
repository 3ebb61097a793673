// Reads a time from a JSON request: a number, numeric text, or ISO 8601 text, to Unix milliseconds
// with fractions to the microsecond. Called by json-reader.ts for `(unix_ms)` fields.
// Source: docs/decisions.md, 2.

import { FieldFault } from "./field-fault.ts";

/** The range of Date; its microseconds fit Postgres' bigint. */
const timeMsMax = 8.64e15;

const numberPattern = /^[+-]?\d+(\.\d*)?$/;
const date = String.raw`(\d{4})-(\d\d)-(\d\d)`;
const clock = String.raw`(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?`;
const zone = String.raw`(Z|[+-]\d\d(?::?\d\d)?)`;
const isoPattern = new RegExp(`^${date}(?:[T ]${clock}\\s?${zone}?)?$`, "i");

/** Returns Unix milliseconds. Text without a zone is UTC. Throws FieldFault on anything else. */
export function parseTime(value: unknown): number {
  const timeMs = typeof value === "string" ? parseTimeText(value.trim()) : value;
  if (typeof timeMs !== "number" || !(Math.abs(timeMs) <= timeMsMax)) {
    throw new FieldFault("must be a number (Unix milliseconds) or ISO 8601 text");
  }
  return timeMs;
}

function parseTimeText(text: string): number | undefined {
  if (numberPattern.test(text)) return Number(text);
  const match = isoPattern.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction, offset = "Z"] =
    match;
  const whole = new Date(0);
  whole.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  whole.setUTCHours(Number(hour), Number(minute), Number(second));
  // Date carries 30 February over to March; such a text is no time.
  const isReal =
    whole.getUTCMonth() === Number(month) - 1 &&
    whole.getUTCDate() === Number(day) &&
    Number(minute) < 60 &&
    Number(second) < 60;
  if (!isReal) return undefined;
  const fractionMs = fraction ? Math.round(Number(`0.${fraction}`) * 1e6) / 1e3 : 0;
  return whole.getTime() + fractionMs - zoneOffsetMs(offset);
}

function zoneOffsetMs(offset: string): number {
  if (/^z$/i.test(offset)) return 0;
  const sign = offset.startsWith("-") ? -1 : 1;
  const digits = offset.slice(1).replace(":", "").padEnd(4, "0");
  return sign * (Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2))) * 60_000;
}
