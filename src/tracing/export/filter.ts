// Export filters: parses `{ field, operator, value, type }` into typed conditions, with the help of
// the field catalogue. Source: docs/spec.md, POST /events/export; docs/decisions.md, 16 and 17.

import { faultOfChoice } from "../../base/choices.ts";
import { ServiceError } from "../../base/errors.ts";
import type { JsonValue } from "../../base/json.ts";
import { filterFieldLengthMax, filtersMax } from "../../base/tenant-limits.ts";
import { type Bucket, bucketOf, buckets } from "../events/event.ts";
import { kinds, numberKinds, scalarKinds } from "../fields/kind.ts";
import type { ProjectFields } from "../fields/fields.ts";
import type { ColumnKind, Condition, Target, Test } from "./condition.ts";
import { type FoundField, findField } from "./find-field.ts";
import { parseInstant } from "./instant.ts";

/** A filter as sent in a request. */
export type FilterInput = {
  readonly field: string;
  readonly operator: string;
  readonly value?: JsonValue | undefined;
  readonly type?: string | undefined;
};

/** Columns that filters may name, in addition to paths into the buckets. */
export type Columns = Readonly<Record<string, ColumnKind>>;

/** Filterable columns of an event; `any_text` stands for all of its words at once. */
export const eventColumns = {
  event_id: "text",
  session_id: "text",
  parent_id: "text",
  project_id: "text",
  event_type: "text",
  event_name: "text",
  source: "text",
  error: "text",
  start_time: "time",
  end_time: "time",
  duration: "number",
  children_ids: "list",
  any_text: "text",
} as const satisfies Columns;

export const filterOperators = [
  "is",
  "is not",
  "contains",
  "not contains",
  "exists",
  "not exists",
  "greater than",
  "less than",
  "after",
  "before",
] as const;
type Operator = (typeof filterOperators)[number];

const filterTypes = ["string", "number", "boolean", "datetime", "id"] as const;
type FilterType = (typeof filterTypes)[number];

/** Type that a value is compared as. An id is a string. */
type ValueType = "string" | "number" | "boolean" | "datetime";

/** Returns whether any filter names a path into a bucket, which needs the catalogue. */
export function needsCatalogue(filters: readonly FilterInput[]): boolean {
  return filters.some(({ field }) => bucketOf(field) !== undefined);
}

/**
 * Returns the conditions of filters, all of which must hold. Throws INVALID_FILTER naming the field
 * if the field is unknown or has no recorded values, if the operator or type is unknown or does not
 * fit the field, or if the value does not fit the type (blank or non-finite numbers). `path` is the
 * name of the list in the request.
 */
export function parseFilters(
  filters: readonly FilterInput[],
  fields: ProjectFields,
  { columns = eventColumns, path = "filters" }: { columns?: Columns; path?: string } = {},
): Condition[] {
  if (filters.length > filtersMax) {
    throw new ServiceError("INVALID_FILTER", `${path}: at most ${filtersMax} are allowed`);
  }
  return filters.map((filter, at) => {
    if (filter.field === "") throw invalid({ field: `${path}[${at}].field` }, noSuchField);
    return parseFilter(filter, fields, columns);
  });
}

const noSuchField = `no such field; name a column or a path into ${buckets.join(", ")}`;

function parseFilter(filter: FilterInput, fields: ProjectFields, columns: Columns): Condition {
  const operator = parseOperator(filter);
  assertNoOpposite(filter, operator);
  const declared = parseType(filter);
  const holds = Object.hasOwn(columns, filter.field) ? columns[filter.field] : undefined;
  const bucket = holds === undefined ? bucketOf(filter.field) : undefined;
  if (bucket !== undefined) return parseBucketFilter(filter, operator, declared, bucket, fields);
  if (holds === undefined) {
    throw invalid(filter, noSuchField);
  }
  const target: Target = { kind: "column", name: filter.field, holds };
  if (asksForPresence(filter, operator)) return toPresence(target, operator);
  return toCondition(target, operator, parseTest(filter, operator, columnTypes[holds]));
}

