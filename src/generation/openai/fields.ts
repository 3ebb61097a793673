// Reads members of an OpenAI request with their paths, so that an untranslatable member is refused
// by name. null counts as absent. Source: docs/decisions.md, 20.1, 21.1; docs/generations.md.

import { refuse } from "../../base/errors.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";

/** Value with its path, such as `messages[0].content`. */
export type Item = { readonly path: string; readonly value: JsonValue };

/** Object of the request. The readers fail with INVALID_ARGUMENT if a member has another type. */
export type Fields = {
  readonly path: string;
  readonly object: JsonObject;
  readonly value: (name: string) => JsonValue | undefined;
  readonly text: (name: string) => string | undefined;
  readonly number: (name: string) => number | undefined;
  readonly integer: (name: string) => number | undefined;
  readonly boolean: (name: string) => boolean | undefined;
  readonly fields: (name: string) => Fields | undefined;
  readonly list: (name: string) => readonly Item[] | undefined;
  readonly texts: (name: string) => string[] | undefined;
  /** Like `text` and `fields`, but refuse an absent member. */
  readonly needText: (name: string) => string;
  readonly needFields: (name: string) => Fields;
  readonly refuse: (name: string, why: string) => never;
  /** Refuses every present member that is not listed. */
  readonly only: (...names: readonly string[]) => void;
};

/** Message for members without an equivalent at the provider. */
export const untranslatable = "cannot be translated for this provider";

export function fieldsOf(object: JsonObject, path = ""): Fields {
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const value = (name: string): JsonValue | undefined => object[name] ?? undefined;
  const refuseAt = (name: string, why: string): never => refuse(at(name), why);

  function read<T extends JsonValue>(
    name: string,
    isFit: (value: JsonValue) => value is T,
    what: string,
  ): T | undefined {
    const found = value(name);
    if (found === undefined || isFit(found)) return found;
    return refuseAt(name, `must be ${what}`);
  }

  function fields(name: string): Fields | undefined {
    const found = read(name, isJsonObject, "an object");
    return found && fieldsOf(found, at(name));
  }

  function list(name: string): readonly Item[] | undefined {
    const items = read(name, isJsonArray, "a list");
    return items?.map((item, index) => ({ path: `${at(name)}[${index}]`, value: item }));
  }

  return {
    path,
    object,
    value,
    text: (name) => read(name, isText, "text"),
    number: (name) => read(name, isNumber, "a number"),
    integer: (name) => read(name, isInteger, "a whole number"),
    boolean: (name) => read(name, isBoolean, "true or false"),
    fields,
    list,
    texts: (name) =>
      list(name)?.map(({ path: itemPath, value: item }) =>
        isText(item) ? item : refuse(itemPath, "must be text"),
      ),
    needText: (name) => read(name, isText, "text") ?? refuseAt(name, "must be given"),
    needFields: (name) => fields(name) ?? refuseAt(name, "must be given"),
    refuse: refuseAt,
    only(...names) {
      const other = Object.keys(object).find(
        (name) => value(name) !== undefined && !names.includes(name),
      );
      if (other !== undefined) refuseAt(other, untranslatable);
    },
  };
}

/** Reads an item that must be an object. */
export function itemFields({ path, value }: Item): Fields {
  return isJsonObject(value) ? fieldsOf(value, path) : refuse(path, "must be an object");
}

function isText(value: JsonValue): value is string {
  return typeof value === "string";
}

function isNumber(value: JsonValue): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isInteger(value: JsonValue): value is number {
  return Number.isSafeInteger(value);
}

function isBoolean(value: JsonValue): value is boolean {
  return typeof value === "boolean";
}
