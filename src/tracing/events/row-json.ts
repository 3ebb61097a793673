// Writes a row as JSON that Postgres can store. A long row is written in parts, between which other
// work runs: JSON.stringify takes 15 ns for a character that it escapes.

import type { Pacer } from "../../base/pacer.ts";
import { escapeJson, escapeText } from "./postgres-text.ts";

/** Length of the texts that are written without a pause. */
const partLength = 1_000_000;

/** Returns JSON text, escaped as by postgres-text.ts. Members of `value` may be undefined. */
export async function writeJson(value: unknown, pacer: Pacer): Promise<string> {
  if (!isLong(value, partLength)) return escapeJson(JSON.stringify(value));
  if (pacer.due()) await pacer.rest();
  if (typeof value === "string") return writeText(value, pacer);
  const items: string[] = [];
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) items.push(await writeJson(item, pacer));
    return `[${items.join(",")}]`;
  }
  for (const [key, item] of Object.entries(value as object)) {
    if (item === undefined) continue;
    items.push(`${escapeJson(JSON.stringify(key))}:${await writeJson(item, pacer)}`);
  }
  return `{${items.join(",")}}`;
}

async function writeText(text: string, pacer: Pacer): Promise<string> {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const end = endOfPart(text, at + partLength);
    parts.push(JSON.stringify(escapeText(text.slice(at, end))).slice(1, -1));
    at = end;
    if (pacer.due()) await pacer.rest();
  }
  return `"${parts.join("")}"`;
}

/** Returns the end of a part, which splits no pair of surrogates. */
function endOfPart(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? end + 1 : end;
}

/** Returns whether the texts and values inside a value have more than `lengthMax` characters. */
export function isLong(value: unknown, lengthMax: number): boolean {
  return lengthWithin(value, lengthMax) > lengthMax;
}

/** Approximate characters of a value besides its texts and keys. */
const valueLength = 8;

/** Returns the length of a value; stops behind `lengthMax`. */
function lengthWithin(value: unknown, lengthMax: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return valueLength;
  let length = valueLength;
  for (const key in value) {
    const left = lengthMax - length;
    if (left < 0) return length;
    length += key.length + lengthWithin((value as Record<string, unknown>)[key], left);
  }
  return length;
}