const columnTypes = {
  text: "string",
  list: "string",
  number: "number",
  boolean: "boolean",
  time: "datetime",
} as const satisfies Record<ColumnKind, ValueType>;

function parseBucketFilter(
  filter: FilterInput,
  operator: Operator,
  declared: FilterType | undefined,
  bucket: Bucket,
  fields: ProjectFields,
): Condition {
  if (filter.field.length > filterFieldLengthMax) {
    throw invalid({ field: `${filter.field.slice(0, 50)}…` }, "the name is too long");
  }
  const found = findField(filter.field, bucket, fields);
  const target: Target = { kind: "bucket", bucket, paths: found.paths };
  if (operator === "exists" || operator === "not exists") return toPresence(target, operator);
  const types = recordedTypes(found, operator);
  if (asksForPresence(filter, operator)) {
    if (types === 0 && !found.hasInside && !found.isUnknown) throw noValues(filter, found);
    return toPresence(target, operator);
  }
  const hasValues = (types & (scalarKinds | kinds.null)) !== 0;
  if (!hasValues && !found.isUnknown) throw noValues(filter, found);
  const type = typeOf(filter, operator, declared, types);
  return toCondition(target, operator, parseTest(filter, operator, type));
}

/** Returns whether a filter tests presence: `exists`, and also `is` null and `is not` null. */
function asksForPresence({ value }: FilterInput, operator: Operator): boolean {
  if (operator === "exists" || operator === "not exists") return true;
  return value === null && (operator === "is" || operator === "is not");
}

/** Throws INVALID_FILTER if false is the value of a test of presence, which reads no value. */
function assertNoOpposite(filter: FilterInput, operator: Operator): void {
  const opposites: Partial<Record<Operator, Operator>> = {
    exists: "not exists",
    "not exists": "exists",
  };
  const opposite = opposites[operator];
  if (opposite !== undefined && (filter.value === false || filter.value === "false")) {
    throw invalid(filter, `\`${operator}\` has no value; for the opposite ask \`${opposite}\``);
  }
}

function toPresence(target: Target, operator: Operator): Condition {
  const negated = operator === "not exists" || operator === "is";
  return { target, test: { kind: "present" }, negated };
}

function toCondition(target: Target, operator: Operator, test: Test): Condition {
  return { target, test, negated: operator === "is not" || operator === "not contains" };
}

/**
 * Returns the recorded kinds of a field. `contains` looks at the members of an array, so their
 * kinds count too.
 */
function recordedTypes(found: FoundField, operator: Operator): number {
  return operator === "contains" || operator === "not contains"
    ? found.types | found.memberTypes
    : found.types;
}

function noValues(filter: FilterInput, found: FoundField): ServiceError {
  if (found.hasInside) return invalid(filter, "holds objects or arrays; name a field inside it");
  const fault =
    "no event has a value in this field; `exists` and `not exists` can still ask for it";
  return invalid(filter, fault, { unrecorded_field: filter.field });
}

/**
 * Returns the type to compare a filter's value as: the declared type, else a type implied by the
 * operator, the recorded kinds and the value. A declared type without any recorded value gives way
 * to the recorded types, because clients send `string` for everything.
 */
function typeOf(
  filter: FilterInput,
  operator: Operator,
  declared: FilterType | undefined,
  types: number,
): ValueType {
  if (operator === "after" || operator === "before" || declared === "datetime") return "datetime";
  if (declared === "number") parseNumber(filter, filter.value);
  const recorded = valueTypes.filter((type) => types & kindsOf[type]);
  const wanted = [
    declared === "id" ? "string" : declared,
    ...(operatorTypes[operator] ?? []),
    ...typesOfValue(filter.value),
  ].filter((type) => type !== undefined);
  return wanted.find((type) => recorded.length === 0 || recorded.includes(type)) ?? "string";
}

const valueTypes = ["string", "number", "boolean"] as const;
const kindsOf = { string: kinds.string, number: numberKinds, boolean: kinds.boolean } as const;

