// A judge's prompt: text with placeholders such as `{{ inputs.question }}`, parsed once and filled
// for each event. Source: docs/evaluators.md; docs/decisions.md, 23.

import { promptPathKeysMax } from "../../../base/field-limits.ts";
import { findValue, type JsonObject, type Tries } from "../../../base/json.ts";
import { promptCharactersMax } from "../../../base/limits.ts";
import { buckets } from "../../../tracing/events/event.ts";
import { eventFieldNames } from "../evaluated-event.ts";

/** Path of a placeholder: a field of the event, then keys inside it. */
type Path = readonly [string, ...string[]];

type Part = { readonly text: string } | { readonly path: Path };

export type Template = { readonly parts: readonly Part[] };

/** Fault of a placeholder at a line and column, both from 1. */
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

/**
 * Maximum key look-ups of one filling: an event may have a value at every reading of every path.
 */
const triesMax = 200_000;

const eventName = "event";
const roots: ReadonlySet<string> = new Set([eventName, ...buckets, ...eventFieldNames]);
// The last two of a run of braces begin a placeholder, so that it may be inside JSON: `{{{ x }}}`.
const opening = /\{\{(?!\{)/g;

/**
 * Parses a prompt. A placeholder is a path of keys joined by dots, with list positions as `.0` or
 * `[0]`; it begins with a field of the event, or with `event`. Other text between `{{` and `}}` is
 * a fault.
 */
export function parseTemplate(
  prompt: string,
): { readonly template: Template } | { readonly fault: TemplateFault } {
  const parts: Part[] = [];
  let at = 0;
  for (const { index } of prompt.matchAll(opening)) {
    // Skips an opening inside the previous placeholder.
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

/** Returns the path, or the fault if the text is not a path. */
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
 * Returns whether a prompt names the ground truth. `{{ feedback }}` and `{{ event }}` do not count:
 * they show it if there is some, and work without it.
 */
export function readsGroundTruth({ parts }: Template): boolean {
  return parts.some((part) => {
    if (!("path" in part)) return false;
    const [bucket, key] = part.path[0] === eventName ? part.path.slice(1) : part.path;
    return bucket === "feedback" && key === "ground_truth";
  });
}

/**
 * Fills a prompt: text unchanged, other values as JSON, absent and null values as nothing.
 * Placeholders inside values are not filled. Returns undefined if the text gets too long for any
 * model, or takes too many look-ups.
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

function textAt(event: JsonObject, [root, ...keys]: Path, tries: Tries): string | undefined {
  const from = root === eventName ? event : event[root];
  const value = findValue(from, keys, tries);
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
