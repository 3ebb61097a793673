// How an agent reads on in an answer that was cut: the path of one value, and where in it to begin.

import { z } from "zod";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";

/** Keys of objects, positions in lists, and ids of the events, runs or metrics of an answer. */
export type Path = readonly (string | number)[];

const start = z.int().min(0).optional();

/** Arguments of every tool, in addition to its own. */
export const readingInput = {
  path: z
    .array(z.union([z.string(), z.int().min(0)]))
    .optional()
    .describe("Returns one value of the answer, whose path the mark of a cut names"),
  text_from: start.describe("Character at which the text at `path` begins, counted from 0"),
  items_from: start.describe(
    "Item of the list at `path`, or key of the object, at which it begins, counted from 0",
  ),
};

export type Reading = z.infer<z.ZodObject<typeof readingInput>>;

/** Maximum length of a key in a path, as JSON. */
export const keyLengthMax = 200;

/**
 * Parses an answer. An object that has a long key becomes a list of pairs, so that keys are read
 * on like texts and paths stay short.
 */
export function parseAnswer(text: string): JsonValue {
  return JSON.parse(text, (_, value: JsonValue) => {
    const hasLongKey = isJsonObject(value) && Object.keys(value).some((key) => !isShort(key));
    return hasLongKey ? Object.entries(value) : value;
  }) as JsonValue;
}

function isShort(step: string | number): boolean {
  return toJson(step).length <= keyLengthMax;
}

/**
 * Returns the steps to the items of a list or the values of an object. Items of the answer's own
 * list are named by their ids, since the next call may find them at other positions.
 */
export function stepsInto(container: readonly JsonValue[] | JsonObject, path: Path): Path {
  if (isJsonObject(container)) return Object.keys(container);
  const ids = path.length === 1 ? container.map(idOf).filter((id) => id !== undefined) : [];
  const areNames = new Set(ids).size === container.length && ids.every(isShort);
  return areNames ? ids : [...container.keys()];
}

function idOf(item: JsonValue): string | undefined {
  if (!isJsonObject(item)) return undefined;
  return [item["event_id"], item["run_id"], item["id"]].find((id) => typeof id === "string");
}

/** Returns the value at a path. Throws an error that says how far the path leads. */
export function valueAt(answer: JsonValue, path: Path): JsonValue {
  let value = answer;
  for (const [depth, step] of path.entries()) {
    const inner = childOf(value, step);
    if (inner === undefined) {
      const place = placeOf(path.slice(0, depth));
      throw new Error(`path: ${place} ${nameOf(value)}, which does not have ${toJson(step)}`);
    }
    value = inner;
  }
  return value;
}

function childOf(value: JsonValue, step: string | number): JsonValue | undefined {
  if (isJsonObject(value)) return Object.hasOwn(value, step) ? value[step] : undefined;
  if (!isJsonArray(value)) return undefined;
  return typeof step === "number" ? value[step] : value.find((item) => idOf(item) === step);
}

/** Returns where a value begins. Throws an error that names the argument at fault. */
export function startIn(
  value: JsonValue,
  { path, text_from = 0, items_from = 0 }: Reading,
): number {
  for (const [name, from] of Object.entries({ text_from, items_from })) {
    if (from === 0) continue;
    if (path === undefined) {
      throw new Error(
        `${name} counts in one value: give its path too, as the mark of its cut does`,
      );
    }
    const count = countOf(value, name);
    const found = `${placeOf(path)} ${nameOf(value)}`;
    if (count === undefined) throw new Error(`${name} does not apply: ${found}`);
    if (from >= count) throw new Error(`${name} ${from} is past the end: ${found}, counted from 0`);
  }
  return text_from + items_from;
}

function countOf(value: JsonValue, name: string): number | undefined {
  if (typeof value === "string") return name === "text_from" ? value.length : undefined;
  if (typeof value !== "object" || value === null || name === "text_from") return undefined;
  return Object.keys(value).length;
}

function placeOf(path: Path): string {
  return path.length === 0 ? "the answer is" : `at ${toJson(path)} is`;
}

/** Returns what a value is, with its size, such as `a list of 3 items`. */
export function nameOf(value: JsonValue): string {
  if (typeof value === "string") return `a text of ${value.length} characters`;
  if (isJsonArray(value)) return `a list of ${value.length} items`;
  if (isJsonObject(value)) return `an object of ${Object.keys(value).length} keys`;
  return value === null ? "null" : `a ${typeof value}`;
}

function toJson(value: Path | Path[number]): string {
  return JSON.stringify(value);
}
