// Converts the event of a run request to the form in which evaluators see stored events.
// Source: docs/spec.md, "Metrics and evaluations"; docs/evaluators.md.

import { parseChoice } from "../../base/choices.ts";
import { refuse } from "../../base/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { nestingDepthMax } from "../../base/limits.ts";
import { buckets, eventTypes, unknownName } from "../../tracing/events/event.ts";
import { isSound } from "../../tracing/events/parse-event.ts";

/** Values of fields that the request omits. */
const absent: JsonObject = {
  event_id: null,
  session_id: null,
  parent_id: null,
  children_ids: [],
  event_type: null,
  event_name: unknownName,
  source: unknownName,
  error: null,
  start_time: null,
  end_time: null,
  duration: null,
  ...Object.fromEntries(buckets.map((bucket) => [bucket, {}])),
};

/**
 * Returns the event with every field of a stored one; null counts as omitted, and unknown fields
 * stay. The project is the caller's. Throws INVALID_ARGUMENT naming the field.
 */
export function toGivenEvent(given: JsonObject, projectId: string): JsonObject {
  const said = Object.entries(given).filter(([, value]) => value !== null);
  for (const [name, value] of said) assertField(name, value);
  return { ...absent, ...Object.fromEntries(said), project_id: projectId };
}

function assertField(name: string, value: JsonValue): void {
  const field = `event.${name}`;
  if (buckets.some((bucket) => bucket === name) && !isJsonObject(value)) {
    refuse(field, "must be an object");
  }
  if (name === "event_type") parseChoice(field, eventTypes, value);
  if (!isSound(value, nestingDepthMax)) {
    refuse(field, `may nest ${nestingDepthMax} levels, and its numbers must be finite`);
  }
}
