// A judge's prompt: text with placeholders such as `{{ inputs.question }}`, parsed once and filled
// for each event. Source: docs/evaluators.md; docs/decisions.md, 23.

import { promptPathKeysMax } from "../../../base/field-limits.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../../base/json.ts";
import { promptCharactersMax } from "../../../base/limits.ts";
import { buckets } from "../../../tracing/events/event.ts";
import { eventFieldNames } from "../evaluated-event.ts";

/** What a placeholder names: a field of the event, and the way inside it. */
type Path = readonly [string, ...string[]];

type Part = { readonly text: string } | { readonly path: Path };

export type Template = { readonly parts: readonly Part[] };

/** Line and column, both from 1, are those of the placeholder. */
export type TemplateFault = {
  readonly message: string;
  readonly line: number;
  readonly column: number;
};

export type FilledTemplate = {
  readonly text: string;
  /** Placeholders without a value, each once. */
  readonly absent: readonly string[];
};

/** Tries of keys in one filling: an event may have a value behind each way to read every path. */
const triesMax = 200_000;

const eventName = "event";
const roots: ReadonlySet<string> = new Set([eventName, ...buckets, ...eventFieldNames]);
// Of a run of braces the last two begin a placeholder, so that one may stand in JSON: `{{{ x }}}`.
const opening = /\{\{(?!\{)/g;

/**
 * Parses a prompt. A placeholder is a path of keys with dots, with positions in lists as `.0` or
 * `[0]`; it begins with a field of the event, or with `event`. Whatever else stands between `{{`
 * and `}}` is a fault.
 */
export function parseTemplate(
  prompt: string,
): { readonly template: Template } | { readonly fault: TemplateFault } {
  const parts: Part[] = [];
  let at = 0;
  for (const { index } of prompt.matchAll(opening)) {
    // Inside what was closed behind it.
    if (index < at) continue;
    const start = index + 2;
    const end = prompt.indexOf("}}", start);
    const path = end === -1 ? undefined : parsePath(prompt.slice(start, end));
    if (path === undefined) return { fault: faultAt(prompt, index, "is not closed by `}}`") };
    if (typeof path === "string") return { fault: faultAt(prompt, index, path) };
    parts.push({ text: prompt.slice(at, index) }, { path });
    at = end + 2;
  }
  parts.push({ text: prompt.slice(at) });
  return { template: { parts } };
}

const pathPattern = /^[^\s{}[\]()|"'.][^{}[\]()|"']*(?:\[\d+\][^{}[\]()|"']*)*$/;

/** Returns what is wrong with a path that is none. */
function parsePath(text: string): Path | string {
  const source = text.trim();
  if (!pathPattern.test(source)) return "must name a value, such as `{{ inputs.question }}`";
  const [root = "", ...keys] = source.replaceAll(/\.?\[(\d+)\]/g, ".$1").split(".");
  if (!roots.has(root)) {
    return `names \`${root}\`, which is none of ${[...roots].join(", ")}`;
  }
  if (keys.includes("")) return "has a path with an empty part";
  if (keys.length >= promptPathKeysMax) return `has a path of more than ${promptPathKeysMax} parts`;
  return [root, ...keys];
}

function faultAt(prompt: string, index: number, what: string): TemplateFault {
  const before = prompt.slice(0, index).split("\n");
  const column = (before.at(-1) ?? "").length + 1;
  return { message: `a placeholder ${what}`, line: before.length, column };
}

/**
 * Tells whether a prompt names the ground truth. `{{ feedback }}` and `{{ event }}` do not: they
 * show it where there is some, and say the rest without.
 */
export function readsGroundTruth({ parts }: Template): boolean {
  return parts.some((part) => {
    if (!("path" in part)) return false;
    const [bucket, key] = part.path[0] === eventName ? part.path.slice(1) : part.path;
    return bucket === "feedback" && key === "ground_truth";
  });
}

/**
 * Fills a prompt: text as it is, anything else as JSON, nothing for what is absent or null. Values
 * are not looked through for placeholders. Undefined where it gets too long for any model, or takes
 * too much looking up.
 */
export function fillTemplate({ parts }: Template, event: JsonObject): FilledTemplate | undefined {
  const absent = new Set<string>();
  const texts: string[] = [];
  const tries = { left: triesMax };
  let characters = 0;
  for (const part of parts) {
    const text = "text" in part ? part.text : textAt(event, part.path, tries);
    if (text === undefined && "path" in part) absent.add(part.path.join("."));
    texts.push(text ?? "");
    characters += text?.length ?? 0;
    if (characters > promptCharactersMax || tries.left < 0) return undefined;
  }
  return { text: texts.join(""), absent: [...absent] };
}

type Tries = { left: number };

function textAt(event: JsonObject, [root, ...keys]: Path, tries: Tries): string | undefined {
  const from = root === eventName ? event : event[root];
  const value = findValue(from, keys, tries);
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Of several keys that fit, the longest that leads to a value counts: keys may have dots. */
function findValue(
  value: JsonValue | undefined,
  keys: readonly string[],
  tries: Tries,
): JsonValue | undefined {
  const [first] = keys;
  if (first === undefined) return value;
  if (isJsonArray(value)) {
    return /^\d+$/.test(first) ? findValue(value[Number(first)], keys.slice(1), tries) : undefined;
  }
  if (!isJsonObject(value)) return undefined;
  for (let length = keys.length; length > 0; length -= 1) {
    tries.left -= 1;
    if (tries.left < 0) return undefined;
    const key = keys.slice(0, length).join(".");
    if (!Object.hasOwn(value, key)) continue;
    const found = findValue(value[key], keys.slice(length), tries);
    if (found !== undefined) return found;
  }
  return undefined;
}
