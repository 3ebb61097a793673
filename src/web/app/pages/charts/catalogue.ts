// Fields that charts offer: the catalogue of the project, and the names that only charts have.

import type { CatalogueField } from "../../design/filter-editor.tsx";

const measures: readonly CatalogueField[] = [
  { name: "event_count", type: "count", hint: "events" },
  { name: "duration", type: "ms", hint: "events" },
  { name: "cost", type: "dollars", hint: "model" },
  { name: "total_tokens", type: "tokens", hint: "model" },
  { name: "prompt_tokens", type: "tokens", hint: "model" },
  { name: "completion_tokens", type: "tokens", hint: "model" },
  { name: "error_rate", type: "share", hint: "events" },
];

const numbers = /integer|decimal|boolean/;
const inBucket = /^(config|inputs|outputs|metadata|feedback|metrics|user_properties)\./;

/** Returns the measures: those with a name, and the recorded fields with numbers. */
export function measureFields(fields: readonly CatalogueField[]): readonly CatalogueField[] {
  const recorded = fields.filter(
    ({ name, type }) => inBucket.test(name) && !name.includes("*") && numbers.test(type),
  );
  return [...measures, ...recorded];
}

const columns: readonly CatalogueField[] = [
  { name: "model", type: "string", hint: "model" },
  { name: "event_name", type: "string", hint: "events" },
  { name: "event_type", type: "string", hint: "events" },
  { name: "source", type: "string", hint: "events" },
  { name: "error", type: "string", hint: "events" },
  { name: "session_id", type: "string", hint: "events" },
];

/** Returns the fields to split by: texts, whole numbers, booleans. */
export function splitFields(fields: readonly CatalogueField[]): readonly CatalogueField[] {
  const recorded = fields.filter(
    ({ name, type }) => inBucket.test(name) && !name.includes("*") && !type.includes("decimal"),
  );
  return [...columns, ...recorded];
}
