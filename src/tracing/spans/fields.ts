// Moves single attributes to event fields, according to the tables of conventions/.

import { type JsonValue, setOwn, type MutableObject } from "../../base/json.ts";
import { buckets, type Bucket } from "../events/event.ts";
import { isSameJson } from "./values.ts";
import type { Draft } from "./draft.ts";

/**
 * Attribute to the field or fields it fills: `bucket.key` or `config.hyperparameters.key`. If two
 * attributes fill one field, the earlier line of the earlier table wins; the other stays in
 * metadata under its own key, unless its value is the same.
 */
export type FieldTable = Readonly<Record<string, string | readonly string[]>>;

type Target = { readonly bucket: Bucket; readonly group: string | undefined; readonly key: string };
type Line = {
  readonly attribute: string;
  readonly rank: number;
  readonly targets: readonly Target[];
};

export type CompiledFields = ReadonlyMap<string, Line>;

/** Joins tables into one look-up, in order of preference. Throws on a mistyped bucket. */
export function compileFields(tables: readonly FieldTable[]): CompiledFields {
  const lines = new Map<string, Line>();
  for (const table of tables) {
    for (const [attribute, fields] of Object.entries(table)) {
      if (lines.has(attribute)) continue;
      const targets = (typeof fields === "string" ? [fields] : fields).map(parseTarget);
      lines.set(attribute, { attribute, rank: lines.size, targets });
    }
  }
  return lines;
}

function parseTarget(field: string): Target {
  const segments = field.split(".");
  const bucket = buckets.find((one) => one === segments[0]);
  const key = segments.at(-1);
  if (bucket === undefined || key === undefined || segments.length < 2 || segments.length > 3) {
    throw new Error(`${field} names no field of an event`);
  }
  return { bucket, group: segments.length === 3 ? segments[1] : undefined, key };
}

/** Places every attribute that is in `fields`; the others stay unread. Null counts as absent. */
export function placeFields(draft: Draft, fields: CompiledFields): void {
  const known: Line[] = [];
  for (const key of draft.attributes.keys()) {
    const line = fields.get(key);
    const value = draft.attributes.get(key) ?? null;
    if (line !== undefined && value !== null) insertByRank(known, line);
    else draft.left.set(key, value);
  }
  for (const { attribute, targets } of known) {
    const value = draft.attributes.get(attribute) ?? null;
    let isKept = false;
    for (const target of targets) isKept = placeTarget(draft, target, value) || isKept;
    if (!isKept) draft.left.set(attribute, value);
  }
}

// A span has few lines, for which this is cheaper than a sort.
function insertByRank(lines: Line[], line: Line): void {
  let at = lines.length;
  for (; at > 0; at -= 1) {
    const before = lines[at - 1];
    if (before === undefined || before.rank < line.rank) break;
    lines[at] = before;
  }
  lines[at] = line;
}

function placeTarget(draft: Draft, { bucket, group, key }: Target, value: JsonValue): boolean {
  const into = group === undefined ? draft.buckets[bucket] : groupOf(draft.buckets[bucket], group);
  if (into === undefined) return false;
  if (Object.hasOwn(into, key)) return isSameJson(into[key], value);
  setOwn(into, key, value);
  return true;
}

function groupOf(bucket: MutableObject, group: string): MutableObject | undefined {
  const found = bucket[group];
  if (found === undefined) {
    const made: MutableObject = {};
    bucket[group] = made;
    return made;
  }
  // The sender's own value under the group's name stays unchanged.
  return typeof found === "object" && found !== null && !Array.isArray(found)
    ? (found as MutableObject)
    : undefined;
}
