// Scores: checks a value against the definition.
// Source: docs/spec.md, "Metric definition"; docs/decisions.md, 22.4.

import type { JsonValue } from "../../base/json.ts";
import { scoreCharactersMax } from "../../base/tenant-limits.ts";
import type { Category, Definition, ScoreType } from "../metrics/definition.ts";

export type Score = boolean | number | string;

/** Parts of a definition that limit its scores; without a return type any score is valid. */
export type ScoreRule = Pick<Definition, "type" | "categories" | "scale"> & {
  readonly return_type: ScoreType | undefined;
};

export type CheckedScore = { readonly score: Score } | { readonly fault: string };

/**
 * Returns the score that a value stands for, or a human-readable fault. A boolean counts as 1 or 0
 * if a number is expected and the other way round, as in Python; a category matches in any case.
 * NaN, infinity, null, objects and lists are never scores.
 */
export function checkScore(value: JsonValue, rule: ScoreRule): CheckedScore {
  if (typeof value === "number" && !Number.isFinite(value)) {
    return { fault: `the score is ${String(value)}, which is no finite number` };
  }
  if (typeof value === "object") return { fault: `the score is ${kindOf(value)}` };
  if (typeof value === "string" && value.length > scoreCharactersMax) {
    return { fault: `the score has more than ${scoreCharactersMax} characters` };
  }
  return rule.return_type === undefined ? { score: value } : checks[rule.return_type](value, rule);
}

type Check = (value: Score, rule: ScoreRule) => CheckedScore;

const checks: { readonly [Type in ScoreType]: Check } = {
  float(value, { type, scale }) {
    // `true` from a judge that was asked for a number does not say how much.
    if (typeof value === "string" || (type === "LLM" && typeof value === "boolean")) {
      return mismatch(value, "a number");
    }
    const number = Number(value);
    // Other types keep a scale for the clients that send one.
    if (type !== "LLM" || scale === null) return { score: number };
    if (number >= 0 && number <= scale) return { score: number };
    return { fault: `the score is ${number}, which is not within 0 to ${scale}` };
  },
  boolean(value) {
    if (typeof value === "boolean") return { score: value };
    return value === 0 || value === 1 ? { score: value === 1 } : mismatch(value, "a boolean");
  },
  string: (value) => (typeof value === "string" ? { score: value } : mismatch(value, "text")),
  categorical(value, { categories }) {
    const found = findCategory(String(value), categories ?? []);
    return found === undefined ? mismatch(value, "one of the categories") : { score: found };
  },
};

function findCategory(text: string, categories: readonly Category[]): string | undefined {
  const names = categories.map(({ category }) => category);
  if (names.includes(text)) return text;
  const same = (name: string): boolean => name.toLowerCase() === text.trim().toLowerCase();
  const found = names.filter(same);
  return found.length === 1 ? found[0] : undefined;
}

const shownCharactersMax = 100;

function mismatch(value: Score, wanted: string): CheckedScore {
  const text = JSON.stringify(value);
  const isLong = text.length > shownCharactersMax;
  // The cut may leave a lone surrogate, which is not valid text.
  const shown = isLong ? `${text.slice(0, shownCharactersMax).toWellFormed()}…` : text;
  return { fault: `the score is ${shown}, and the return type asks for ${wanted}` };
}

function kindOf(value: JsonValue): string {
  if (value === null) return "absent";
  return Array.isArray(value) ? "a list" : "an object";
}
