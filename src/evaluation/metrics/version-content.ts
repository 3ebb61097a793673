// The content of a version in its hashed, compared and shown forms. Pure.
// Source: docs/decisions.md, 25.3.

import { isDeepStrictEqual } from "node:util";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { hashContent } from "../../base/versions.ts";
import type { Definition } from "./definition.ts";

/** Field names in the order of answers. */
const fieldNames = [
  "name",
  "type",
  "criteria",
  "older_texts",
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

/** Returns the SHA-256 of a definition in hexadecimal; equal definitions have equal hashes. */
export function hashDefinition(definition: Definition): string {
  return hashContent(definition as unknown as JsonValue);
}

/** Returns the fields that differ, in the order of answers. */
export function compareDefinitions(before: Definition, after: Definition): readonly FieldChange[] {
  return fieldNames
    .filter((field) => !isDeepStrictEqual(before[field], after[field]))
    .map((field) => ({
      field,
      before: (before[field] ?? null) as JsonValue,
      after: (after[field] ?? null) as JsonValue,
    }));
}

/** Returns a definition in the form of a version's content. */
export function toContent(definition: Definition, readsGroundTruth: boolean): JsonObject {
  const fields = fieldNames
    .filter((field) => definition[field] !== undefined)
    .map((field) => [field, definition[field] as JsonValue] as const);
  return { ...Object.fromEntries(fields), needs_ground_truth: readsGroundTruth };
}
