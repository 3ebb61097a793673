// Masks texts and JSON values by compiled rules. A value without a match is returned as it is. Long
// work rests between searches, so that it delays the requests of others little, and ends at a time.

import { type JsonObject, type JsonValue, isJsonArray, setOwn } from "../../base/json.ts";
import { maskInnerJson } from "./inner-json.ts";
import type { CompiledRules, TextRule } from "./rules.ts";
import { createWork, type Work } from "./work.ts";

/**
 * Throws DEADLINE_EXCEEDED after the maximum time of a call that writes events, and
 * INVALID_ARGUMENT if replacements make the values of the request much longer.
 */
export type Mask = {
  /** Returns a text with every match replaced. */
  text(text: string): Promise<string>;
  /** Returns a value with every match in its texts, and the values of masked keys, replaced. */
  value<T extends JsonValue>(value: T): Promise<T>;
  /** Returns the number of places replaced so far. */
  replaced(): number;
};

/**
 * Characters of a text that are searched at once; a few milliseconds, and with patterns made to be
 * slow about a hundred.
 */
const pieceLength = 16_384;

/** A match that begins near the end of a piece is found whole up to so many characters. */
const overlapLength = 8_192;

/** Returns a mask for the values of one request; `lane` as of `createPacer`. */
export function createMask({ texts, keys }: CompiledRules, lane: string): Mask {
  const work = createWork(lane);

  async function maskText(text: string): Promise<string> {
    let masked = await maskInnerJson(text, { keys, maskText, ...work });
    for (const rule of texts) {
      if (work.isDue()) await work.rest();
      // Spares most short texts a promise.
      if (masked.length <= pieceLength && !rule.isIn(masked)) continue;
      masked = await replaceIn(masked, rule, work);
    }
    return masked;
  }

  async function maskObject(object: JsonObject): Promise<JsonObject> {
    let copy: Record<string, JsonValue> | undefined;
    for (const key in object) {
      const value = object[key] ?? null;
      const replacement = keys.size === 0 ? undefined : keys.get(key.toLowerCase());
      if (replacement !== undefined) work.count(replacement, lengthOf(value));
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
    if (work.isDue()) await work.rest();
    if (typeof value === "string") return maskText(value);
    if (typeof value !== "object" || value === null) return value;
    return isJsonArray(value) ? maskList(value) : maskObject(value);
  }

  return {
    text: maskText,
    value: async <T extends JsonValue>(value: T) => (await maskValue(value)) as T,
    replaced: work.replaced,
  };
}

function lengthOf(value: JsonValue): number {
  return typeof value === "string" ? value.length : 0;
}

/** Replaces the matches of a rule, piece by piece. */
async function replaceIn(text: string, rule: TextRule, work: Work): Promise<string> {
  let masked = "";
  let kept = 0;
  for (let start = 0; start < text.length; start += pieceLength) {
    if (work.isDue()) await work.rest();
    // One character before the piece, so that the pattern sees whether a word begins there.
    const offset = Math.max(start - 1, 0);
    const end = start + pieceLength;
    const piece = text.slice(offset, end + overlapLength);
    if (!rule.isIn(piece)) continue;
    const matcher = rule.regex.matcher(piece);
    let isFound = matcher.find(Math.max(start, kept) - offset);
    while (isFound && offset + matcher.start() < end) {
      for (const [from, to] of rangesOf(piece, matcher.start(), matcher.end(), rule)) {
        const isCut = to === piece.length && offset + to < text.length;
        if (offset + from >= end || (isCut && rule.seesEnd)) continue;
        work.count(rule.replacement, to - from);
        masked += text.slice(kept, offset + from) + rule.replacement;
        kept = offset + to;
      }
      // A search may read all of the piece to find a short match.
      if (work.isDue()) await work.rest();
      isFound = matcher.find();
    }
  }
  return kept === 0 ? text : masked + text.slice(kept);
}

/** Returns what a rule means in a match. */
function rangesOf(
  text: string,
  from: number,
  to: number,
  { rangesIn }: TextRule,
): readonly (readonly [start: number, end: number])[] {
  // Nothing is there to replace in an empty match, such as that of `\b`.
  if (from === to) return [];
  if (!rangesIn) return [[from, to]];
  return rangesIn(text.slice(from, to)).map(([start, end]) => [from + start, from + end]);
}
