// Filters in addresses and as the API takes them: field, operator, value, type.

const operators = [
  "is",
  "is not",
  "contains",
  "not contains",
  "greater than",
  "less than",
  "after",
  "before",
  "exists",
  "not exists",
] as const;

export type Operator = (typeof operators)[number];
export type FilterType = "string" | "number" | "boolean" | "datetime" | "id";

export type FilterRow = {
  readonly field: string;
  readonly operator: Operator;
  /** Absent for `exists` and `not exists`. */
  readonly value?: string | number | boolean;
  readonly type?: FilterType;
};

const filtersMax = 20;

/** Reads the filters of an address; leaves out those of another form, undefined if none is left. */
export function parseFilters(filters: unknown): readonly FilterRow[] | undefined {
  if (!Array.isArray(filters)) return undefined;
  const good = filters.filter(isFilter).slice(0, filtersMax);
  return good.length === 0 ? undefined : good;
}

const valueTypes = ["string", "number", "boolean", "undefined"];

function isFilter(filter: unknown): filter is FilterRow {
  if (typeof filter !== "object" || filter === null) return false;
  const { field, operator, value, type } = filter as Record<string, unknown>;
  return (
    typeof field === "string" &&
    operators.some((one) => one === operator) &&
    valueTypes.includes(typeof value) &&
    (type === undefined || (typeof type === "string" && Object.hasOwn(operatorsByType, type)))
  );
}

/** Returns whether an operator compares with a value. */
export function takesValue(operator: Operator): boolean {
  return operator !== "exists" && operator !== "not exists";
}

const operatorsByType: Readonly<Record<FilterType, readonly Operator[]>> = {
  string: ["is", "is not", "contains", "not contains", "exists", "not exists"],
  id: ["is", "is not", "exists", "not exists"],
  number: ["is", "is not", "greater than", "less than", "exists", "not exists"],
  boolean: ["is", "is not", "exists", "not exists"],
  datetime: ["after", "before", "exists", "not exists"],
};

/** Returns the operators that make sense for a type of the field catalogue. */
export function operatorsOf(type: string): readonly Operator[] {
  return operatorsByType[filterTypeOf(type)];
}

/** Returns the filter type of a type of the field catalogue (`integer`, `decimal`, …). */
export function filterTypeOf(type: string): FilterType {
  switch (type) {
    case "integer":
    case "decimal":
    case "number":
      return "number";
    case "boolean":
    case "datetime":
    case "id":
      return type;
    default:
      return "string";
  }
}

/** Returns a filter as a message of the API. */
export function toMessage({ field, operator, value, type }: FilterRow) {
  return {
    field,
    operator,
    ...(value !== undefined && takesValue(operator) && { value: toValue(value) }),
    ...(type !== undefined && takesValue(operator) && { type }),
  };
}

function toValue(value: string | number | boolean) {
  if (typeof value === "number") return { kind: { case: "numberValue" as const, value } };
  if (typeof value === "boolean") return { kind: { case: "boolValue" as const, value } };
  return { kind: { case: "stringValue" as const, value } };
}
