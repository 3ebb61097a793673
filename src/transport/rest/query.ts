// Converts a query string to the JSON value of a request message, so that the JSON reader serves
// both. Fields of message type are JSON text in the query; `a=1&a=2` and `a[]=1` are both arrays,
// as clients send them. Source: google/api/http.proto.

import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { FieldFault, withinField } from "./field-fault.ts";
import { isWellKnown, requestKeysOf } from "./field-names.ts";

export type QueryReader = (query: URLSearchParams) => Record<string, unknown>;

/**
 * Returns the query reader of a message. Unknown names are ignored, and dotted names set fields of
 * inner messages (`dateRange.start_time`). Throws FieldFault if a text does not fit its field.
 */
export function queryReader(message: DescMessage): QueryReader {
  const fields = fieldsByKey(message);
  return (query) => {
    const json: Record<string, unknown> = {};
    for (const name of new Set(query.keys())) {
      const path = name.replace(/\[\]$/, "");
      const texts = query.getAll(name);
      const [head = "", ...inner] = fields.has(path) ? [path] : path.split(".");
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

/** Merges two parts of one list, as in `a=1&a[]=2`. */
function mergeLists(before: unknown, after: unknown): unknown {
  if (!Array.isArray(before) || !Array.isArray(after)) return after;
  return [...(before as readonly unknown[]), ...(after as readonly unknown[])];
}

/**
 * Sets a field such as `dateRange.start_time`. Supports one level, which suffices for all messages.
 */
function setInner(
  json: Record<string, unknown>,
  head: string,
  field: DescField,
  path: readonly string[],
  texts: readonly string[],
): void {
  if (field.fieldKind !== "message" || isWellKnown(field.message)) return;
  const key = path.join(".");
  const inner = fieldsByKey(field.message).get(key);
  if (!inner) return;
  const before = json[head];
  const outer = typeof before === "object" && before !== null ? before : {};
  json[head] = { ...outer, [key]: readTexts(inner, texts) };
}

function readTexts(field: DescField, texts: readonly string[]): unknown {
  if (field.fieldKind === "map") return parseJson(texts.at(-1) ?? "");
  if (field.fieldKind !== "list") return readText(field, texts.at(-1) ?? "");
  const [only] = texts;
  const isJsonArray = texts.length === 1 && only?.trimStart().startsWith("[");
  if (isJsonArray) return parseJson(only ?? "");
  return texts.map((text) => readText(field, text));
}

function readText(field: DescField, text: string): unknown {
  if (field.message) return parseJson(text);
  if (field.scalar === ScalarType.BOOL) {
    // In either case: Python clients write `True`.
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