const operatorTypes: { readonly [O in Operator]?: readonly ["string" | "number"] } = {
  contains: ["string"],
  "not contains": ["string"],
  "greater than": ["number"],
  "less than": ["number"],
};

/** Returns the types that a value can be read as, the likeliest first. */
function typesOfValue(value: FilterInput["value"]): ("string" | "number" | "boolean")[] {
  if (typeof value === "number") return ["number", "string", "boolean"];
  if (typeof value === "boolean") return ["boolean", "string", "number"];
  if (value === "true" || value === "false") return ["string", "boolean", "number"];
  return ["string", "number", "boolean"];
}

function parseTest(filter: FilterInput, operator: Operator, type: ValueType): Test {
  const { value } = filter;
  if (value === undefined) throw invalid(filter, `\`${operator}\` needs a value`);
  if (value === null) throw invalid(filter, `\`${operator}\` needs a value other than null`);
  if (typeof value === "object") {
    throw invalid(filter, "the value must be a string, a number, a boolean or null");
  }
  switch (operator) {
    case "contains":
    case "not contains":
      if (type === "string") return { kind: "contains", text: String(value) };
      throw invalid(filter, `\`${operator}\` looks into text, and this field holds ${type} values`);
    case "greater than":
    case "less than":
      if (type === "number") {
        const kind = operator === "greater than" ? "above" : "below";
        return { kind, bound: parseNumber(filter, value) };
      }
      if (type === "datetime") {
        const kind = operator === "greater than" ? "after" : "before";
        return { kind, instant: parseTime(filter, value) };
      }
      throw invalid(filter, `\`${operator}\` compares numbers and times, not ${type} values`);
    case "after":
    case "before":
      if (type === "datetime") return { kind: operator, instant: parseTime(filter, value) };
      throw invalid(filter, `\`${operator}\` compares times, not ${type} values`);
    default:
      if (type === "datetime") return { kind: "during", instant: parseTime(filter, value) };
      return { kind: "equals", value: parseScalar(filter, value, type) };
  }
}

function parseScalar(
  filter: FilterInput,
  value: string | number | boolean,
  type: "string" | "number" | "boolean",
): string | number | boolean {
  if (type === "string") return String(value);
  if (type === "number") return parseNumber(filter, value);
  if (typeof value === "boolean") return value;
  if (value === "true" || value === "false") return value === "true";
  throw invalid(filter, "the value must be true or false");
}

/** Text such as "0x10", which JavaScript reads as a number. */
const otherBase = /^\s*0[xob]/i;

function parseNumber(filter: FilterInput, value: FilterInput["value"]): number {
  if (typeof value === "string" && value.trim() === "") {
    throw invalid(filter, "the value must be a number, and is blank");
  }
  const isNumeric =
    typeof value === "number" || (typeof value === "string" && !otherBase.test(value));
  const number = isNumeric ? Number(value) : Number.NaN;
  if (!Number.isFinite(number)) throw invalid(filter, "the value must be a finite decimal number");
  return number;
}

function parseTime(filter: FilterInput, value: string | number | boolean) {
  const instant = parseInstant(value);
  if (instant !== undefined) return instant;
  throw invalid(filter, "the value must be Unix milliseconds or ISO 8601 text");
}

function parseOperator(filter: FilterInput): Operator {
  const operator = filterOperators.find((known) => known === filter.operator);
  if (operator !== undefined) return operator;
  throw invalid(filter, `the operator ${faultOfChoice(filterOperators, filter.operator)}`);
}

function parseType(filter: FilterInput): FilterType | undefined {
  if (filter.type === undefined || filter.type === "") return undefined;
  const type = filterTypes.find((known) => known === filter.type);
  if (type !== undefined) return type;
  throw invalid(filter, `the type ${faultOfChoice(filterTypes, filter.type)}`);
}

function invalid(
  { field }: Pick<FilterInput, "field">,
  fault: string,
  details?: ServiceError["details"],
): ServiceError {
  return new ServiceError("INVALID_FILTER", `${field}: ${fault}`, details ? { details } : {});
}
