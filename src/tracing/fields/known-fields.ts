// The recorded fields of one (project, event type) as a tree, and the walk of an event along it.
// Every stored event is walked: a known shape costs one look-up per value, and path texts are built
// only for new fields.

import { fieldPathDepthMax, fieldPathLengthMax } from "../../base/field-limits.ts";
import { kinds } from "./kind.ts";
import { anyItem, joinItem, joinKey, parsePath } from "./path.ts";

/** A node of the tree. `types` are the recorded kinds of the values at exactly this path. */
export type KnownField = {
  readonly path: string;
  types: number;
  keys: Map<string, KnownField> | undefined;
  items: KnownField | undefined;
};

/** Walk of one event with its unrecorded findings. */
export type Walk = {
  /** Kinds of values by stored path. */
  readonly found: Map<string, number>;
  /** Found paths that are not in the tree, in the order seen. */
  readonly added: string[];
  /** True if only new kinds at known paths count, not new paths. */
  readonly skipsNew: boolean;
  /** True if an object had more new paths below it than the maximum. */
  hasCut: boolean;
};

/**
 * Maximum new paths below an object of an event. An object with more is data keyed by ids, not a
 * shape: none of its paths is recorded, and the object is marked `open` instead.
 */
const newPathsMax = 1_000;

export function createKnownField(path: string): KnownField {
  return { path, types: 0, keys: undefined, items: undefined };
}

/**
 * Adds a recorded path below `root`, which is the path's beginning. Returns the number of new
 * nodes.
 */
export function addKnown(root: KnownField, stored: string, types: number): number {
  let made = 0;
  let node = root;
  const [, ...inside] = parsePath(stored);
  for (const segment of inside) {
    let next = segment === anyItem ? node.items : node.keys?.get(segment);
    if (next === undefined) {
      made += 1;
      if (segment === anyItem) {
        node.items = next = createKnownField(joinItem(node.path));
      } else {
        next = createKnownField(joinKey(node.path, segment));
        (node.keys ??= new Map()).set(segment, next);
      }
    }
    node = next;
  }
  node.types |= types;
  return made;
}

/** Returns the node of a recorded path below `root`; undefined if there is none. */
export function findKnown(root: KnownField, stored: string): KnownField | undefined {
  const [, ...inside] = parsePath(stored);
  let node: KnownField | undefined = root;
  for (const segment of inside) {
    node = segment === anyItem ? node?.items : node?.keys?.get(segment);
  }
  return node;
}

/** Begins a walk. */
export function createWalk(skipsNew: boolean): Walk {
  return { found: new Map(), added: [], skipsNew, hasCut: false };
}

/** Walks a value and records each leaf that is not in the tree with its kind. */
export function findUnseen(value: object, known: KnownField, walk: Walk): void {
  visit(value, known, 1, walk);
}

function visit(value: unknown, known: KnownField, depth: number, walk: Walk): void {
  if (typeof value !== "object" || value === null) {
    noteKnown(known, kindOf(value), walk);
    return;
  }
  if (depth > fieldPathDepthMax) return;
  const start = walk.added.length;
  let isEmpty = true;
  let skipsNew = walk.skipsNew;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) {
      isEmpty = false;
      if (known.items !== undefined) visit(item, known.items, depth + 1, walk);
      else if (!skipsNew) collect(item, joinItem(known.path), depth + 1, walk);
      skipsNew ||= cutsPaths(start, walk);
    }
  } else {
    for (const key in value) {
      isEmpty = false;
      const inner = (value as Record<string, unknown>)[key];
      const next = known.keys?.get(key);
      if (next !== undefined) visit(inner, next, depth + 1, walk);
      else if (!skipsNew) collect(inner, joinKey(known.path, key), depth + 1, walk);
      skipsNew ||= cutsPaths(start, walk);
    }
  }
  if (isEmpty) noteKnown(known, kinds.empty, walk);
  else if (skipsNew && !walk.skipsNew) {
    // Known objects inside continued to add paths.
    dropAdded(start, walk);
    noteKnown(known, kinds.open, walk);
  }
}

function collect(value: unknown, path: string, depth: number, walk: Walk): void {
  if (path.length > fieldPathLengthMax) return;
  if (typeof value !== "object" || value === null) {
    noteNew(path, kindOf(value), walk);
    return;
  }
  if (depth > fieldPathDepthMax) return;
  const start = walk.added.length;
  let isEmpty = true;
  let isCut = false;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) {
      isEmpty = false;
      collect(item, joinItem(path), depth + 1, walk);
      if ((isCut = cutsPaths(start, walk))) break;
    }
  } else {
    for (const key in value) {
      isEmpty = false;
      collect((value as Record<string, unknown>)[key], joinKey(path, key), depth + 1, walk);
      if ((isCut = cutsPaths(start, walk))) break;
    }
  }
  if (isEmpty) noteNew(path, kinds.empty, walk);
  if (isCut) noteNew(path, kinds.open, walk);
}

function noteKnown({ path, types }: KnownField, kind: number, { found }: Walk): void {
  if ((types & kind) === 0) found.set(path, (found.get(path) ?? 0) | kind);
}

function noteNew(path: string, kind: number, { found, added }: Walk): void {
  const types = found.get(path);
  if (types === undefined) added.push(path);
  found.set(path, (types ?? 0) | kind);
}

/** Drops the paths that an object added if they are too many; returns whether it did. */
function cutsPaths(start: number, walk: Walk): boolean {
  if (walk.added.length - start <= newPathsMax) return false;
  dropAdded(start, walk);
  walk.hasCut = true;
  return true;
}

function dropAdded(start: number, { found, added }: Walk): void {
  for (const path of added.splice(start)) found.delete(path);
}

/** Never parses text, because the walk must stay cheap: a date in text stays a string. */
function kindOf(value: unknown): number {
  switch (typeof value) {
    case "string":
      return kinds.string;
    case "number":
      return Number.isInteger(value) ? kinds.integer : kinds.decimal;
    case "boolean":
      return kinds.boolean;
    default:
      return kinds.null;
  }
}
