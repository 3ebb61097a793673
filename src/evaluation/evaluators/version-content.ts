// What a version holds, as it is hashed, compared and shown. Called by evaluators.ts, versions.ts
// and the handlers; pure. Source: docs/decisions.md, 25.

import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "../../base/json.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import type { Definition } from "./definition.ts";

/** In the order they are shown in. */
const fieldNames = [
  "name",
  "type",
  "criteria",
  "description",
  "return_type",
  "enabled_in_prod",
  "sampling_percentage",
  "model_provider",
  "model_name",
  "scale",
  "threshold",
  "categories",
  "filters",
] as const satisfies readonly (keyof Definition)[];

export type FieldChange = {
  readonly field: string;
  readonly before: JsonValue;
  readonly after: JsonValue;
};

/** Returns SHA-256 of a definition in hexadecimal: of equal ones the same. */
export function hashDefinition(definition: Definition): string {
  const text = JSON.stringify(inOrder(definition as unknown as JsonValue));
  return createHash("sha256").update(text).digest("hex");
}

/** Objects have no order of their own, and lose it where they are stored. */
function inOrder(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(inOrder);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, inOrder(value[key] ?? null)]));
}

/** Returns the fields that differ, in the order they are shown in. */
export function compareDefinitions(before: Definition, after: Definition): readonly FieldChange[] {
  return fieldNames
    .filter((field) => !isDeepStrictEqual(before[field], after[field]))
    .map((field) => ({
      field,
      before: before[field] as JsonValue,
      after: after[field] as JsonValue,
    }));
}

/** Returns a definition as versions show it. */
export function toContent(definition: Definition, readsGroundTruth: boolean): JsonObject {
  const fields = fieldNames.map((field) => [field, definition[field] as JsonValue] as const);
  return { ...Object.fromEntries(fields), needs_ground_truth: readsGroundTruth };
}
