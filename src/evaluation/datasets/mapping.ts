// Mappings: which parts of an object or an event become which part of a datapoint.
// Source: the published clients of this API; docs/datasets.md.

import { refuse } from "../../base/errors.ts";
import { promptPathKeysMax } from "../../base/field-limits.ts";
import { filterFieldLengthMax, mappingKeysMax } from "../../base/tenant-limits.ts";
import {
  findValue,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type MutableObject,
  setOwn,
} from "../../base/json.ts";
import { buckets, isBucket, type StoredEvent } from "../../tracing/events/event.ts";
import { type DatapointContent, emptyContent, toMessages } from "./datapoint.ts";

/** Keys of an object, or paths of an event, by the part of the datapoint that they become. */
export type Mapping = {
  readonly inputs: readonly string[];
  readonly groundTruth: readonly string[];
  readonly history: readonly string[];
};

/** Throws INVALID_ARGUMENT if a mapping names more keys than each object is looked up for. */
export function assertKeys({ inputs, groundTruth, history }: Mapping): void {
  if (inputs.length + groundTruth.length + history.length <= mappingKeysMax) return;
  refuse("mapping", `must name at most ${mappingKeysMax} keys`);
}

/** Throws INVALID_ARGUMENT if a mapping of events names too many paths, or one that is too deep. */
export function assertPaths(mapping: Mapping): void {
  assertKeys(mapping);
  for (const path of [...mapping.inputs, ...mapping.groundTruth, ...mapping.history]) {
    if (path.length <= filterFieldLengthMax && path.split(".").length <= promptPathKeysMax)
      continue;
    const most = `${filterFieldLengthMax} characters and ${promptPathKeysMax} parts`;
    refuse("mapping", `a path must have at most ${most}`);
  }
  assertApart("inputs", mapping.inputs);
  assertApart("ground_truth", mapping.groundTruth);
}

/** Throws INVALID_ARGUMENT if two paths give the same key: one of their values would be lost. */
function assertApart(part: string, paths: readonly string[]): void {
  const pathOf = new Map<string, string>();
  for (const path of paths) {
    if (isBucket(path)) continue;
    const before = pathOf.get(keyOf(path)) ?? path;
    if (before !== path) refuse(`mapping.${part}`, `${before} and ${path} give the same key`);
    pathOf.set(keyOf(path), path);
  }
}

/** Returns the key under which a datapoint has the value of a path. */
function keyOf(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

/**
 * Maps an object by its top-level keys. Keys that no part names become metadata, so that nothing is
 * lost. Throws INVALID_ARGUMENT, after `path`, for a history that is not made of objects.
 */
export function mapObject(object: JsonObject, mapping: Mapping, path: string): DatapointContent {
  const named = new Set([...mapping.inputs, ...mapping.groundTruth, ...mapping.history]);
  const rest = Object.keys(object).filter((key) => !named.has(key));
  const groundTruth = pick(object, mapping.groundTruth);
  return {
    inputs: pick(object, mapping.inputs),
    history: historyOf(
      mapping.history.map((key) => [key, Object.hasOwn(object, key) ? object[key] : undefined]),
      path,
    ),
    groundTruth: Object.keys(groundTruth).length > 0 ? groundTruth : null,
    metadata: rest.length > 0 ? pick(object, rest) : null,
    linkedEvent: null,
  };
}

function pick(object: JsonObject, keys: readonly string[]): JsonObject {
  const picked: MutableObject = {};
  for (const key of keys) {
    if (Object.hasOwn(object, key)) setOwn(picked, key, object[key] ?? null);
  }
  return picked;
}

type NamedValue = readonly [name: string, value: JsonValue | undefined];

/** Joins values to one history: objects, and lists of objects. */
function historyOf(values: readonly NamedValue[], path: string): readonly JsonObject[] {
  return values.flatMap(([name, value]) => {
    if (value === undefined || value === null) return [];
    if (isJsonArray(value)) return toMessages(value, path + name);
    if (isJsonObject(value)) return [value];
    return refuse(path + name, "must be an object or a list of objects, to become history");
  });
}

/** Key of an event's inputs with the messages of a chat. */
const chatHistory = "chat_history";
const groundTruthItem = "ground_truth";

/** Maps an event. Without a mapping, its parts have their usual places. */
export function mapEvent(event: StoredEvent, mapping: Mapping | undefined): DatapointContent {
  const linkedEvent = event.event_id;
  if (mapping === undefined) return { ...usualContent(event), linkedEvent };
  const groundTruth = gather(event, mapping.groundTruth);
  return {
    ...emptyContent,
    inputs: gather(event, mapping.inputs),
    history: historyOf(
      mapping.history.map((path) => [path, readPath(event, path)]),
      `event ${event.event_id}: `,
    ),
    groundTruth: Object.keys(groundTruth).length > 0 ? groundTruth : null,
    linkedEvent,
  };
}

function usualContent({ inputs, outputs, feedback }: StoredEvent): DatapointContent {
  const { [chatHistory]: history, ...rest } = inputs;
  const isHistory = isJsonArray(history) && history.every(isJsonObject);
  const expected = feedback[groundTruthItem];
  return {
    ...emptyContent,
    inputs: isHistory ? rest : inputs,
    history: isHistory ? history.filter(isJsonObject) : [],
    groundTruth: expected === undefined ? outputs : toObject(groundTruthItem, expected),
  };
}

function toObject(name: string, value: JsonValue): JsonObject {
  return isJsonObject(value) ? value : { [name]: value };
}

/** Gathers fields of an event under the last part of their paths; a bucket gives all its keys. */
function gather(event: StoredEvent, paths: readonly string[]): JsonObject {
  const gathered: MutableObject = {};
  for (const path of paths) {
    const value = readPath(event, path);
    if (value === undefined) continue;
    if (isBucket(path)) {
      for (const [key, inner] of Object.entries(event[path])) setOwn(gathered, key, inner);
    } else {
      setOwn(gathered, keyOf(path), value);
    }
  }
  return gathered;
}

/** Maximum look-ups for one path of an event. */
const triesMax = 1_000;

/** Reads a path of an event: the longest literal key first, then nesting. */
function readPath(event: StoredEvent, path: string): JsonValue | undefined {
  const [bucket = "", ...keys] = path.split(".");
  if (!isBucket(bucket)) {
    return refuse("mapping", `${path}: must begin with one of ${buckets.join(", ")}`);
  }
  return findValue(event[bucket], keys, { left: triesMax });
}
