// Measures and split fields of charts: named measures, columns, and paths into the buckets of an
// event, looked up in the field catalogue.

import { refuseChoice } from "../../base/choices.ts";
import { refuse } from "../../base/errors.ts";
import { filterFieldLengthMax } from "../../base/tenant-limits.ts";
import { type Bucket, bucketOf } from "../events/event.ts";
import { type FoundField, findField } from "../export/find-field.ts";
import type { ProjectFields } from "../fields/fields.ts";
import { formatKinds, kinds, numberKinds } from "../fields/kind.ts";
import { anyItem, type Path } from "../fields/path.ts";

/** A value in a bucket, by the ways to read its name. */
type BucketValue = {
  readonly kind: "bucket";
  readonly bucket: Bucket;
  readonly paths: readonly (readonly string[])[];
};

/** Sums of a session that its events add to, and keys of `metadata` of other events. */
const usageKeys = ["cost", "total_tokens", "prompt_tokens", "completion_tokens"] as const;
export type UsageKey = (typeof usageKeys)[number];

/** Number of an event that a chart measures. */
export type NumberSource =
  | { readonly kind: "event" }
  | { readonly kind: "duration" }
  | { readonly kind: "error" }
  | { readonly kind: "usage"; readonly key: UsageKey }
  | BucketValue;

/** Text of an event that a chart splits by. */
export type TextSource = { readonly kind: "column"; readonly name: TextColumn } | BucketValue;

const textColumns = [
  "event_type",
  "event_name",
  "source",
  "session_id",
  "parent_id",
  "error",
  "model",
] as const;
export type TextColumn = (typeof textColumns)[number];

const namedSources: Readonly<Record<string, NumberSource>> = {
  event_count: { kind: "event" },
  duration: { kind: "duration" },
  latency: { kind: "duration" },
  error_rate: { kind: "error" },
  tokens: { kind: "usage", key: "total_tokens" },
  ...Object.fromEntries(usageKeys.map((key) => [key, { kind: "usage", key }])),
};

/** Returns whether a name is that of a measure, without looking for its values. */
export function isMeasure(name: string): boolean {
  return Object.hasOwn(namedSources, name) || bucketInside(name) !== undefined;
}

/** Returns whether a chart may split by a name, without looking for its values. */
export function isSplit(name: string): boolean {
  return textColumns.some((column) => column === name) || bucketInside(name) !== undefined;
}

const pathsToo = "a path of an event";

/** Returns the source of a measure. Throws INVALID_ARGUMENT naming the field. */
export function numberSource(field: string, name: string, fields: ProjectFields): NumberSource {
  const named = Object.hasOwn(namedSources, name) ? namedSources[name] : undefined;
  if (named) return named;
  const bucket =
    bucketInside(name) ?? refuseChoice(field, Object.keys(namedSources), name, pathsToo);
  const found = lookUp(field, name, bucket, fields);
  const hasNumbers = (found.types & (numberKinds | kinds.boolean)) !== 0;
  if (!hasNumbers && !found.isUnknown) {
    refuse(field, `no event has a number in ${JSON.stringify(name)}`, emptyDetails(name, found));
  }
  return toSource(field, bucket, found);
}

/** Returns the source of a split. Throws INVALID_ARGUMENT naming the field. */
export function textSource(field: string, name: string, fields: ProjectFields): TextSource {
  const column = textColumns.find((one) => one === name);
  if (column !== undefined) return { kind: "column", name: column };
  const bucket = bucketInside(name) ?? refuseChoice(field, textColumns, name, pathsToo);
  const found = lookUp(field, name, bucket, fields);
  if ((found.types & kinds.decimal) !== 0) {
    refuse(field, `${JSON.stringify(name)} holds decimals, which make no groups`);
  }
  const groups = kinds.string | kinds.integer | kinds.boolean | kinds.datetime;
  if ((found.types & groups) === 0 && !found.isUnknown) {
    const shown = formatKinds(found.types) || "no value";
    const fault = `${JSON.stringify(name)} holds ${shown}; name a field of texts`;
    refuse(field, fault, emptyDetails(name, found));
  }
  return toSource(field, bucket, found);
}

function lookUp(field: string, name: string, bucket: Bucket, fields: ProjectFields): FoundField {
  if (name.length > filterFieldLengthMax) refuse(field, "the name is too long");
  return findField(name, bucket, fields);
}

/** Returns the details of a refusal if no event has a value in the field, nor below it. */
function emptyDetails(name: string, { types, hasInside }: FoundField) {
  return types === 0 && !hasInside ? { unrecorded_field: name } : undefined;
}

function toSource(field: string, bucket: Bucket, { paths }: FoundField): BucketValue {
  const exact = paths.filter(isExact);
  if (exact.length === 0) refuse(field, "names the items of a list, of which an event has many");
  return { kind: "bucket", bucket, paths: exact };
}

function isExact(path: Path): path is readonly string[] {
  return path.length > 0 && !path.includes(anyItem);
}

/** Returns the bucket that a name is a path into; a whole bucket cannot be measured. */
function bucketInside(name: string): Bucket | undefined {
  const bucket = bucketOf(name);
  return bucket !== undefined && name.length > bucket.length + 1 ? bucket : undefined;
}
