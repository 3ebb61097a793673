// A second implementation of filters, in plain TypeScript over events in memory, with which a
// property test compares SQL. Source: docs/decisions.md, 16.

import type { JsonValue } from "../../src/base/json.ts";
import type { StoredEvent } from "../../src/tracing/events/event.ts";

export type ReferenceFilter = {
  readonly field: string;
  readonly operator: string;
  readonly value?: string | number | boolean | null;
  readonly type: "string" | "number" | "boolean" | "datetime";
};

const times: ReadonlySet<string> = new Set(["start_time", "end_time"]);

/** Returns whether an event matches a filter, whose type must be given and fit. */
export function matches(event: StoredEvent, filter: ReferenceFilter): boolean {
  const values = valuesAt(event, filter.field).filter((value) => value !== null);
  const { operator, value } = filter;
  if (operator === "exists") return values.length > 0;
  if (operator === "not exists") return values.length === 0;
  if (value === null) return values.length > 0 === (operator === "is not");
  const isNegated = operator === "is not" || operator === "not contains";
  const positive = operator.replace("not contains", "contains").replace("is not", "is");
  return values.some((found) => holds(found, positive, filter)) !== isNegated;
}

/**
 * Returns whether any event has a value of the filter's type, without which nothing is compared.
 */
export function isTyped(events: readonly StoredEvent[], filter: ReferenceFilter): boolean {
  const { field, operator, type } = filter;
  if (type === "datetime") return true;
  const values = events.flatMap((event) => valuesAt(event, field));
  // Only `contains` looks at the members of an array, and then they count as values of the field.
  const isArrayTyped = field === "children_ids" || operator.endsWith("contains");
  return values.some(
    (value) => typeof value === type || (type === "string" && isArrayTyped && Array.isArray(value)),
  );
}

function holds(
  found: JsonValue,
  operator: string,
  { field, type, value }: ReferenceFilter,
): boolean {
  if (operator === "contains") {
    const members = Array.isArray(found) ? (found as JsonValue[]) : [found];
    const part = String(value).toLowerCase();
    return members.some(
      (member) => typeof member === "string" && member.toLowerCase().includes(part),
    );
  }
  if (type === "datetime") {
    const at = microseconds(found);
    const bound = microseconds(value ?? null);
    if (at === undefined || bound === undefined) return false;
    // A bound in whole milliseconds covers the whole millisecond.
    const width = bound % 1000 === 0 ? 1000 : 1;
    if (operator === "is") return at >= bound && at < bound + width;
    return operator === "after" || operator === "greater than" ? at >= bound + width : at < bound;
  }
  if (operator === "greater than") return typeof found === "number" && found > Number(value);
  if (operator === "less than") return typeof found === "number" && found < Number(value);
  if (field === "children_ids") return Array.isArray(found) && found.includes(String(value));
  if (type === "number") return found === Number(value);
  return type === "boolean" ? found === value : found === String(value);
}

/** Converts milliseconds or ISO text to microseconds; a time without a zone is UTC. */
function microseconds(value: JsonValue): number | undefined {
  if (typeof value === "number") return Math.floor(value * 1000);
  // The year 0 does not exist, so such a text is not a time.
  if (typeof value !== "string" || value.startsWith("0000")) return undefined;
  const form =
    /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)([Zz]|[+-]\d\d:\d\d)?)?$/;
  const [, date = "", clock = "00:00", zone = "Z"] = form.exec(value) ?? [];
  const dayMs = Date.parse(`${date}T00:00Z`);
  if (Number.isNaN(dayMs) || new Date(dayMs).toISOString().slice(0, 10) !== date) return undefined;
  return Date.parse(`${date}T${clock}${zone.toUpperCase()}`) * 1000;
}

function valuesAt(event: StoredEvent, field: string): JsonValue[] {
  if (field === "parent_id" && event.parent_id === null) {
    return event.session_id === event.event_id ? [] : [event.session_id];
  }
  if (field === "duration" && event.duration === null && event.end_time !== null) {
    const us = Math.round(event.end_time * 1000) - Math.round(event.start_time * 1000);
    return [Math.max(0, us) / 1000];
  }
  if (field === "children_ids") return event.children_ids.length ? [event.children_ids] : [];
  const [top = "", ...rest] = field.split(".");
  const value = (event as unknown as Record<string, JsonValue>)[top];
  if (rest.length === 0) {
    if (typeof value === "object" && value !== null && Object.keys(value).length === 0) return [];
    return times.has(top) && typeof value === "number"
      ? [Math.round(value * 1000) / 1000]
      : [value ?? null];
  }
  if (rest.includes("*")) return anywhere(value, rest);
  const found = first(value, rest);
  return found === undefined ? [] : [found];
}

/** Returns the value at a path: the longest key with a value wins, then the next shorter one. */
function first(value: JsonValue | undefined, parts: readonly string[]): JsonValue | undefined {
  if (parts.length === 0) return value;
  for (let length = parts.length; length > 0; length -= 1) {
    const found = first(step(value, parts.slice(0, length).join(".")), parts.slice(length));
    if (found !== undefined) return found;
  }
  return undefined;
}

function anywhere(value: JsonValue | undefined, parts: readonly string[]): JsonValue[] {
  if (parts.length === 0) return value === undefined ? [] : [value];
  if (parts[0] === "*") {
    if (!Array.isArray(value)) return [];
    return (value as JsonValue[]).flatMap((item) => anywhere(item, parts.slice(1)));
  }
  const found: JsonValue[] = [];
  for (let length = 1; length <= parts.length; length += 1) {
    const key = parts.slice(0, length);
    if (key.includes("*")) break;
    found.push(...anywhere(step(value, key.join(".")), parts.slice(length)));
  }
  return found;
}

function step(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (Array.isArray(value)) {
    return /^(0|[1-9]\d*)$/.test(key) ? (value as JsonValue[])[Number(key)] : undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  return Object.hasOwn(value, key) ? (value as Record<string, JsonValue>)[key] : undefined;
}
