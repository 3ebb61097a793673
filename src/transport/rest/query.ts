// Converts a query string to the JSON value of a request message, so that the JSON reader serves
// both. Fields of message type are JSON text in the query; `a=1&a=2` and `a[]=1` are both arrays,
// as clients send them. Source: google/api/http.proto.

import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { FieldFault, withinField } from "./field-fault.ts";
import { isWellKnown, requestKeysOf } from "./field-names.ts";

export type QueryReader = (query: URLSearchParams) => Record<string, unknown>;

/**
 * Returns the query reader of a message. Unknown names are ignored; names with dots or brackets set
 * fields of inner messages (`dateRange.start_time`, `dateRange[$gte]`). Throws FieldFault if a text
 * does not fit its field, or if a field of one value has several.
 */
export function queryReader(message: DescMessage): QueryReader {
  const fields = fieldsByKey(message);
  return (query) => {
    const json: Record<string, unknown> = {};
    for (const name of new Set(query.keys())) {
      const path = name.replace(/\[\]$/, "");
      const texts = query.getAll(name);
      const [head = "", ...inner] = fields.has(path) ? [path] : splitName(path);
      const field = fields.get(head);
      if (!field) continue;
      try {
        if (inner.length === 0) json[head] = mergeLists(json[head], readTexts(field, texts));
        else setInner(json, head, field, inner, texts);
      } catch (error) {
        throw withinField(error, path);
      }
    }
    return json;
  };
}

function fieldsByKey(message: DescMessage): ReadonlyMap<string, DescField> {
  return new Map(
    message.fields.flatMap((field) => requestKeysOf(field).map((key) => [key, field] as const)),
  );
}

/** Returns the parts of a name: `dateRange.$gte` and `dateRange[$gte]` have the same two. */
function splitName(name: string): readonly string[] {
  return name.replace(/\[([^[\]]*)\]/g, ".$1").split(".");
}

/** Merges two parts of one list, as in `a=1&a[]=2`. */
function mergeLists(before: unknown, after: unknown): unknown {
  if (!Array.isArray(before) || !Array.isArray(after)) return after;
  return [...(before as readonly unknown[]), ...(after as readonly unknown[])];
}

/**
 * Sets a field such as `dateRange.start_time`. Supports one level, which suffices for all messages.
 * Throws FieldFault for a name inside a field that leads nowhere, since without it the request
 * would ask for something else.
 */
function setInner(
  json: Record<string, unknown>,
  head: string,
  field: DescField,
  path: readonly string[],
  texts: readonly string[],
): void {
  if (field.fieldKind === "list") throw new FieldFault(`must be JSON text, as in ${head}=[…]`);
  const isOpen = field.fieldKind === "message" && !isWellKnown(field.message);
  const key = path.join(".");
  const inner = isOpen ? fieldsByKey(field.message).get(key) : undefined;
  if (!inner) throw new FieldFault("is not a known name");
  const before = json[head];
  const outer = typeof before === "object" && before !== null ? before : {};
  json[head] = { ...outer, [key]: readTexts(inner, texts) };
}

function readTexts(field: DescField, texts: readonly string[]): unknown {
  const [only = ""] = texts;
  if (field.fieldKind !== "list") {
    // One of two flags that differ would be obeyed unseen: `false` and `true` of a deletion.
    if (new Set(texts).size > 1) throw new FieldFault("has several different values");
    return field.fieldKind === "map" ? parseJson(only) : readText(field, only);
  }
  const isJsonArray = texts.length === 1 && only.trimStart().startsWith("[");
  if (isJsonArray) return parseJson(only);
  return texts.map((text) => readText(field, text));
}

function readText(field: DescField, text: string): unknown {
  if (field.message) return parseJson(text);
  if (field.scalar === ScalarType.BOOL) {
    // Upper case counts too: Python clients write `True`.
    const value = text.toLowerCase();
    if (value === "true" || value === "false") return value === "true";
    throw new FieldFault("must be true or false");
  }
  const isNumber = field.scalar === ScalarType.DOUBLE || field.scalar === ScalarType.FLOAT;
  // Blank text is not a number, although Number("") is 0; the reader refuses it as text.
  return isNumber && text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new FieldFault("must be JSON text", { cause: error });
  }
}
