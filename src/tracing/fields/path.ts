// Paths of fields. A stored path joins segments by dots, `*` is any array position, and a backslash
// escapes dots, stars and backslashes of keys: unlike a dotted name in a request, it shows where
// keys end. Source: docs/decisions.md, 16, 17.

/** Stands for every position of an array. */
export const anyItem: unique symbol = Symbol("*");

export type Segment = string | typeof anyItem;
export type Path = readonly Segment[];

const special = /[\\.*]/g;

/** Returns the stored form of a path: the form of its parent, then a key. */
export function joinKey(parent: string, key: string): string {
  return `${parent}.${formatKey(key)}`;
}

/** Returns the stored form of the items of the array at `parent`. */
export function joinItem(parent: string): string {
  return `${parent}.*`;
}

function formatKey(key: string): string {
  return /[\\.*]/.test(key) ? key.replace(special, "\\$&") : key;
}

/** Parses a stored path. */
export function parsePath(stored: string): Path {
  if (!stored.includes("\\")) {
    return stored.split(".").map((segment) => (segment === "*" ? anyItem : segment));
  }
  const segments: Segment[] = [];
  for (const [, segment = ""] of stored.matchAll(/(?:^|\.)((?:[^\\.]|\\.)*)/gs)) {
    segments.push(segment === "*" ? anyItem : segment.replaceAll(/\\(.)/gs, "$1"));
  }
  return segments;
}

/** Returns the dotted name of a path, as in requests and the schema. */
export function formatName(path: Path): string {
  return path.map((segment) => (segment === anyItem ? "*" : segment)).join(".");
}

const position = /^(?:0|[1-9][0-9]*)$/;

/**
 * Matches `name` with the start of `path`. Returns the part of the path that the name covers, or
 * undefined. Array positions are those of the name; a `*` in the name stays any position.
 */
export function matchName(path: Path, name: string): Path | undefined {
  const match = followName(path, name);
  return match?.rest === undefined ? match?.found : undefined;
}

/** Returns whether `name` may name something inside the value at `path`. */
export function isInside(name: string, path: Path): boolean {
  return followName(path, name)?.rest !== undefined;
}

/** Follows a name along a path until either ends; `rest` is the remaining name. */
function followName(
  path: Path,
  name: string,
): { readonly found: Path; readonly rest: string | undefined } | undefined {
  const found: Segment[] = [];
  let rest: string | undefined = name;
  for (const segment of path) {
    if (rest === undefined) break;
    const text: string = segment === anyItem ? (rest.split(".", 1)[0] ?? "") : segment;
    if (segment === anyItem && text !== "*" && !position.test(text)) return undefined;
    if (!rest.startsWith(text)) return undefined;
    if (rest.length > text.length && rest[text.length] !== ".") return undefined;
    found.push(segment === anyItem && text !== "*" ? text : segment);
    rest = rest.length === text.length ? undefined : rest.slice(text.length + 1);
  }
  return { found, rest };
}

/**
 * Returns the ways to read a dotted name as keys, longest first key first, at most `countMax`:
 * `a.b` is the key "a.b", then "b" inside "a".
 */
export function splitName(name: string, countMax: number): Path[] {
  const parts = name.split(".");
  const found: Path[] = [];
  const extend = (from: number, path: Path): void => {
    if (from === parts.length) found.push(path);
    for (let to = parts.length; to > from && found.length < countMax; to -= 1) {
      extend(to, [...path, parts.slice(from, to).join(".")]);
    }
  };
  extend(0, []);
  return found;
}

/** Orders paths of one name as they are tried: the longest literal key first, then nesting. */
export function comparePaths(left: Path, right: Path): number {
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const difference = lengthOf(right[index]) - lengthOf(left[index]);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

function lengthOf(segment: Segment | undefined): number {
  return typeof segment === "string" ? segment.length : 1;
}
