// Differences between the contents of two versions: field by field, templates also line by line.
// Pure. Source: docs/decisions.md, 44.3; docs/prompts.md.

import { isDeepStrictEqual } from "node:util";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import { templateDiffCellsMax } from "../../base/tenant-limits.ts";
import type { Content } from "./configuration.ts";

export type DiffLine = {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
};

export type FieldChange = {
  /** Path of the field, such as `parameters.hyperparameters.temperature`. */
  readonly field: string;
  /** Undefined if the version has no such field. */
  readonly before: JsonValue | undefined;
  readonly after: JsonValue | undefined;
  /** Lines of the template; absent for other fields. */
  readonly lines?: readonly DiffLine[];
};

/** Returns the fields that differ: parameters and hyperparameters by key, others as a whole. */
export function compareContents(before: Content, after: Content): readonly FieldChange[] {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter((field) => !isDeepStrictEqual(old.get(field), now.get(field)))
    .map((field) => {
      const change = { field, before: old.get(field), after: now.get(field) };
      if (field !== templateField) return change;
      return { ...change, lines: compareLines(linesOf(change.before), linesOf(change.after)) };
    });
}

const templateField = "parameters.template";

function fieldsOf({ type, provider, parameters, tags, userProperties }: Content) {
  const { hyperparameters, ...others } = parameters;
  const fields = new Map<string, JsonValue>([
    ["type", type],
    ["provider", provider],
  ]);
  const add = (path: string, object: JsonObject): void => {
    for (const [key, value] of Object.entries(object)) fields.set(`${path}.${key}`, value);
  };
  add("parameters", others);
  if (isJsonObject(hyperparameters)) add("parameters.hyperparameters", hyperparameters);
  fields.set("tags", tags);
  fields.set("user_properties", userProperties);
  return fields;
}

/** Returns the lines of a template: of a text, or of messages, each under its role. */
function linesOf(template: JsonValue | undefined): readonly string[] {
  if (typeof template === "string") return template.split("\n");
  if (!isJsonArray(template)) return [];
  return template.flatMap((message) => {
    if (!isJsonObject(message)) return [];
    const { role, content, ...others } = message;
    return [
      typeof role === "string" ? `[${role}]` : JSON.stringify(role),
      ...partsOf(content).flatMap((part) => part.split("\n")),
      ...(Object.keys(others).length > 0 ? [JSON.stringify(others)] : []),
    ];
  });
}

/** Returns the texts of a content; parts other than text as JSON. */
function partsOf(content: JsonValue | undefined): readonly string[] {
  if (typeof content === "string") return [content];
  if (!isJsonArray(content)) return [];
  return content.map((part) => {
    const text = isJsonObject(part) ? part["text"] : undefined;
    return typeof text === "string" ? text : JSON.stringify(part);
  });
}

/**
 * Returns the lines of both texts with as many as possible kept the same. What differs of very long
 * texts is shown as removed and added as a whole.
 */
export function compareLines(
  before: readonly string[],
  after: readonly string[],
): readonly DiffLine[] {
  const start = countSame(before, after);
  const end = countSame(before.slice(start).reverse(), after.slice(start).reverse());
  const toSame = (text: string): DiffLine => ({ kind: "same", text });
  return [
    ...before.slice(0, start).map(toSame),
    ...compareMiddle(
      before.slice(start, before.length - end),
      after.slice(start, after.length - end),
    ),
    ...before.slice(before.length - end).map(toSame),
  ];
}

function countSame(before: readonly string[], after: readonly string[]): number {
  const at = before.findIndex((text, index) => text !== after[index]);
  return at === -1 ? before.length : at;
}

/** Compares by the longest common subsequence of lines. */
function compareMiddle(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const width = after.length + 1;
  const isSmall = before.length * after.length <= templateDiffCellsMax;
  // lengths[i * width + j]: lines in common from line i of `before` and line j of `after` on.
  const lengths = new Uint32Array(isSmall ? (before.length + 1) * width : 0);
  const lengthAt = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = before.length - 1; isSmall && i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        before[i] === after[j]
          ? lengthAt(i + 1, j + 1) + 1
          : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  for (let i = 0, j = 0; i < before.length || j < after.length;) {
    const [old, now] = [before[i], after[j]];
    if (old !== undefined && old === now && isSmall) {
      lines.push({ kind: "same", text: old });
      i += 1;
      j += 1;
    } else if (
      old !== undefined &&
      (now === undefined || lengthAt(i + 1, j) >= lengthAt(i, j + 1))
    ) {
      lines.push({ kind: "removed", text: old });
      i += 1;
    } else {
      lines.push({ kind: "added", text: now ?? "" });
      j += 1;
    }
  }
  return lines;
}
