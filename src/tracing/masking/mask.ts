// Masks texts and JSON values by compiled rules. A value without a match is returned as it is. Long
// work rests between pieces, so that it delays the requests of others little.

import { type JsonObject, type JsonValue, isJsonArray, setOwn } from "../../base/json.ts";
import { createPacer, type Pacer } from "../../base/pacer.ts";
import type { CompiledRules, TextRule } from "./rules.ts";

// Node has these; TypeScript's library does not know them yet.
declare global {
  interface JSON {
    parse(text: string, revive: Revive): unknown;
    rawJSON(text: string): object;
  }
}
type Revive = (key: string, value: unknown, context: { readonly source: string }) => unknown;

export type Mask = {
  /** Returns a text with every match replaced. */
  text(text: string): Promise<string>;
  /** Returns a value with every match in its texts, and the values of masked keys, replaced. */
  value<T extends JsonValue>(value: T): Promise<T>;
  /** Returns the number of places replaced so far. */
  replaced(): number;
};

/** Characters of a text that are searched at once; a few milliseconds. */
const pieceLength = 65_536;

/** A match that begins near the end of a piece is found whole up to so many characters. */
const overlapLength = 16_384;

/** Returns a mask for the values of one request; `lane` as of `createPacer`. */
export function createMask({ texts, keys }: CompiledRules, lane: string): Mask {
  const pacer = createPacer(lane);
  let replaced = 0;
  const count = () => {
    replaced += 1;
  };

  async function maskText(text: string): Promise<string> {
    let masked = maskInnerJson(text, keys, count);
    for (const rule of texts) masked = await replaceIn(masked, rule, { pacer, count });
    return masked;
  }

  async function maskObject(object: JsonObject): Promise<JsonObject> {
    let copy: Record<string, JsonValue> | undefined;
    for (const key in object) {
      const value = object[key] ?? null;
      const replacement = keys.size === 0 ? undefined : keys.get(key.toLowerCase());
      if (replacement !== undefined) count();
      const masked = replacement ?? (await maskValue(value));
      if (masked === value) continue;
      copy ??= { ...object };
      setOwn(copy, key, masked);
    }
    return copy ?? object;
  }

  async function maskList(list: readonly JsonValue[]): Promise<readonly JsonValue[]> {
    let copy: JsonValue[] | undefined;
    for (const [index, value] of list.entries()) {
      const masked = await maskValue(value);
      if (masked === value) continue;
      copy ??= [...list];
      copy[index] = masked;
    }
    return copy ?? list;
  }

  async function maskValue(value: JsonValue): Promise<JsonValue> {
    if (pacer.due()) await pacer.rest();
    if (typeof value === "string") return maskText(value);
    if (typeof value !== "object" || value === null) return value;
    return isJsonArray(value) ? maskList(value) : maskObject(value);
  }

  return {
    text: maskText,
    value: async <T extends JsonValue>(value: T) => (await maskValue(value)) as T,
    replaced: () => replaced,
  };
}

type Search = { readonly pacer: Pacer; readonly count: () => void };

/** Replaces the matches of a rule, piece by piece. */
async function replaceIn(text: string, rule: TextRule, { pacer, count }: Search): Promise<string> {
  let masked = "";
  let kept = 0;
  for (let start = 0; start < text.length; start += pieceLength) {
    if (start > 0 && pacer.due()) await pacer.rest();
    // One character before the piece, so that the pattern sees whether a word begins there.
    const offset = Math.max(start - 1, 0);
    const piece = text.slice(offset, start + pieceLength + overlapLength);
    for (const [from, to] of rangesIn(piece, Math.max(start, kept) - offset, rule)) {
      if (offset + from >= start + pieceLength) break;
      const isCut = to === piece.length && offset + to < text.length;
      if (isCut && rule.seesEnd) continue;
      count();
      masked += text.slice(kept, offset + from) + rule.replacement;
      kept = offset + to;
    }
  }
  return kept === 0 ? text : masked + text.slice(kept);
}

/** Yields what a rule means in a text, from a place on. */
function* rangesIn(
  text: string,
  start: number,
  { regex, rangesIn: narrow }: TextRule,
): Generator<readonly [number, number]> {
  if (start > text.length) return;
  const matcher = regex.matcher(text);
  let isFound = matcher.find(start);
  while (isFound) {
    const [from, to] = [matcher.start(), matcher.end()];
    // Nothing is there to replace in an empty match, such as that of `\b`.
    if (from < to) {
      const ranges = narrow?.(text.slice(from, to)) ?? [[0, to - from] as const];
      for (const [inner, end] of ranges) yield [from + inner, from + end];
    }
    isFound = matcher.find();
  }
}

/** Masks keys in a text that is JSON, such as a tool's arguments; numbers keep their digits. */
function maskInnerJson(text: string, keys: CompiledRules["keys"], count: () => void): string {
  if (keys.size === 0 || !/^\s*[[{]/.test(text)) return text;
  let isMasked = false;
  try {
    const value = JSON.parse(text, (key, inner, context) => {
      const replacement = keys.get(key.toLowerCase());
      if (replacement === undefined) {
        return typeof inner === "number" ? JSON.rawJSON(context.source) : inner;
      }
      isMasked = true;
      count();
      return replacement;
    });
    return isMasked ? JSON.stringify(value) : text;
  } catch {
    // Not JSON, or nested too deep to be arguments.
    return text;
  }
}
