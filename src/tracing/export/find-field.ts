// Finds the dotted name of a filter among the recorded fields.
// Source: docs/decisions.md, 16 ("A dotted path tries the longest literal key first") and 17.

import type { Bucket } from "../events/event.ts";
import type { ProjectFields } from "../fields/fields.ts";
import { fieldPathDepthMax, fieldPathLengthMax } from "../../base/field-limits.ts";
import { kinds } from "../fields/kind.ts";
import {
  anyItem,
  comparePaths,
  isInside,
  matchName,
  type Path,
  splitName,
} from "../fields/path.ts";

export type FoundField = {
  /** Ways to read the name inside its bucket, in the order to try them; never empty. */
  readonly paths: readonly Path[];
  /** Kinds of the values recorded exactly at the name. */
  readonly types: number;
  /** Kinds of the array members, if the name is an array. */
  readonly memberTypes: number;
  /**
   * True if something is recorded below the name, which is then an object or array in some event.
   */
  readonly hasInside: boolean;
  /** True if the catalogue cannot tell whether the field has values. */
  readonly isUnknown: boolean;
};

/** Maximum number of readings of one name; real data has one or two. */
const pathsMax = 16;

/** Looks up a name that begins with its bucket. */
export function findField(name: string, bucket: Bucket, fields: ProjectFields): FoundField {
  const paths = new Map<string, Path>();
  let types = 0;
  let memberTypes = 0;
  let hasInside = false;
  let isInOpen = false;
  for (const field of fields.fields) {
    if (field.path[0] !== bucket) continue;
    const isOpen = (field.types & kinds.open) !== 0;
    isInOpen ||= isOpen && isInside(name, field.path);
    const found = matchName(field.path, name);
    if (found === undefined) continue;
    addPath(paths, found.slice(1));
    if (found.length === field.path.length) {
      types |= field.types & ~kinds.open;
      hasInside ||= isOpen;
      continue;
    }
    hasInside = true;
    const isMember = field.path.length === found.length + 1 && field.path.at(-1) === anyItem;
    if (isMember) memberTypes |= field.types;
  }
  const isUnknown =
    name !== bucket &&
    (!fields.isComplete ||
      (isInOpen && types === 0 && !hasInside) ||
      name.length > fieldPathLengthMax ||
      depthOf(name) > fieldPathDepthMax);
  const inside = name.slice(bucket.length + 1);
  if (paths.size === 0 || isUnknown) {
    const guesses = name === bucket ? [[]] : splitName(inside, pathsMax);
    for (const path of guesses) addPath(paths, path);
  }
  return {
    paths: [...paths.values()].toSorted(comparePaths).slice(0, pathsMax),
    types,
    memberTypes,
    hasInside,
    isUnknown,
  };
}

function addPath(paths: Map<string, Path>, path: Path): void {
  paths.set(JSON.stringify(path.map((segment) => (segment === anyItem ? 0 : segment))), path);
}

function depthOf(name: string): number {
  return name.split(".").length;
}
