// Keeps an answer short enough for an agent to read: long values inside are cut, and each cut has
// a mark that says how to read on.

import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import {
  keyLengthMax,
  nameOf,
  parseAnswer,
  type Path,
  type Reading,
  startIn,
  stepsInto,
  valueAt,
} from "./reading.ts";

/** Maximum length of an answer, about 50,000 tokens. */
export const answerLengthMax = 200_000;

/** Maximum length of a mark, in addition to its path. */
const sentenceLengthMax = 200;

/** Maximum length of one more step of a mark's path, which is JSON in JSON. */
const stepLengthMax = 2 * (keyLengthMax + 1);

/**
 * Length to which long items are cut at least, with room for ten or more in a list. Where there are
 * many, some that can be read and a mark serve an agent better than the beginnings of all.
 */
const itemLengthLeast = 2_000;
const itemsLeast = 10;

/**
 * Returns the JSON of an answer, or with a path that of `{ path, …, value }`, with the long values
 * inside cut. Throws for a path or a beginning that the answer does not have.
 */
export function shortenAnswer(text: string, reading: Reading = {}): string {
  const { path } = reading;
  const value = valueAt(parseAnswer(text), path ?? []);
  const from = startIn(value, reading);
  if (path === undefined && text.length <= answerLengthMax) return text;
  const format = (part: JsonValue) =>
    JSON.stringify(path === undefined ? part : { ...reading, value: part });
  const lengthMax = answerLengthMax - format("").length;
  return format(shorten(value, { path: path ?? [], lengthMax, from }));
}

type Cut = {
  readonly path: Path;
  /** Maximum length of the part as JSON. */
  readonly lengthMax: number;
  /** Character, item or key at which the part begins. */
  readonly from: number;
};

function shorten(value: JsonValue, cut: Cut): JsonValue {
  if (cut.from === 0 && lengthOf(value) <= cut.lengthMax) return value;
  if (typeof value === "string") return shortenText(value, cut);
  return typeof value === "object" && value !== null ? shortenItems(value, cut) : value;
}

function shortenText(text: string, { path, lengthMax, from }: Cut): string {
  const rest = text.slice(from);
  if (lengthOf(rest) <= lengthMax) return rest;
  const markOf = (end: number) => {
    const way = `${wayOf(path)} and text_from ${from + end}`;
    return `… [cut: ${rest.length - end} more characters; ${way} reads on]`;
  };
  const room = lengthMax - lengthOf(markOf(0)) - lengthOf(text.length);
  let end = room;
  // A character has up to six in JSON.
  for (let length = lengthOf(rest.slice(0, end)); length > room;) {
    end = Math.floor((end * room) / length);
    length = lengthOf(rest.slice(0, end));
  }
  // A character of two units is not parted.
  if ((rest.codePointAt(end - 1) ?? 0) > 0xffff) end -= 1;
  return `${rest.slice(0, end)}${markOf(end)}`;
}

function shortenItems(container: readonly JsonValue[] | JsonObject, cut: Cut): JsonValue {
  const { path, lengthMax, from } = cut;
  const items = itemsOf(container, path).slice(from);
  const markLengthMax = lengthOf(wayOf(path)) + sentenceLengthMax;
  const least = Math.max(
    markLengthMax + stepLengthMax,
    Math.min(itemLengthLeast, lengthMax / itemsLeast),
  );
  const room = lengthMax - markLengthMax;
  const shown = takeWithin(items, room, least);
  if (shown.length === 0) return `[cut: ${nameOf(container)}; ${wayOf(path)} reads it]`;
  const valueLengthMax = levelOf(shown, room);
  const parts = shown.map(({ step, value }): [string, JsonValue] => [
    String(step),
    shorten(value, { path: [...path, step], lengthMax: valueLengthMax, from: 0 }),
  ]);
  const missing = items.length - shown.length;
  const way = `${wayOf(path)} and items_from ${from + shown.length} reads on`;
  if (isJsonObject(container)) {
    const mark = [`[cut: ${missing} more keys]`, way] as const;
    return Object.fromEntries(missing === 0 ? parts : [...parts, mark]);
  }
  const values = parts.map(([, value]) => value);
  return missing === 0 ? values : [...values, `[cut: ${missing} more items; ${way}]`];
}

type Item = {
  readonly step: string | number;
  readonly value: JsonValue;
  readonly length: number;
  /** Length of its key, colon and comma. */
  readonly frameLength: number;
};

function itemsOf(container: readonly JsonValue[] | JsonObject, path: Path): Item[] {
  const steps = stepsInto(container, path);
  return Object.values<JsonValue>(container).map((value, index) => {
    const step = steps[index] ?? index;
    const frameLength = isJsonObject(container) ? lengthOf(step) + 2 : 1;
    return { step, value, length: lengthOf(value), frameLength };
  });
}

/** Returns the first items that have room together, if each long one is cut to `least`. */
function takeWithin(items: readonly Item[], room: number, least: number): readonly Item[] {
  let left = room;
  const end = items.findIndex(({ length, frameLength }) => {
    left -= frameLength + Math.min(length, least);
    return left < 0;
  });
  return end === -1 ? items : items.slice(0, end);
}

/** Returns the length to which the longest values are cut, so that all have room together. */
function levelOf(items: readonly Item[], room: number): number {
  let left = items.reduce((sum, { frameLength }) => sum - frameLength, room);
  const lengths = items.map(({ length }) => length).toSorted((a, b) => a - b);
  for (const [index, length] of lengths.entries()) {
    const level = left / (lengths.length - index);
    if (length > level) return Math.floor(level);
    left -= length;
  }
  return Infinity;
}

function wayOf(path: Path): string {
  return `the same call with path ${JSON.stringify(path)}`;
}

/** Lengths of lists and objects that were measured, each once for all levels above it. */
const lengths = new WeakMap<object, number>();

/** Returns the length of a value as JSON. */
function lengthOf(value: JsonValue): number {
  if (typeof value !== "object" || value === null) return JSON.stringify(value).length;
  const known = lengths.get(value);
  if (known !== undefined) return known;
  const entries = Object.entries<JsonValue>(value);
  // Two brackets, and commas between the items.
  let length = Math.max(entries.length - 1, 0) + 2;
  for (const [key, inner] of entries) {
    length += lengthOf(inner) + (isJsonObject(value) ? lengthOf(key) + 1 : 0);
  }
  lengths.set(value, length);
  return length;
}
