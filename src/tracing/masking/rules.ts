// Masking rules as people set them: their checks, and the patterns that they become.
// Source: docs/masking.md; docs/decisions.md, 51.1.

import { LRUCache } from "lru-cache";
import { RE2JS, RE2JSSyntaxException, RE2Set } from "re2js";
import { assertText } from "../../base/assert-text.ts";
import { parseChoice } from "../../base/choices.ts";
import { refuse } from "../../base/errors.ts";
import { quoteText } from "../../base/quote-text.ts";
import {
  maskingKeyLengthMax,
  maskingPatternLengthMax,
  maskingPatternSizeMax,
  maskingPatternsKept,
  maskingPatternsMax,
  maskingReplacementLengthMax,
  maskingRulesMax,
} from "../../base/tenant-limits.ts";
import { type Detection, detections, type Detector, detectors } from "./detectors.ts";

/** As it is stored; exactly one of the first three is there. */
export type MaskingRule = {
  readonly detector?: Detector;
  /** In the syntax of RE2. */
  readonly pattern?: string;
  readonly key?: string;
  readonly replacement?: string;
};

/** Fields of a request; undefined means omitted. */
export type RuleInput = { readonly [F in keyof MaskingRule]?: string | undefined };

/** What a rule finds in texts, and what stands in place. */
export type TextRule = Pick<Detection, "rangesIn"> & {
  readonly regex: RE2JS;
  /** Tells whether there is a match, about ten times as fast as `regex` finds it. */
  readonly isIn: (text: string) => boolean;
  /** Whether a match may depend on where the text ends. */
  readonly seesEnd: boolean;
  readonly replacement: string;
};

/** Rules as texts and values are masked by them. */
export type CompiledRules = {
  readonly texts: readonly TextRule[];
  /** Replacements by names of fields in lower case. */
  readonly keys: ReadonlyMap<string, string>;
};

/** Returns the rules of a request. Throws INVALID_ARGUMENT naming the field. */
export function parseRules(inputs: readonly RuleInput[]): readonly MaskingRule[] {
  if (inputs.length > maskingRulesMax) refuse("rules", `has more than ${maskingRulesMax} rules`);
  const patterns = inputs.filter(({ pattern }) => pattern !== undefined).length;
  if (patterns > maskingPatternsMax) {
    refuse("rules", `has more than ${maskingPatternsMax} patterns`);
  }
  return inputs.map((input, index) => parseRule(input, `rules[${index}]`));
}

function parseRule({ detector, pattern, key, replacement }: RuleInput, path: string): MaskingRule {
  const given = [detector, pattern, key].filter((one) => one !== undefined).length;
  if (given !== 1) refuse(path, "needs exactly one of detector, pattern and key");
  assertText(`${path}.replacement`, replacement ?? "", maskingReplacementLengthMax);
  const rest = replacement === undefined ? {} : { replacement };
  if (detector !== undefined) {
    return { detector: parseChoice(`${path}.detector`, detectors, detector), ...rest };
  }
  if (pattern !== undefined) return { pattern: parsePattern(pattern, `${path}.pattern`), ...rest };
  return { key: parseKey(key ?? "", `${path}.key`), ...rest };
}

/** The form of the web app has a rule a line; one that it cannot hold would be lost there. */
function assertLine(text: string, path: string): void {
  if (text.trim() === "") refuse(path, "is empty");
  if (/[\r\n]/.test(text))
    refuse(path, String.raw`must be one line; \n in a pattern is a line end`);
}

function parseKey(key: string, path: string): string {
  assertLine(key, path);
  assertText(path, key, maskingKeyLengthMax);
  return key;
}

function parsePattern(pattern: string, path: string): string {
  assertLine(pattern, path);
  assertText(path, pattern, maskingPatternLengthMax);
  const regex = tryCompile(pattern);
  if (typeof regex === "string") {
    refuse(path, `must be a regular expression of RE2, not ${quoteText(pattern)}: ${regex}`);
  }
  if (regex.programSize() > maskingPatternSizeMax) {
    refuse(path, "repeats too much; use + or * in place of large numbers of repetitions");
  }
  if (regex.test("")) refuse(path, "matches the empty text, so it would match everywhere");
  return pattern;
}

/** Returns the fault in place of an invalid pattern. */
function tryCompile(pattern: string): RE2JS | string {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return error.getDescription();
    throw error;
  }
}

type Compiled = Pick<TextRule, "regex" | "isIn">;

/** Compiled patterns by their texts. */
type Cache = Pick<Map<string, Compiled>, "get"> & { set(pattern: string, to: Compiled): unknown };

/** Patterns of projects. One remembers texts that it has searched, in up to 8 MB. */
const patterns: Cache = new LRUCache<string, Compiled>({ max: maskingPatternsKept });

/** Patterns of detectors, compiled at their first use and kept. */
const detectorPatterns: Cache = new Map<string, Compiled>();

/**
 * Memory of the automaton that looks for a match. One with too many states is given up the sooner
 * the less it may take, and the search goes on without it.
 */
const automatonBytesMax = 500_000;

function compile(pattern: string): Compiled {
  const set = new RE2Set(RE2Set.UNANCHORED, 0, automatonBytesMax);
  set.add(pattern);
  set.compile();
  return { regex: RE2JS.compile(pattern), isIn: (text) => set.match(text).length > 0 };
}

function compileOnce(pattern: string, cache: Cache): Compiled {
  const once = cache.get(pattern) ?? compile(pattern);
  cache.set(pattern, once);
  return once;
}

/** Compiles rules that were checked before they were stored. */
export function compileRules(rules: readonly MaskingRule[]): CompiledRules {
  const keys = new Map<string, string>();
  for (const { key, replacement = "[masked]" } of rules) {
    // As with texts, the first rule that fits replaces.
    if (key !== undefined && !keys.has(key.toLowerCase())) keys.set(key.toLowerCase(), replacement);
  }
  // Passwords of URLs first: what others find may be a piece of one, as `b@host` of `a!b@host` is.
  const isFirst = ({ detector }: MaskingRule): boolean => detector === "url_password";
  const sorted = [...rules.filter(isFirst), ...rules.filter((rule) => !isFirst(rule))];
  return { texts: sorted.flatMap(compileText), keys };
}

function compileText({ detector, pattern, replacement }: MaskingRule): readonly TextRule[] {
  if (detector !== undefined) {
    const { pattern: own, rangesIn } = detections[detector];
    return [
      {
        ...(rangesIn && { rangesIn }),
        ...compileOnce(own, detectorPatterns),
        seesEnd: false,
        replacement: replacement ?? `[${detector}]`,
      },
    ];
  }
  if (pattern === undefined) return [];
  const seesEnd = /\$|\\z/.test(pattern);
  return [{ ...compileOnce(pattern, patterns), seesEnd, replacement: replacement ?? "[masked]" }];
}
