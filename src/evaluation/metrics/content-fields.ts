// Reads the content of a new version: free JSON with the fields of a metric, or only the code or
// prompt. Source: docs/decisions.md, 25.3.

import { refuse } from "../../base/errors.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { FilterInput } from "../../tracing/export/filter.ts";
import type { Category, OlderTexts } from "./definition.ts";
import type { DefinitionFields, ThresholdFields } from "./fields.ts";
import { olderTextNames } from "./older-texts.ts";

/** Fields of answers beyond the definition, and fields that older clients send. */
const ignored: ReadonlySet<string> = new Set([
  "id",
  "_id",
  "created_at",
  "updated_at",
  "version",
  "disabled_reason",
  "needs_ground_truth",
  "task",
  "project",
]);

type Reader<T> = (value: JsonValue, at: string) => T;

const readers: { readonly [Name in keyof DefinitionFields]-?: Reader<DefinitionFields[Name]> } = {
  name: readText,
  type: readText,
  criteria: readText,
  definition: readText,
  code_snippet: readText,
  prompt: readText,
  older_texts: orNull(readOlderTexts),
  description: readText,
  return_type: readText,
  enabled_in_prod: readBoolean,
  sampling_percentage: readNumber,
  model_provider: orNull(readText),
  model_name: orNull(readText),
  scale: orNull(readNumber),
  threshold: orNull(readThreshold),
  categories: orNull((value, at) => readList(value, at, readCategory)),
  filters: readFilters,
  pass_when: (value) => value,
  event_type: readText,
  event_name: readText,
  child_metrics: (value, at) => readList(value, at, (item) => item),
};

/**
 * Returns the fields of a version's content. Null clears optional fields and counts as omitted for
 * the others. Throws INVALID_ARGUMENT naming the field.
 */
export function readContent(content: JsonValue): DefinitionFields {
  if (typeof content === "string") return { criteria: content };
  if (!isJsonObject(content)) refuse("content", "must be an object, or the code or prompt as text");
  const entries = Object.entries(content).filter(([name]) => !ignored.has(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, readField(name, value)]));
}

function readField(name: string, value: JsonValue): unknown {
  const at = `content.${name}`;
  if (!Object.hasOwn(readers, name)) refuse(at, "is not a field of a metric");
  const read: Reader<unknown> = readers[name as keyof DefinitionFields];
  return value === null && !nullable.has(name) ? undefined : read(value, at);
}

const nullable: ReadonlySet<string> = new Set([
  "model_provider",
  "model_name",
  "scale",
  "threshold",
  "categories",
  "older_texts",
]);

function orNull<T>(read: Reader<T>): Reader<T | null> {
  return (value, at) => (value === null ? null : read(value, at));
}

function readText(value: JsonValue, at: string): string {
  return typeof value === "string" ? value : refuse(at, "must be a string");
}

function readNumber(value: JsonValue, at: string): number {
  return typeof value === "number" ? value : refuse(at, "must be a number");
}

function readBoolean(value: JsonValue, at: string): boolean {
  return typeof value === "boolean" ? value : refuse(at, "must be true or false");
}

function readList<T>(value: JsonValue, at: string, read: Reader<T>): readonly T[] {
  if (!isJsonArray(value)) refuse(at, "must be an array");
  return value.map((item, index) => read(item, `${at}[${index}]`));
}

/** Returns an object that has no members other than `names`, without null members. */
function readClosed(value: JsonValue, at: string, names: readonly string[]): JsonObject {
  if (!isJsonObject(value)) refuse(at, "must be an object");
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown !== undefined) refuse(`${at}.${unknown}`, "is not a known key");
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}

export function readThreshold(value: JsonValue, at: string): ThresholdFields {
  const { min, max, ...rest } = readClosed(value, at, thresholdNames);
  const { pass_when: passWhen, passing_categories: passing } = rest;
  return {
    ...(min !== undefined && { min: readNumber(min, `${at}.min`) }),
    ...(max !== undefined && { max: readNumber(max, `${at}.max`) }),
    ...(passWhen !== undefined && { pass_when: passWhen }),
    ...(passing !== undefined && {
      passing_categories: readList(passing, `${at}.passing_categories`, readText),
    }),
  };
}

const thresholdNames = ["min", "max", "pass_when", "passing_categories"];

function readOlderTexts(value: JsonValue, at: string): OlderTexts {
  const texts = Object.entries(readClosed(value, at, olderTextNames));
  return Object.fromEntries(texts.map(([name, text]) => [name, readText(text, `${at}.${name}`)]));
}

export function readCategory(value: JsonValue, at: string): Category {
  const { category = null, score = null } = readClosed(value, at, ["category", "score"]);
  return {
    category: readText(category, `${at}.category`),
    score: score === null ? null : readNumber(score, `${at}.score`),
  };
}

function readFilters(value: JsonValue, at: string): readonly FilterInput[] {
  const { filterArray = [] } = readClosed(value, at, ["filterArray"]);
  return readList(filterArray, `${at}.filterArray`, readFilter);
}

/** Reads a filter; null is a valid value of a filter. */
function readFilter(filter: JsonValue, at: string): FilterInput {
  const { field = "", operator = "", type } = readClosed(filter, at, filterNames);
  const value = isJsonObject(filter) ? filter["value"] : undefined;
  return {
    field: readText(field, `${at}.field`),
    operator: readText(operator, `${at}.operator`),
    ...(value !== undefined && { value }),
    ...(type !== undefined && { type: readText(type, `${at}.type`) }),
  };
}

const filterNames = ["field", "operator", "value", "type"];
