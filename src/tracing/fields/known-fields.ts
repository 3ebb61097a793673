// The fields of one (project, event type) that are known to be recorded, as a tree, and the walk of
// an event along it. The walk runs for every event that is stored: a known shape costs one look-up
// a value, and paths are written out only where something new is seen. Called by fields.ts.

import { kinds } from "./kind.ts";
import { anyItem, joinItem, joinKey, parsePath } from "./path.ts";

/** A node of the tree. `types` are the recorded kinds of the values found right here. */
export type KnownField = {
  readonly path: string;
  types: number;
  keys: Map<string, KnownField> | undefined;
  items: KnownField | undefined;
};

/** Told of a value whose kind is not recorded for its path. */
export type OnUnseen = (path: string, kind: number) => void;

type Walk = {
  readonly onUnseen: OnUnseen;
  /** True where new paths do not matter any more, only new kinds at known ones. */
  readonly skipsNew: boolean;
};

/** Longest stored path and deepest nesting that are recorded. */
export const pathLengthMax = 500;
export const pathDepthMax = 32;

export function createKnownField(path: string): KnownField {
  return { path, types: 0, keys: undefined, items: undefined };
}

/** Adds a recorded path below `root`, whose path it begins with. Returns how many nodes it made. */
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

/** Returns the node of a recorded path below `root`, or undefined. */
export function findKnown(root: KnownField, stored: string): KnownField | undefined {
  const [, ...inside] = parsePath(stored);
  let node: KnownField | undefined = root;
  for (const segment of inside) {
    node = segment === anyItem ? node?.items : node?.keys?.get(segment);
  }
  return node;
}

/** Walks a value and tells of each leaf that is not in the tree with its kind. */
export function findUnseen(value: object, known: KnownField, walk: Walk): void {
  visit(value, known, 1, walk);
}

function visit(value: unknown, known: KnownField, depth: number, walk: Walk): void {
  if (typeof value === "object" && value !== null) {
    if (depth > pathDepthMax) return;
    let isEmpty = true;
    if (Array.isArray(value)) {
      for (const item of value as unknown[]) {
        isEmpty = false;
        if (known.items !== undefined) visit(item, known.items, depth + 1, walk);
        else if (!walk.skipsNew) collect(item, joinItem(known.path), depth + 1, walk.onUnseen);
      }
    } else {
      for (const key in value) {
        isEmpty = false;
        const inner = (value as Record<string, unknown>)[key];
        const next = known.keys?.get(key);
        if (next !== undefined) visit(inner, next, depth + 1, walk);
        else if (!walk.skipsNew) collect(inner, joinKey(known.path, key), depth + 1, walk.onUnseen);
      }
    }
    if (isEmpty && (known.types & kinds.empty) === 0) walk.onUnseen(known.path, kinds.empty);
    return;
  }
  const kind = kindOf(value);
  if ((known.types & kind) === 0) walk.onUnseen(known.path, kind);
}

function collect(value: unknown, path: string, depth: number, onUnseen: OnUnseen): void {
  if (path.length > pathLengthMax) return;
  if (typeof value !== "object" || value === null) {
    onUnseen(path, kindOf(value));
    return;
  }
  if (depth > pathDepthMax) return;
  let isEmpty = true;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) {
      isEmpty = false;
      collect(item, joinItem(path), depth + 1, onUnseen);
    }
  } else {
    for (const key in value) {
      isEmpty = false;
      collect((value as Record<string, unknown>)[key], joinKey(path, key), depth + 1, onUnseen);
    }
  }
  if (isEmpty) onUnseen(path, kinds.empty);
}

/** Text is never looked into: a date in it stays a string, since the walk must cost nothing. */
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
