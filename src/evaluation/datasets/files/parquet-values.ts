// Values of Parquet files that JSON lacks: decimals, times and texts, as the file has them.
// Without side effects, because the reading thread imports this file. Source: docs/datasets.md,
// "Files".

import type { ParquetParsers, SchemaTree } from "hyparquet";
import { tryParseJson } from "../../../base/json.ts";
import { RowFault } from "./file-format.ts";

/** Decimals of 256 bits; a longer number is none that other programs write. */
const decimalBytesMax = 32;

/**
 * Takes the type away from the decimals among the columns of a file, and returns their scales by
 * name: the reader multiplies by a power of ten, which makes 0.30000000000000004 of 0.3.
 */
export function takeDecimals(columns: readonly SchemaTree[]): ReadonlyMap<string, number> {
  const scales = new Map<string, number>();
  for (const { element } of columns) {
    const { converted_type: converted, logical_type: logical, type } = element;
    const isDecimal = converted === "DECIMAL" || logical?.type === "DECIMAL";
    // Without their type these would be read as texts.
    if (!isDecimal || type === "BYTE_ARRAY") continue;
    if ((element.type_length ?? 0) > decimalBytesMax) continue;
    scales.set(element.name, logical?.type === "DECIMAL" ? logical.scale : (element.scale ?? 0));
    delete element.converted_type;
    delete element.logical_type;
  }
  return scales;
}

/** Returns a decimal from its stored digits; null stays null, and a list of decimals a list. */
export function toDecimal(stored: unknown, scale: number): unknown {
  if (Array.isArray(stored)) return stored.map((one) => toDecimal(one, scale));
  if (typeof stored === "number") return scaled(BigInt(stored), scale);
  if (typeof stored === "bigint") return scaled(stored, scale);
  if (!(stored instanceof Uint8Array)) return stored;
  const hex = Buffer.from(stored).toString("hex");
  return scaled(BigInt.asIntN(stored.length * 8, BigInt(`0x${hex || "0"}`)), scale);
}

/** Every decimal of so many digits is one number, which is written with the same digits. */
const exactDigits = 15;

/** Returns a number, or a text if it has more digits than a number keeps. */
function scaled(unscaled: bigint, scale: number): number | string {
  const sign = unscaled < 0n ? "-" : "";
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  const point = digits.length - scale;
  const text = sign + digits.slice(0, point) + (scale > 0 ? `.${digits.slice(point)}` : "");
  const significant = digits.replace(/^0+|0+$/g, "").length;
  return significant <= exactDigits ? Number(text) : text;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function toText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return throwFault("has a text, or bytes, that are not UTF-8");
  }
}

function throwFault(fault: string): never {
  throw new RowFault(fault);
}

const dayMs = 86_400_000n;

/** Returns a time as ISO 8601, with the digits that it has below a millisecond. */
function toTime(count: bigint, unitsOfMs: bigint): string {
  const rest = ((count % unitsOfMs) + unitsOfMs) % unitsOfMs;
  const time = new Date(Number((count - rest) / unitsOfMs));
  if (Number.isNaN(time.getTime())) throwFault("has a time past the year 275760");
  const digits = String(unitsOfMs + rest)
    .slice(1)
    .replace(/0+$/, "");
  return `${time.toISOString().slice(0, -1)}${digits}Z`;
}

/** Conversions that lose nothing: those of the reader cut times and replace bytes. */
export const exactParsers: Partial<ParquetParsers> = {
  stringFromBytes: toText,
  jsonFromBytes: (bytes) =>
    tryParseJson(toText(bytes)) ?? throwFault("has a value of type JSON that is not JSON"),
  dateFromDays: (days) => toTime(BigInt(days) * dayMs, 1n),
  timestampFromMilliseconds: (count) => toTime(count, 1n),
  timestampFromMicroseconds: (count) => toTime(count, 1_000n),
  timestampFromNanoseconds: (count) => toTime(count, 1_000_000n),
};
